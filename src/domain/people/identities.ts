import { z } from 'zod';
import { arrayOf, recordOf } from '../bounded.ts';
import { documentedItems, EXAMPLE_TIME, int32, LATER_EXAMPLE } from '../documented.ts';
import { Identity, PreciseNumber, TimestampOut, text } from '../text.ts';
import { type Parsed, parseInput } from '../validation.ts';

/** Maximum number of attributes of an identity. */
export const MAX_ATTRIBUTES = 50;

export const AttributeName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'The name must be 1 to 64 of the characters A-Z a-z 0-9 _ . -, such as plan.')
  .meta({ id: 'AttributeName' });
const AttributeValue = z.union([text(256), PreciseNumber, z.boolean()]).meta({ id: 'AttributeInput' });

/** An attribute's value in replies. */
export const KnownAttribute = z.union([z.string(), z.number(), z.boolean()]).meta({ id: 'AttributeValue' });

const ABOUT_ATTRIBUTES = `At most ${MAX_ATTRIBUTES} attributes: strings of at most 256 characters, numbers or booleans; dates as strings`;

const plan = { plan: 'pro', seats: 5 };

/** A tenant's data about one of its users, with names chosen by the tenant. */
export const Attributes = recordOf(AttributeName, AttributeValue, MAX_ATTRIBUTES, 'attributes').meta({
  description: ABOUT_ATTRIBUTES,
  maxProperties: MAX_ATTRIBUTES,
});
export type Attributes = z.output<typeof Attributes>;

const device = {
  locale: text(35, 1).nullable().meta({ description: 'BCP 47; null: use the value of the last answer', example: 'en' }),
  platform: text(64, 1).nullable().meta({ description: 'null: use the value of the last answer', example: 'ios' }),
  app_version: text(64, 1).nullable().meta({ description: 'null: use the value of the last answer', example: '4.2.0' }),
};

/** Maximum number of attributes that one patch changes: all that a profile has are replaced by as many others. */
const MAX_CHANGED_ATTRIBUTES = 2 * MAX_ATTRIBUTES;

const AttributesPatch = recordOf(AttributeName, AttributeValue.nullable(), MAX_CHANGED_ATTRIBUTES, 'attributes').meta({
  description: `null removes an attribute; omitted attributes are unchanged. At most ${MAX_CHANGED_ATTRIBUTES} in one request`,
});

/** The body that replaces an identity. */
export const NewIdentity = z
  .strictObject({
    attributes: Attributes.default({}).meta({ example: plan }),
    locale: device.locale.default(null),
    platform: device.platform.default(null),
    app_version: device.app_version.default(null),
  })
  .meta({ id: 'IdentityInput' });
export type NewIdentity = z.output<typeof NewIdentity>;

/** The body that changes an identity. Attributes that are null are removed; missing ones are kept. */
export const IdentityPatch = z
  .strictObject({
    attributes: AttributesPatch,
    ...device,
  })
  .partial()
  .meta({ id: 'IdentityPatch', example: { attributes: { plan: 'free', seats: null } } });
export type IdentityPatch = z.output<typeof IdentityPatch>;

/** The attributes that a user's own app may write. */
export const OwnAttributesPatch = z
  .strictObject({ attributes: AttributesPatch })
  .meta({ id: 'OwnAttributesPatch', example: { attributes: { plan: 'pro' } } });

/** The attributes that a user's own app may read: those that it may write. */
export const OwnAttributes = z.object({ attributes: z.record(z.string(), KnownAttribute) }).meta({
  id: 'OwnAttributes',
  description: "Attributes in the tenant's `identity_attributes_allowed`",
  example: { attributes: { plan: 'pro' } },
});

/** One of a tenant's users (contract section 6). */
export const IdentityProfile = z
  .object({
    identity: z.string().meta({ example: 'user|42' }),
    verified: z.boolean().meta({ example: true }),
    attributes: z.record(z.string(), KnownAttribute).meta({ example: plan }),
    locale: z.string().nullable().meta({ example: 'en' }),
    platform: z.string().nullable().meta({ example: 'ios' }),
    app_version: z.string().nullable().meta({ example: '4.2.0' }),
    first_seen_at: TimestampOut.nullable().meta({
      description: 'null if there is no activity yet',
      example: EXAMPLE_TIME,
    }),
    last_seen_at: TimestampOut.nullable().meta({
      description: 'Time of the last answer or message',
      example: LATER_EXAMPLE,
    }),
    answer_count: int32().meta({ description: 'Number of answers, counted up to 1,000', example: 4 }),
    conversation_count: int32().meta({ description: 'Counted up to 1,000', example: 1 }),
    status: z.literal('active'),
  })
  .meta({ id: 'IdentityProfile' });

/** Maximum number of users in a batch of profiles. */
export const MAX_PROFILES = 100;

/** One user of a batch: changes as in `IdentityPatch`. */
export const IdentityItem = z
  .strictObject({
    identity: Identity,
    verified: z
      .boolean()
      .default(true)
      .meta({ description: 'Whether to change the verified or the claimed identity of that name' }),
    ...IdentityPatch.shape,
  })
  .meta({ id: 'IdentityItem', unusedIO: 'input', example: { attributes: plan, locale: 'en' } }); // as for `NewAnswer`: zod-openapi does not detect the reference
export type IdentityItem = z.output<typeof IdentityItem>;

/** The body with the profiles of many users, each of which is validated separately. */
export const IdentityBatch = z
  .strictObject({ identities: arrayOf(z.unknown()).min(1).max(MAX_PROFILES) })
  .meta({ id: 'IdentityBatch', override: documentedItems('identities', 'IdentityItem') });

const SavedStatus = z.enum(['created', 'updated', 'unchanged']);
export type SavedStatus = z.output<typeof SavedStatus>;

/** The result for one user of a batch. */
export const IdentityResult = z
  .object({
    identity: z
      .string()
      .nullable()
      .meta({ description: 'As in the request; null if the item had none', example: 'user|42' }),
    verified: z
      .boolean()
      .nullable()
      .meta({ description: 'As in the request; null if it was not a boolean', example: true }),
    status: z.enum([...SavedStatus.options, 'rejected']).meta({
      description: '`created`: there was no profile before; `unchanged`: nothing was written',
    }),
    code: z.string().optional().meta({ description: 'If rejected: the code of the first fault' }),
    detail: z.string().optional().meta({ description: 'If rejected: the rule that the item breaks' }),
    pointer: z.string().optional().meta({ description: 'If rejected: the JSON Pointer of the fault within the item' }),
  })
  .meta({ id: 'IdentityResult' });
export type IdentityResult = z.output<typeof IdentityResult>;

/** A saved and a rejected profile in examples. */
export const EXAMPLE_RESULTS = [
  { status: 'unchanged' },
  {
    ...{ identity: 'user|43', status: 'rejected', code: 'unknown-field', pointer: '/surname' },
    detail: 'This field is not known here. Remove it or correct its name.',
  },
];

/** Maximum number of values shown of an attribute. */
export const SHOWN_VALUES = 5;

/** An attribute in use. */
export const IdentityAttribute = z
  .object({
    name: z.string(),
    types: z.array(z.enum(['string', 'number', 'boolean', 'date'])).meta({
      description: 'The types of its values. A string of the form `2026-11-21` or of a time (RFC 3339) is a date',
    }),
    values: z
      .array(KnownAttribute)
      .max(SHOWN_VALUES)
      .meta({ description: `Its most frequent values, at most ${SHOWN_VALUES}` }),
  })
  .meta({ id: 'IdentityAttribute', example: { name: 'plan', types: ['string'], values: ['pro', 'free'] } });

/** Returns the attributes after a patch. */
const patchAttributes = (attributes: Attributes, patch: IdentityPatch['attributes'] = {}): Attributes =>
  Object.fromEntries(Object.entries({ ...attributes, ...patch }).filter(([, value]) => value !== null)) as Attributes;

/** Returns the profile after a patch, or the faults of its attributes: each was valid, but together they are too many. */
export function patchProfile(profile: NewIdentity, { attributes, ...device }: IdentityPatch): Parsed<NewIdentity> {
  const parsed = parseInput(Attributes, patchAttributes(profile.attributes, attributes));
  if (!parsed.success) return parsed;
  return { success: true, data: { ...profile, ...device, attributes: parsed.data } };
}

/** A prefix of an identity. */
export const IdentityStart = Identity.meta({ description: 'Prefix of the identity' });

/** Returns the full description of an identity as the API shows it. */
export const presentIdentity = <Row extends { identity_verified: boolean }>({ identity_verified, ...row }: Row) => ({
  ...row,
  verified: identity_verified,
  status: 'active',
});
