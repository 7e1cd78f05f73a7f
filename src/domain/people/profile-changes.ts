import { z } from 'zod';
import { int32 } from '../documented.ts';
import { EventActor } from '../events/events.ts';
import { TimestampOut } from '../text.ts';
import { KnownAttribute, type NewIdentity } from './identities.ts';

/** Maximum number of changes that are kept of each user, and for how long. */
export const PROFILE_CHANGES_KEPT = 50;
export const PROFILE_CHANGES_KEPT_DAYS = 90;

const FORGOTTEN = 'null if it was not set, or if the field has been removed since';

const ChangedField = z
  .object({
    field: z.enum(['attribute', 'locale', 'platform', 'app_version']),
    name: z.string().nullable().meta({ description: 'Name of the attribute; null for other fields', example: 'plan' }),
    from: KnownAttribute.nullable().meta({ description: `Value before the change; ${FORGOTTEN}`, example: 'free' }),
    to: KnownAttribute.nullable().meta({ description: `Value after the change; ${FORGOTTEN}`, example: 'pro' }),
  })
  .meta({ id: 'ChangedField' });

export const ProfileChange = z
  .object({
    number: int32(1).meta({ description: 'Identifies the change among those of the user; the latest is the highest' }),
    at: TimestampOut,
    by: EventActor,
    changes: z.array(ChangedField).meta({ example: [{}, { field: 'locale', name: null, from: 'en', to: 'de' }] }),
  })
  .meta({ id: 'ProfileChange', description: 'Fields of a profile that changed together' });

type Value = string | number | boolean | null;
/** The values of a field before and after a change; null once they are forgotten, because the field was removed. */
type Values = [from: Value, to: Value] | null;
/** The changed fields of a profile as they are stored, by their path. */
export type ChangedFields = Record<string, Values>;

const ATTRIBUTE = 'attributes.';

const DEVICE = ['locale', 'platform', 'app_version'] as const;

/** Returns the fields that differ, or null if none does. A removed field has no values, since none should outlive its removal. */
export function compareProfiles(before: NewIdentity, after: NewIdentity): ChangedFields | null {
  const changed: ChangedFields = {};
  const compare = (path: string, from: Value, to: Value) => {
    if (from !== to) changed[path] = to === null ? null : [from, to];
  };
  const attributeOf = ({ attributes }: NewIdentity, name: string): Value =>
    Object.hasOwn(attributes, name) ? (attributes[name] as Value) : null;
  for (const field of DEVICE) compare(field, before[field], after[field]);
  for (const name of Object.keys({ ...before.attributes, ...after.attributes }))
    compare(ATTRIBUTE + name, attributeOf(before, name), attributeOf(after, name));
  return Object.keys(changed).length > 0 ? changed : null;
}

/** Returns the paths of removed fields. */
export const removedFields = (fields: ChangedFields): string[] =>
  Object.entries(fields).flatMap(([path, values]) => (values === null ? [path] : []));

/** A change of a profile as it is stored. */
export interface StoredProfileChange {
  number: number;
  at: Date;
  by: EventActor;
  changes: ChangedFields;
}

const byPath = ([one]: [string, Values], [other]: [string, Values]): number => (one < other ? -1 : 1);

/** Returns a change as the API shows it. */
export const presentProfileChange = ({ changes, ...change }: StoredProfileChange) => ({
  ...change,
  changes: Object.entries(changes)
    .toSorted(byPath)
    .map(([path, values]) => {
      const isAttribute = path.startsWith(ATTRIBUTE);
      return {
        field: isAttribute ? 'attribute' : path,
        name: isAttribute ? path.slice(ATTRIBUTE.length) : null,
        from: values?.[0] ?? null,
        to: values?.[1] ?? null,
      };
    }),
});
