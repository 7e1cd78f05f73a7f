import { Problem } from '../../domain/problem.ts';
import { equalInConstantTime, type Keychain } from '../../platform/secrets.ts';

const MAC_BYTES = 16;

/** Opaque positions in a list, each valid only for one list, tenant, caller and set of filters. */
export interface Cursors {
  seal(context: string[], key: string[]): string;
  /** Returns the sort key in a cursor. Throws 400 `invalid-cursor`. */
  open(context: string[], cursor: string): string[];
}

export function createCursors(keychain: Keychain): Cursors {
  const macOf = (context: string[], key: string) => keychain.mac('cursors', key, ...context).subarray(0, MAC_BYTES);
  return {
    seal(context, key) {
      const text = JSON.stringify(key);
      return Buffer.concat([macOf(context, text), Buffer.from(text)]).toString('base64url');
    },
    open(context, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      const text = bytes.subarray(MAC_BYTES).toString('utf8');
      const isOurs = equalInConstantTime(bytes.subarray(0, MAC_BYTES), macOf(context, text));
      if (!isOurs || bytes.toString('base64url') !== cursor)
        throw new Problem('invalid-cursor', 'The cursor was not issued for this list with these filters.');
      return JSON.parse(text) as string[];
    },
  };
}
