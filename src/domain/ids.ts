import { TypeID } from 'typeid-js';
import { v4, v5, v7 } from 'uuid';
import { z } from 'zod';

/** The type of an identifier: the part before the underscore of its wire form. */
export type IdPrefix =
  | 'tenant'
  | 'account'
  | 'session'
  | 'member'
  | 'invitation'
  | 'audit'
  | 'key'
  | 'question'
  | 'card'
  | 'conversation'
  | 'message'
  | 'quarantine';

/** Returns a new UUIDv7 (RFC 9562), the internal form of identifiers. */
export const newUuid = (): string => v7();

/** Returns the UUID (version 5) of `name` in the namespace `uuid`. Deterministic. */
export const deriveUuid = (uuid: string, name: string): string => v5(name, uuid);

/** Returns a base for 2⁴⁸ numbered identifiers. It starts like a UUIDv7 and ends in zeros. */
export const newNumberedUuid = (): string => `${v7().slice(0, 14)}8${v4().slice(15, 24)}${'0'.repeat(12)}`;

/** Returns identifier `number` of a base from `newNumberedUuid()` (a UUID of version 8, RFC 9562). */
export const numberUuid = (uuid: string, number: number): string =>
  uuid.slice(0, 24) + number.toString(16).padStart(12, '0');

/** Returns the wire form of an identifier: `prefix_` and 26 characters of base32 (TypeID 0.3). */
export const toTypeId = (prefix: IdPrefix, uuid: string): string => TypeID.fromUUID(prefix, uuid).toString();

/** A cache of parsed identifiers, since apps repeatedly send the same ones. Cleared when it is full. */
const known = new Map<string, string>();
/** Heap bytes of one parsed identifier. */
const PARSED_ID_BYTES = 160;
let maxKnown = 10_000;

/** Limits the memory of the process-wide cache of parsed identifiers. */
export function limitParsedIds(bytes: number): void {
  maxKnown = Math.max(1, Math.floor(bytes / PARSED_ID_BYTES));
}

/** The number of cached identifiers, and their estimated bytes. */
export const parsedIds = () => ({ entries: known.size, bytes: known.size * PARSED_ID_BYTES });

/** Returns the UUID of a wire identifier; `undefined` when it is not an identifier with that prefix. */
export function parseTypeId(prefix: IdPrefix, text: string): string | undefined {
  const uuid = known.get(text);
  if (uuid) return text.startsWith(`${prefix}_`) ? uuid : undefined;
  try {
    const parsed = TypeID.fromString(text, prefix).toUUID();
    if (known.size >= maxKnown) known.clear();
    known.set(text, parsed);
    return parsed;
  } catch {
    return undefined; // the library only has a throwing parser
  }
}

/** Returns a schema that converts the wire form into the UUID. */
export const typeId = (prefix: IdPrefix) =>
  z
    .string()
    .max(40)
    .transform((text, context) => {
      const uuid = parseTypeId(prefix, text);
      if (uuid) return uuid;
      context.addIssue({ code: 'custom', message: `must be an identifier that starts with "${prefix}_"` });
      return z.NEVER;
    })
    .meta({ description: `\`${prefix}_…\``, example: toTypeId(prefix, '01936d5e-8f00-7000-8000-000000000001') });

/** Returns a schema of an identifier in replies. */
export const typeIdOut = (prefix: IdPrefix) => z.string().meta({ description: `\`${prefix}_…\`` });

const CLIENT_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** An answer's id: a UUID created by the client, version 7 or 4, in lower case. */
export const ClientUuid = z
  .string()
  .max(36)
  .regex(CLIENT_UUID, 'must be a UUID of version 7 (or 4)')
  .transform(text => text.toLowerCase())
  .meta({
    description: 'A UUID (v7; v4 accepted) made by the client',
    example: '01936d5e-8f00-7000-8000-000000000001',
  });
