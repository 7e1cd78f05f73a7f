import { matchLocale, parseLocale } from './locales.ts';

/** UI texts of the view. `{n}` and `{of}` are placeholders for numbers. */
export interface Texts {
  /** Accessible name of the view. */
  view: string;
  send: string;
  next: string;
  back: string;
  /** Position in a card with several steps. */
  progress: string;
  dismiss: string;
  acknowledge: string;
  thanks: string;
  close: string;
  comment: string;
  optional: string;
  required: string;
  other: string;
  /** Label of the field for another answer, and the message if it is empty. */
  otherText: string;
  thumbsUp: string;
  thumbsDown: string;
  consent: string;
  /** Accessible name of a point on a scale. */
  point: string;
  more: string;
  /** Messages about a value, by the code of its fault; for `invalid` by the kind of text. */
  'too-short': string;
  'too-long': string;
  'too-few': string;
  'too-many': string;
  email: string;
  url: string;
  number: string;
}

/** English texts of the view, its default. */
export const en: Texts = {
  view: 'Feedback',
  send: 'Send',
  next: 'Next',
  back: 'Back',
  progress: 'Step {n} of {of}',
  dismiss: 'Not now',
  acknowledge: 'OK',
  thanks: 'Thank you for your feedback.',
  close: 'Close',
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
  'too-short': 'Please enter at least {n} characters.',
  'too-long': 'Please enter no more than {n} characters.',
  'too-few': 'Please select at least {n}.',
  'too-many': 'Please select no more than {n}.',
  email: 'Please enter an email address.',
  url: 'Please enter a complete URL, including https://.',
  number: 'Please enter a number.',
};

const languages = new Map<string, Texts>([['en', en]]);

/**
 * Adds or overrides the texts of a language, for cards displayed from now on. Missing texts fall back to English.
 *
 * Translations that come with this package: `import { de } from 'parley-feedback/texts/de'`.
 */
export function addTexts(language: string, texts: Partial<Texts>): void {
  const key = parseLocale(language)?.tag ?? language;
  languages.set(key, { ...(languages.get(key) ?? en), ...texts });
}

/** Returns the texts that match a language (BCP 47), such as `de` for `de-CH` and `zh-Hans` for `zh-CN`, or English. */
export function textsFor(wanted: string): { language: string; texts: Texts } {
  const language = matchLocale(wanted, [...languages.keys()]) ?? 'en';
  return { language, texts: languages.get(language) as Texts };
}

/** Fills the placeholders of a text. */
export const say = (text: string, n: number, of = n): string => text.replace('{n}', `${n}`).replace('{of}', `${of}`);
