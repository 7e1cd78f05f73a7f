import { ParleyError, reasonOf } from './errors.ts';

/** Ignores the `toJSON` that old libraries add to arrays and plain objects: it would turn arrays into texts. */
function asItIs(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const own = this[key] as { toJSON?: unknown } | null | undefined;
  return Array.isArray(own) || own?.toJSON === (Object.prototype as { toJSON?: unknown }).toJSON ? own : value;
}

/** Encodes a value as JSON. Throws `invalid-argument` for one that JSON cannot represent, such as a BigInt. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value, asItIs);
  } catch (cause) {
    throw new ParleyError('invalid-argument', reasonOf(cause), { cause });
  }
}
