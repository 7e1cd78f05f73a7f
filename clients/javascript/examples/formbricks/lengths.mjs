/** Texts of responses within the length that an answer may have. Formbricks has no limit, unless the survey sets one. */

/** Maximum number of characters of a text in an answer. */
const LONGEST = 5000;

const cut = text => [...text].slice(0, LONGEST).join('');

/** Returns a value with its text cut, and the number of characters that were cut off. */
export function fitted(value) {
  const text = typeof value === 'string' ? value : Object(value).other_text;
  const excess = text ? [...text].length - LONGEST : 0;
  if (excess <= 0) return { value, excess: 0 };
  return { value: typeof value === 'string' ? cut(value) : { ...value, other_text: cut(text) }, excess };
}
