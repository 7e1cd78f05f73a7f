import type { ProblemError } from './api/problem.ts';
import { formatNumber, locale, t } from './i18n.ts';

type Texts = Record<string, string>;

/** Sentences by field code (`/problems#fields`). Functions, because the language can change. */
const TEXTS = (): Texts => ({
  required: t('Required'),
  'unknown-field': t('This field is not known.'),
  'wrong-type': t('This value has the wrong type.'),
  'unknown-value': t('This value is not available.'),
  'repeated-item': t('Each item may appear only once.'),
  'invalid-format': t('This value does not have the required form.'),
  'invalid-characters': t('This value contains characters that are not allowed.'),
  'not-allowed': t('This value is not allowed here.'),
  conflicting: t('This value contradicts another one.'),
  'unknown-reference': t('This object does not exist.'),
  'repeated-key': t('Another step has this key.'),
  'unknown-step': t('This step no longer exists.'),
  'looks-ahead': t('This step comes later. Select an earlier one, or move the steps.'),
  'unreachable-step': t('The conditions contradict each other, so the step is never shown.'),
  'wrong-operator': t('This comparison does not fit the type of the step.'),
  'unknown-option': t('The step does not have this option.'),
  'missing-translation': t('Each language needs every text. Add the missing ones, or remove the language.'),
  'fallback-missing': t('Text in braces needs a fallback for users without the attribute, such as {example}.', {
    example: '{{identity.attributes.plan|your plan}}',
  }),
  'audience-not-public': t('Questions for public tokens can only depend on platform, app version and language.'),
  'url-not-allowed': t('Must be an https address that is reachable publicly.'),
  'different-user': t('Must be a conversation of the same user.'),
  'immutable-field': t('Cannot be changed once published.'),
  'out-of-range': t('This value is outside the allowed range.'),
});

/** Sentences with a limit, which is the only number in the server's sentence. */
const LIMITS = (limit: string): Texts => ({
  'too-short': t('At least {least} characters.', { least: limit }),
  'too-long': t('At most {most} characters.', { most: limit }),
  'too-few': t('At least {least} entries.', { least: limit }),
  'too-many': t('At most {most} entries.', { most: limit }),
});

/** The sentence about a color, with the numbers of the server's. */
function contrastText(detail: string): string {
  const [ratio, required] = [...detail.matchAll(/([\d.]+):1/g)].map(([, number]) => Number(number));
  if (ratio === undefined || required === undefined) return detail;
  return t('The contrast with the background is {ratio}:1; at least {required}:1 is required.', {
    ratio: formatNumber(ratio),
    required: formatNumber(required),
  });
}

/**
 * Returns the text of a validation error. English shows the server's sentence, other languages a sentence by its code. A
 * code without a sentence, such as one of a later version, shows the server's.
 */
export function fieldErrorText({ code, detail }: ProblemError): string {
  if (code === 'required') return t('Required');
  if (locale() === 'en') return detail;
  if (code === 'low-contrast') return contrastText(detail);
  const [limit] = /\d+/.exec(detail) ?? [];
  return (limit === undefined ? undefined : LIMITS(limit)[code]) ?? TEXTS()[code] ?? detail;
}
