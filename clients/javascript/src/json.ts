import { ParleyError, reasonOf } from './errors.ts';

/** Encodes a value as JSON. Throws `invalid-argument` for one that JSON cannot represent, such as a BigInt. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ParleyError('invalid-argument', reasonOf(cause), { cause });
  }
}
