/** What a field code means, and an example that avoids it. Both appear at `/problems` and in the OpenAPI document. */
interface FieldCodeText {
  /** The rule that the value breaks, and the remedy. */
  meaning: string;
  /** A valid value, as JSON or in words. */
  example: string;
}

/**
 * Every code in `errors` of a problem document, for a field of the body, a query parameter or a header. Codes are never
 * renamed.
 */
export const FIELD_CODES = {
  required: {
    meaning: 'The field, parameter or header is missing. Send it.',
    example: '`{"type": "nps", "title": "How likely are you to recommend us?"}`',
  },
  'unknown-field': {
    meaning:
      'The body has a field that this operation does not accept, such as a misspelled or read-only one. Remove it or correct its name.',
    example: '`title` instead of `titel`',
  },
  'repeated-field': {
    meaning: 'An object in the body has two fields of the same name, so its meaning is ambiguous. Send the field once.',
    example: '`{"tags": ["a", "b"]}` instead of `{"tags": ["a"], "tags": ["b"]}`',
  },
  'unknown-parameter': {
    meaning:
      'The operation does not have this query parameter, or not for this credential. Remove it or correct its name.',
    example: '`?limit=10` instead of `?page_size=10`',
  },
  'repeated-parameter': {
    meaning: 'The query parameter or header was sent more than once. Send it once.',
    example: '`?limit=10`',
  },
  'wrong-type': {
    meaning: 'The value has another JSON type than the rule requires.',
    example: '`5` instead of `"5"`',
  },
  'unknown-value': {
    meaning: 'The value is not one of those listed in `detail`. Values are case-sensitive.',
    example: '`"completed"` for the state of an answer',
  },
  'out-of-range': {
    meaning:
      'The number or time is outside the range in `detail`. Numbers beyond ±9007199254740991 lose precision in JSON; send them as strings.',
    example: '`10` for `limit`, which may be 1 to 100',
  },
  'too-short': {
    meaning: 'The text has fewer characters than `detail` requires.',
    example: '`"Acme"` for a name that must not be empty',
  },
  'too-long': {
    meaning: 'The text has more characters (Unicode code points) than `detail` allows. Shorten it.',
    example: '`"Acme"` for a name of at most 120 characters',
  },
  'too-few': {
    meaning: 'The list has fewer items than `detail` requires.',
    example: '`[{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]` for the options of a choice, at least 2',
  },
  'too-many': {
    meaning: 'The list or object has more items than `detail` allows. Split the request or remove items.',
    example: '`["urgent", "billing"]` for tags, at most 20',
  },
  'repeated-item': {
    meaning: 'The list contains the same item twice. Send each item once.',
    example: '`["urgent", "billing"]`',
  },
  'invalid-format': {
    meaning: 'The text does not have the required form. `detail` states the form with an example.',
    example: '`"2026-11-21T07:00:00.000Z"` for a time',
  },
  'invalid-characters': {
    meaning:
      'The text contains characters that are not allowed here, such as U+0000, a lone surrogate or spaces at its ends.',
    example: '`"user|42"`',
  },
  'not-allowed': {
    meaning:
      'The field or value is valid in general, but not for this credential, this type of question or these settings.',
    example: '`{"status": "resolved"}`, the only change of a conversation with an access token',
  },
  conflicting: {
    meaning: 'Two values contradict each other. Change one of them.',
    example: '`{"min_length": 10, "max_length": 200}`',
  },
  'unknown-reference': {
    meaning: 'The value is a well-formed id, but the object does not exist in the tenant.',
    example: 'the id of a member from `GET /v1/members`',
  },
  'repeated-key': {
    meaning: 'Two steps of the question have the same key, or a follow-up has the key `main`. Rename one of them.',
    example: '`"reason"` and `"contact"`',
  },
  'unknown-step': {
    meaning: 'The condition refers to a step that the question does not have. Correct the key or add the step.',
    example: '`{"step": "main", "op": "lte", "value": 6}`',
  },
  'looks-ahead': {
    meaning:
      'The condition refers to its own step or to a later one, which is not answered yet. Refer to an earlier step or move the steps.',
    example: '`{"step": "main", "op": "answered"}` in the first follow-up',
  },
  'unreachable-step': {
    meaning: 'The conditions of the step contradict each other, so that it is never shown. Change one of them.',
    example: '`{"step": "main", "op": "lte", "value": 6}` instead of `lt` 0',
  },
  'wrong-operator': {
    meaning:
      'The operator does not fit the type of the step that the condition refers to. `detail` lists those that do.',
    example: '`{"step": "main", "op": "lte", "value": 6}` for a score',
  },
  'unknown-option': {
    meaning:
      'The step that the condition refers to does not have this option. Use the id of an option, or `other` if it is allowed.',
    example: '`{"step": "reason", "op": "contains_any", "value": ["price"]}`',
  },
  'low-contrast': {
    meaning:
      'The color is hard to read on the background of the card: texts need a contrast of 4.5:1, the accent 3:1 (WCAG 2.2, level AA), in every theme that is used. `detail` states the nearest color that passes, `contrasts` of the problem the numbers.',
    example: '`{"appearance": {"theme": "light", "accent": "#1d4ed8"}}`',
  },
  'missing-translation': {
    meaning:
      'A language of the question lacks this text. `detail` names the text in its own language. Add the translation, or remove the language.',
    example: '`{"de": {"title": "Warum?"}}` for a question with a title only',
  },
  'fallback-missing': {
    meaning:
      'The text recalls an attribute of the user without a text for users who do not have it. Add one after a vertical bar.',
    example: '`{{identity.attributes.plan|your plan}}`',
  },
  'audience-not-public': {
    meaning:
      'The question is open to public access tokens, whose identity is not proven, and its audience depends on the person. Use only platform, app_version and locale, or close the question to public tokens.',
    example: '`{"all": [{"platform": {"op": "eq", "value": "ios"}}]}`',
  },
  'url-not-allowed': {
    meaning:
      'Webhooks cannot be sent to this URL. It must start with https://, have no credentials, use port 443 or a port from 1024 up, and its host name must only lead to public addresses. The operator of Parley can allow private networks and http.',
    example: '`"https://hooks.example.com/parley"`',
  },
  'different-user': {
    meaning: 'The two conversations belong to different users. Only conversations of one user can be merged.',
    example: 'the id of another conversation with the same `identity`',
  },
  'immutable-field': {
    meaning: 'The field cannot change once the question is published. Clone the question instead.',
    example: 'a new `title`, which creates a new version',
  },
} as const satisfies Record<string, FieldCodeText>;

export type FieldCode = keyof typeof FIELD_CODES;

export const isFieldCode = (code: unknown): code is FieldCode =>
  typeof code === 'string' && Object.hasOwn(FIELD_CODES, code);

/** The rule for numbers that JSON parsers round. */
export const BEYOND_PRECISION = `Must be from ${-Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, because larger numbers are rounded. Send it as a string.`;

/** Returns the parameters of a zod refinement that fails with a field code and a sentence. */
export const rule = (code: FieldCode, sentence: string) => ({ error: sentence, params: { code } });

/** Returns a zod issue with a field code and a sentence, for checks and transforms. */
export const issueOf = (code: FieldCode, message: string, input: unknown) =>
  ({ code: 'custom', message, params: { code }, input }) as const;
