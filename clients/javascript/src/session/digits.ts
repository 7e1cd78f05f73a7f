import type { AnswerValue, CardStep } from '../types.ts';

const DIGIT = /\p{Nd}/u;

/** The value of a digit in any script: its distance from that script's zero. Some sets of ten follow each other without a gap. */
function toAscii(digit: string): string {
  const code = digit.codePointAt(0) as number;
  let distance = 0;
  while (DIGIT.test(String.fromCodePoint(code - distance - 1))) distance++;
  return `${distance % 10}`;
}

/** Writes digits of other scripts in ASCII. */
export const plainDigits = (text: string): string => text.replace(/\p{Nd}/gu, toAscii);

/** Writes a number as the server accepts it, with the signs that keyboards of other scripts have. */
const plainNumber = (text: string): string =>
  plainDigits(text)
    .replace(/[\u061c\u200e\u200f]/g, '') // marks of direction
    .replace(/[−－﹣]/g, '-')
    .replace(/[٫．]/g, '.')
    .replace(/[،，]/g, ',');

/** The values as they are recorded: numbers in ASCII. */
export function plainValues<Values extends { [step: string]: AnswerValue | undefined }>(
  steps: CardStep[],
  values: Values,
): Values {
  const numbers = steps.filter(({ type, config }) => type === 'text' && config.input === 'number');
  const plain = numbers.flatMap(({ key }) => {
    const value = values[key];
    return typeof value === 'string' ? [[key, plainNumber(value)]] : [];
  });
  return { ...values, ...Object.fromEntries(plain) };
}
