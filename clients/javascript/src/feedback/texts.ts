/** UI texts of the view. `{n}` and `{of}` are placeholders for numbers. */
export interface Texts {
  /** Accessible name of the view. */
  view: string;
  send: string;
  dismiss: string;
  acknowledge: string;
  thanks: string;
  comment: string;
  optional: string;
  required: string;
  other: string;
  otherText: string;
  thumbsUp: string;
  thumbsDown: string;
  consent: string;
  /** Accessible name of a point on a scale. */
  point: string;
  more: string;
  tooShort: string;
  chooseAtLeast: string;
  chooseAtMost: string;
  email: string;
  url: string;
  number: string;
}

const en: Texts = {
  view: 'Feedback',
  send: 'Send',
  dismiss: 'Not now',
  acknowledge: 'OK',
  thanks: 'Thank you for your feedback.',
  comment: 'Anything to add?',
  optional: 'optional',
  required: 'Please answer the question.',
  other: 'Other',
  otherText: 'Please specify',
  thumbsUp: 'Thumbs up',
  thumbsDown: 'Thumbs down',
  consent: 'I agree',
  point: '{n} of {of}',
  more: 'Read more',
  tooShort: 'Please enter at least {n} characters.',
  chooseAtLeast: 'Please select at least {n}.',
  chooseAtMost: 'Please select no more than {n}.',
  email: 'Please enter an email address.',
  url: 'Please enter a complete URL, including https://.',
  number: 'Please enter a number.',
};

const de: Texts = {
  view: 'Feedback',
  send: 'Senden',
  dismiss: 'Nicht jetzt',
  acknowledge: 'OK',
  thanks: 'Vielen Dank für Ihr Feedback.',
  comment: 'Möchten Sie etwas ergänzen?',
  optional: 'optional',
  required: 'Bitte beantworten Sie die Frage.',
  other: 'Anderes',
  otherText: 'Bitte angeben',
  thumbsUp: 'Daumen hoch',
  thumbsDown: 'Daumen runter',
  consent: 'Ich stimme zu',
  point: '{n} von {of}',
  more: 'Mehr erfahren',
  tooShort: 'Bitte geben Sie mindestens {n} Zeichen ein.',
  chooseAtLeast: 'Bitte wählen Sie mindestens {n}.',
  chooseAtMost: 'Bitte wählen Sie höchstens {n}.',
  email: 'Bitte geben Sie eine E-Mail-Adresse ein.',
  url: 'Bitte geben Sie eine vollständige Adresse mit https:// ein.',
  number: 'Bitte geben Sie eine Zahl ein.',
};

const languages = new Map<string, Texts>([
  ['en', en],
  ['de', de],
]);

/** Adds or overrides the texts of a language. Missing texts fall back to English. */
export function addTexts(language: string, texts: Partial<Texts>): void {
  const key = language.toLowerCase();
  languages.set(key, { ...(languages.get(key) ?? en), ...texts });
}

/** Returns the texts of a language (BCP 47), its parent (`de` for `de-CH`) or English. */
export function textsFor(language: string): { language: string; texts: Texts } {
  for (let tag = language.toLowerCase(); tag !== ''; tag = tag.replace(/-?[^-]*$/, '')) {
    const texts = languages.get(tag);
    if (texts) return { language: tag, texts };
  }
  return { language: 'en', texts: en };
}

/** Fills the placeholders of a text. */
export const say = (text: string, n: number, of = n): string =>
  text.replace('{n}', String(n)).replace('{of}', String(of));
