import { z } from 'zod';
import { int32 } from './documented.ts';
import { rule } from './field-errors.ts';
import { Identity, PreciseNumber, TimestampOut, text } from './text.ts';

/** Maximum number of attributes of an identity. */
export const MAX_ATTRIBUTES = 50;

export const AttributeName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'The name must be 1 to 64 of the characters A-Z a-z 0-9 _ . -, such as plan.')
  .meta({ id: 'AttributeName' });
const AttributeValue = z.union([text(256), PreciseNumber, z.boolean()]).meta({ id: 'AttributeInput' });

/** An attribute's value in replies. */
const KnownAttribute = z.union([z.string(), z.number(), z.boolean()]).meta({ id: 'AttributeValue' });

const ABOUT_ATTRIBUTES = `At most ${MAX_ATTRIBUTES} attributes: strings of at most 256 characters, numbers or booleans; dates as strings`;

/** A tenant's data about one of its users, with names chosen by the tenant. */
export const Attributes = z
  .record(AttributeName, AttributeValue)
  .refine(
    attributes => Object.keys(attributes).length <= MAX_ATTRIBUTES,
    rule('too-many', `Must have at most ${MAX_ATTRIBUTES} attributes.`),
  )
  .meta({ description: ABOUT_ATTRIBUTES, maxProperties: MAX_ATTRIBUTES });
export type Attributes = z.output<typeof Attributes>;

const device = {
  locale: text(35, 1).nullable().meta({ description: 'BCP 47; null: use the value of the last answer' }),
  platform: text(64, 1).nullable().meta({ description: 'null: use the value of the last answer' }),
  app_version: text(64, 1).nullable().meta({ description: 'null: use the value of the last answer' }),
};

const AttributesPatch = z
  .record(AttributeName, AttributeValue.nullable())
  .meta({ description: 'null removes an attribute; omitted attributes are unchanged' });

/** The body that replaces an identity. */
export const NewIdentity = z
  .strictObject({
    attributes: Attributes.default({}),
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
  .meta({ id: 'IdentityPatch' });
export type IdentityPatch = z.output<typeof IdentityPatch>;

/** The attributes that a user's own app may write. */
export const OwnAttributesPatch = z.strictObject({ attributes: AttributesPatch }).meta({ id: 'OwnAttributesPatch' });

/** The attributes that a user's own app may read: those that it may write. */
export const OwnAttributes = z
  .object({ attributes: z.record(z.string(), KnownAttribute) })
  .meta({ id: 'OwnAttributes', description: "Attributes in the tenant's `identity_attributes_allowed`" });

/** One of a tenant's users (contract section 6). */
export const IdentityProfile = z
  .object({
    identity: z.string(),
    verified: z.boolean(),
    attributes: z.record(z.string(), KnownAttribute),
    locale: z.string().nullable(),
    platform: z.string().nullable(),
    app_version: z.string().nullable(),
    first_seen_at: TimestampOut.nullable().meta({ description: 'null if there is no activity yet' }),
    last_seen_at: TimestampOut.nullable().meta({ description: 'Time of the last answer or message' }),
    answer_count: int32().meta({ description: 'Number of answers, counted up to 1,000' }),
    conversation_count: int32().meta({ description: 'Counted up to 1,000' }),
    status: z.literal('active'),
  })
  .meta({ id: 'IdentityProfile' });

/** Returns the attributes after a patch. */
export const patchAttributes = (attributes: Attributes, patch: IdentityPatch['attributes'] = {}): Attributes =>
  Object.fromEntries(Object.entries({ ...attributes, ...patch }).filter(([, value]) => value !== null)) as Attributes;

/** A prefix of an identity. */
export const IdentityStart = Identity.meta({ description: 'Prefix of the identity' });
