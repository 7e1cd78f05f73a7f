import type { TemplateTexts } from './structure.ts';

export const en: TemplateTexts = {
  nps: {
    name: 'Net Promoter Score',
    description: 'How likely users are to recommend you, and why. Asked every few months.',
    steps: {
      main: {
        title: 'How likely are you to recommend us to a friend or colleague?',
        labels: { low: 'Not at all likely', high: 'Extremely likely' },
      },
      improve: { title: 'What should we improve?' },
      like: { title: 'What do you like most?' },
    },
  },
  csat: {
    name: 'Customer satisfaction (CSAT)',
    description: 'How satisfied users are, for example after a purchase or a support case.',
    steps: {
      main: {
        title: 'How satisfied are you with your experience?',
        labels: { low: 'Very dissatisfied', high: 'Very satisfied' },
      },
      improve: { title: 'What could we have done better?' },
    },
  },
  ces: {
    name: 'Customer effort score (CES)',
    description: 'How easy it was to complete a task. Asked right after it.',
    steps: {
      main: {
        title: 'How easy was it to get done what you wanted to do?',
        labels: { low: 'Very difficult', high: 'Very easy' },
      },
      obstacle: { title: 'What made it difficult?' },
    },
  },
  'product-market-fit': {
    name: 'Product-market fit',
    description:
      'How much users would miss your product. At 40% “very disappointed”, a product is said to fit its market.',
    steps: {
      main: {
        title: 'How would you feel if you could no longer use our product?',
        options: { very: 'Very disappointed', somewhat: 'Somewhat disappointed', not: 'Not disappointed' },
      },
      benefit: { title: 'What is the main benefit you get from our product?' },
      audience: { title: 'Who do you think would benefit most from our product?' },
      improve: { title: 'How can we improve our product for you?' },
    },
  },
  churn: {
    name: 'Cancellation',
    description: 'Why users leave. Asked when they cancel.',
    steps: {
      main: {
        title: 'What is the main reason you are cancelling?',
        options: {
          price: 'It is too expensive',
          features: 'I am missing features',
          usability: 'It is too hard to use',
          problems: 'I had technical problems',
          competitor: 'I am switching to another product',
          need: 'I no longer need it',
        },
      },
      missing: { title: 'Which features are you missing?' },
      problem: { title: 'What did not work for you?' },
      competitor: { title: 'Which product are you switching to, and why?' },
      return: { title: 'What would have to change for you to come back?' },
    },
  },
  onboarding: {
    name: 'Onboarding',
    description: 'What new users want to achieve, and how they found you. Asked after registration.',
    steps: {
      main: {
        title: 'What brings you here?',
        options: {
          evaluate: 'I am looking for a solution to a problem',
          switch: 'I am switching from another product',
          team: 'My team uses it already',
          learn: 'I am just having a look',
        },
      },
      previous: { title: 'Which product have you been using?' },
      goal: { title: 'What do you want to achieve first?' },
      source: {
        title: 'How did you hear about us?',
        options: {
          search: 'Search engine',
          recommendation: 'Recommendation',
          social: 'Social media',
          article: 'Article or podcast',
          event: 'Event',
        },
      },
    },
  },
  'feature-request': {
    name: 'Feature request',
    description: 'What users are missing, and how important it is to them. Fits behind a button in your app.',
    steps: {
      main: { title: 'Which feature are you missing?', description: 'What would you like to be able to do?' },
      importance: {
        title: 'How important is this feature to you?',
        labels: { low: 'Nice to have', high: 'Essential' },
      },
      today: { title: 'How do you manage without it today?' },
      contact: { title: 'May we contact you about your request?' },
    },
  },
  'bug-report': {
    name: 'Bug report',
    description: 'What went wrong, how often, and how badly. Fits behind a button in your app.',
    steps: {
      main: {
        title: 'What went wrong?',
        description: 'Please describe what you did and what happened.',
      },
      expected: { title: 'What did you expect to happen?' },
      frequency: {
        title: 'How often does it happen?',
        options: { once: 'It happened once', sometimes: 'Sometimes', always: 'Every time' },
      },
      impact: {
        title: 'How much does it affect you?',
        options: {
          minor: 'Hardly',
          workaround: 'I can work around it',
          blocked: 'I cannot continue',
        },
      },
      email: { title: 'How can we reach you if we have questions?', description: 'Your email address' },
    },
  },
};
