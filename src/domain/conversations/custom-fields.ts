import { z } from 'zod';
import { arrayOf, fields } from '../bounded.ts';
import { type FieldCode, issueOf, rule } from '../field-errors.ts';
import type { ProblemError } from '../problem.ts';
import { Day, label, PreciseNumber, text } from '../text.ts';

/** Maximum number of custom fields of a tenant. */
export const MAX_CUSTOM_FIELDS = 20;

/** Maximum size of the custom values of a conversation, as JSON in UTF-8. */
export const MAX_CUSTOM_BYTES = 2048;

const KEY = /^[a-z][a-z0-9_]{0,39}$/;
const KEY_FORM = 'a-z, 0-9 and "_", starting with a letter, at most 40 characters, such as "order_number"';

const CustomField = z
  .strictObject({
    key: z.string().regex(KEY, `Must be ${KEY_FORM}.`),
    label: label(80, 'Order number'),
    type: z.enum(['text', 'number', 'boolean', 'date', 'choice']),
    options: arrayOf(label(100))
      .min(1)
      .max(50)
      .refine(options => new Set(options).size === options.length, rule('repeated-item', 'Must not repeat an option.'))
      .optional()
      .meta({ description: 'Required with the type `choice`, otherwise not allowed', uniqueItems: true }),
  })
  .check(({ value: { type, options }, issues }) => {
    const report = (code: FieldCode, sentence: string) =>
      issues.push({ ...issueOf(code, sentence, options), path: ['options'] });
    if (type === 'choice' && !options) report('required', 'Required with the type "choice": a list of texts.');
    if (type !== 'choice' && options) report('not-allowed', 'Must be omitted unless "type" is "choice".');
  })
  .meta({ id: 'CustomField', example: { key: 'order_number' } });
export type CustomField = z.output<typeof CustomField>;

export const CustomFields = arrayOf(CustomField)
  .max(MAX_CUSTOM_FIELDS)
  .refine(
    all => new Set(all.map(({ key }) => key)).size === all.length,
    rule('repeated-item', 'Must not contain a key twice.'),
  )
  .meta({
    description:
      'Fields of conversations that only the team sees. Values of a removed field are kept, and can only be removed',
  });

/** Values of custom fields by key. */
export type CustomValues = Record<string, string | number | boolean>;

const Value = z.union([z.string(), PreciseNumber, z.boolean()]).meta({ id: 'CustomValueInput' });

const ValueOut = z.union([z.string(), z.number(), z.boolean()]).meta({ id: 'CustomValue' });

/** A change of values in a reply. */
export const CustomChangeOut = z.record(z.string(), ValueOut.nullable());

export const CustomValuesOut = z
  .record(z.string(), ValueOut)
  .meta({ description: 'Values of custom fields by key; only visible to the team' });

/** Maximum number of custom fields that one request changes: those of the tenant, and removed ones. */
const MAX_CHANGED_FIELDS = 100;

/** Values to set, by key; null removes one. They are checked against the tenant's fields when they are stored. */
export const CustomChange = fields([KEY, KEY_FORM], Value.nullable(), MAX_CHANGED_FIELDS, 'fields').meta({
  id: 'CustomChange',
  description: 'Values of custom fields to set, by key; null removes a value, and absent keys keep theirs',
});
export type CustomChange = z.output<typeof CustomChange>;

const TEXT = text(500, 1);

/** Returns why a value does not fit its field; undefined if it does. */
function findFault({ type, options = [] }: CustomField, value: unknown): [FieldCode, string] | undefined {
  if (type === 'choice') {
    const isOption = options.includes(value as string);
    return isOption ? undefined : ['unknown-value', `Must be one of ${options.map(one => `"${one}"`).join(', ')}.`];
  }
  if (type === 'date') {
    const isDay = Day.safeParse(value).success;
    return isDay ? undefined : ['invalid-format', 'Must be a day such as "2026-11-21".'];
  }
  if (type === 'text') {
    const isText = TEXT.safeParse(value).success;
    return isText ? undefined : ['invalid-format', 'Must be a text of 1 to 500 characters.'];
  }
  return typeof value === type ? undefined : ['wrong-type', `Must be a ${type}.`];
}

/** Returns the faults of values for a tenant's fields. `pointer` is that of the values. Removing a value always fits. */
export const findCustomFaults = (
  definitions: readonly CustomField[],
  change: CustomChange,
  pointer: string,
): ProblemError[] =>
  Object.entries(change).flatMap(([key, value]) => {
    if (value === null) return [];
    const field = definitions.find(one => one.key === key);
    const fault = field
      ? findFault(field, value)
      : (['unknown-reference', "Must be the key of one of the tenant's custom fields."] as const);
    return fault ? [{ pointer: `${pointer}/${key}`, code: fault[0], detail: fault[1] }] : [];
  });

/** Returns the values after a change. */
export const changeCustom = (before: CustomValues, change: CustomChange): CustomValues =>
  Object.fromEntries(
    Object.entries({ ...before, ...change })
      .filter((entry): entry is [string, string | number | boolean] => entry[1] !== null)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );

/** Whether values need more room than a conversation has. */
export const isTooLarge = (values: CustomValues): boolean =>
  Buffer.byteLength(JSON.stringify(values)) > MAX_CUSTOM_BYTES;
