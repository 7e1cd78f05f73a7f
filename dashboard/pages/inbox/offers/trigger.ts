/** A sign at the beginning of a word that looks for something, such as `/` for saved replies. */
export interface Trigger {
  /** Index of the sign in the text. */
  start: number;
  /** The letters after it. */
  query: string;
}

export type Sign = '/' | '@';

/** A sign at the beginning of a word, with the letters after it. */
const PATTERNS: Record<Sign, RegExp> = {
  '/': /(?:^|\s)\/([\p{L}\p{N}-]*)$/u,
  '@': /(?:^|\s)@([\p{L}\p{N}-]*)$/u,
};

/** Returns the sign before the cursor; undefined without one. */
export function triggerBefore(sign: Sign, text: string, cursor: number): Trigger | undefined {
  const query = PATTERNS[sign].exec(text.slice(0, cursor))?.[1];
  return query === undefined ? undefined : { start: cursor - query.length - 1, query };
}

/** Returns a text with another one in place of a sign and its letters, and the cursor after that. */
export function replaceTrigger(text: string, { start, query }: Trigger, by: string): { text: string; cursor: number } {
  const end = start + 1 + query.length;
  return { text: text.slice(0, start) + by + text.slice(end), cursor: start + by.length };
}
