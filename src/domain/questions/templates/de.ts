import type { TemplateTexts } from './structure.ts';

export const de: TemplateTexts = {
  nps: {
    name: 'Net Promoter Score',
    description: 'Wie wahrscheinlich Nutzer euch weiterempfehlen, und warum. Alle paar Monate gefragt.',
    steps: {
      main: {
        title: 'Wie wahrscheinlich ist es, dass Sie uns Freunden oder Kollegen empfehlen?',
        labels: { low: 'Sehr unwahrscheinlich', high: 'Sehr wahrscheinlich' },
      },
      improve: { title: 'Was sollten wir verbessern?' },
      like: { title: 'Was gefällt Ihnen am besten?' },
    },
  },
  csat: {
    name: 'Kundenzufriedenheit (CSAT)',
    description: 'Wie zufrieden Nutzer sind, etwa nach einem Kauf oder einer Supportanfrage.',
    steps: {
      main: {
        title: 'Wie zufrieden sind Sie mit uns?',
        labels: { low: 'Sehr unzufrieden', high: 'Sehr zufrieden' },
      },
      improve: { title: 'Was hätten wir besser machen können?' },
    },
  },
  ces: {
    name: 'Kundenaufwand (CES)',
    description: 'Wie leicht eine Aufgabe zu erledigen war. Direkt danach gefragt.',
    steps: {
      main: {
        title: 'Wie leicht konnten Sie Ihr Anliegen erledigen?',
        labels: { low: 'Sehr schwer', high: 'Sehr leicht' },
      },
      obstacle: { title: 'Was hat es Ihnen schwer gemacht?' },
    },
  },
  'product-market-fit': {
    name: 'Product-Market-Fit',
    description:
      'Wie sehr Nutzer euer Produkt vermissen würden. Ab 40 % „sehr enttäuscht“ gilt der Markt als getroffen.',
    steps: {
      main: {
        title: 'Wie ginge es Ihnen, wenn Sie unser Produkt nicht mehr nutzen könnten?',
        options: {
          very: 'Ich wäre sehr enttäuscht',
          somewhat: 'Ich wäre etwas enttäuscht',
          not: 'Ich wäre nicht enttäuscht',
        },
      },
      benefit: { title: 'Was ist für Sie der größte Nutzen unseres Produkts?' },
      audience: { title: 'Wem würde unser Produkt Ihrer Meinung nach am meisten nützen?' },
      improve: { title: 'Was können wir für Sie besser machen?' },
    },
  },
  churn: {
    name: 'Kündigung',
    description: 'Warum Nutzer gehen. Bei der Kündigung gefragt.',
    steps: {
      main: {
        title: 'Was ist der Hauptgrund für Ihre Kündigung?',
        options: {
          price: 'Es ist mir zu teuer',
          features: 'Mir fehlen Funktionen',
          usability: 'Die Bedienung ist zu kompliziert',
          problems: 'Ich hatte technische Probleme',
          competitor: 'Ich wechsle zu einem anderen Produkt',
          need: 'Ich brauche es nicht mehr',
        },
      },
      missing: { title: 'Welche Funktionen fehlen Ihnen?' },
      problem: { title: 'Womit hatten Sie Schwierigkeiten?' },
      competitor: { title: 'Zu welchem Produkt wechseln Sie, und warum?' },
      return: { title: 'Was müsste sich ändern, damit Sie zurückkommen?' },
    },
  },
  onboarding: {
    name: 'Onboarding',
    description: 'Was neue Nutzer erreichen möchten und wie sie euch gefunden haben. Nach der Registrierung gefragt.',
    steps: {
      main: {
        title: 'Was führt Sie zu uns?',
        options: {
          evaluate: 'Ich suche eine Lösung für ein Problem',
          switch: 'Ich wechsle von einem anderen Produkt',
          team: 'Mein Team arbeitet schon damit',
          learn: 'Ich sehe mich nur um',
        },
      },
      previous: { title: 'Welches Produkt haben Sie bisher genutzt?' },
      goal: { title: 'Was möchten Sie als Erstes erreichen?' },
      source: {
        title: 'Wie haben Sie von uns erfahren?',
        options: {
          search: 'Suchmaschine',
          recommendation: 'Empfehlung',
          social: 'Soziale Medien',
          article: 'Artikel oder Podcast',
          event: 'Veranstaltung',
        },
      },
    },
  },
  'feature-request': {
    name: 'Funktionswunsch',
    description: 'Was Nutzern fehlt und wie wichtig es ihnen ist. Passt hinter eine Schaltfläche in eurer App.',
    steps: {
      main: { title: 'Welche Funktion fehlt Ihnen?', description: 'Was möchten Sie damit tun?' },
      importance: {
        title: 'Wie wichtig ist Ihnen diese Funktion?',
        labels: { low: 'Wäre schön', high: 'Unverzichtbar' },
      },
      today: { title: 'Wie behelfen Sie sich bisher?' },
      contact: { title: 'Dürfen wir uns zu Ihrem Wunsch bei Ihnen melden?' },
    },
  },
  'bug-report': {
    name: 'Fehlermeldung',
    description: 'Was nicht funktioniert, wie oft und wie schlimm es ist. Passt hinter eine Schaltfläche in eurer App.',
    steps: {
      main: {
        title: 'Was hat nicht funktioniert?',
        description: 'Bitte beschreiben Sie, was Sie getan haben und was dann passiert ist.',
      },
      expected: { title: 'Was hätten Sie stattdessen erwartet?' },
      frequency: {
        title: 'Wie oft tritt der Fehler auf?',
        options: { once: 'Bisher einmal', sometimes: 'Manchmal', always: 'Jedes Mal' },
      },
      impact: {
        title: 'Wie sehr stört Sie der Fehler?',
        options: {
          minor: 'Kaum',
          workaround: 'Ich kann ihn umgehen',
          blocked: 'Ich komme nicht weiter',
        },
      },
      email: { title: 'Wie erreichen wir Sie bei Rückfragen?', description: 'Ihre E-Mail-Adresse' },
    },
  },
};
