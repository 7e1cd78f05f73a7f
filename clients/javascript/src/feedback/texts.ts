/** What the view says beside the question itself. `{n}` and `{of}` stand for numbers. */
export interface Texts {
  /** The name of the view, for those who hear it. */
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
  /** A point of a scale. */
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
  comment: 'Anything you want to add?',
  optional: 'optional',
  required: 'Please answer the question.',
  other: 'Other',
  otherText: 'Please say what',
  thumbsUp: 'Thumbs up',
  thumbsDown: 'Thumbs down',
  consent: 'I agree',
  point: '{n} of {of}',
  more: 'Read more',
  tooShort: 'Please write at least {n} characters.',
  chooseAtLeast: 'Please choose at least {n}.',
  chooseAtMost: 'Please choose at most {n}.',
  email: 'Please write an e-mail address.',
  url: 'Please write a complete address, with https://.',
  number: 'Please write a number.',
};

const de: Texts = {
  view: 'Feedback',
  send: 'Senden',
  dismiss: 'Nicht jetzt',
  acknowledge: 'OK',
  thanks: 'Vielen Dank für Ihr Feedback.',
  comment: 'Möchten Sie etwas hinzufügen?',
  optional: 'freiwillig',
  required: 'Bitte beantworten Sie die Frage.',
  other: 'Anderes',
  otherText: 'Bitte sagen Sie, was',
  thumbsUp: 'Daumen hoch',
  thumbsDown: 'Daumen runter',
  consent: 'Ich stimme zu',
  point: '{n} von {of}',
  more: 'Mehr dazu',
  tooShort: 'Bitte schreiben Sie mindestens {n} Zeichen.',
  chooseAtLeast: 'Bitte wählen Sie mindestens {n}.',
  chooseAtMost: 'Bitte wählen Sie höchstens {n}.',
  email: 'Bitte schreiben Sie eine E-Mail-Adresse.',
  url: 'Bitte schreiben Sie eine vollständige Adresse, mit https://.',
  number: 'Bitte schreiben Sie eine Zahl.',
};

const languages = new Map<string, Texts>([
  ['en', en],
  ['de', de],
]);

/** Adds a language, or changes what one says. What is left out is said in English. */
export function addTexts(language: string, texts: Partial<Texts>): void {
  const key = language.toLowerCase();
  languages.set(key, { ...(languages.get(key) ?? en), ...texts });
}

/** The texts of a language (BCP 47), of its parent (`de` for `de-CH`), or in English. */
export function textsFor(language: string): { language: string; texts: Texts } {
  for (let tag = language.toLowerCase(); tag !== ''; tag = tag.replace(/-?[^-]*$/, '')) {
    const texts = languages.get(tag);
    if (texts) return { language: tag, texts };
  }
  return { language: 'en', texts: en };
}

/** A text with its numbers. */
export const say = (text: string, n: number, of = n): string =>
  text.replace('{n}', String(n)).replace('{of}', String(of));
