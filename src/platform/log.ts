import { hash } from 'node:crypto';
import { type Logger, pino } from 'pino';

export type Log = Logger;

/** Fields that are always redacted: credentials and user-written content. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'password',
  'secret',
  'api_key',
  'access_token',
  'token',
  'values',
  'comment',
  'body',
];

/** Fields of PostgreSQL's errors that quote rows and parameters. */
const QUOTING_FIELDS = ['err.detail', 'err.where'];

/**
 * Creates a structured log: one JSON object per line, on standard error, since standard output is for the command's
 * result.
 *
 * Each line also has the fields that `mixin` returns.
 */
export const createLog = (level: string, role: string, mixin?: () => object): Log =>
  pino(
    {
      level,
      base: { role },
      mixin,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      redact: {
        paths: [...SECRET_FIELDS.flatMap(field => [field, `*.${field}`]), ...QUOTING_FIELDS],
        censor: '[redacted]',
      },
    },
    pino.destination({ dest: 2, sync: true }),
  );

/** Message kinds that a throttle tracks separately, and the length from which it keeps a digest instead of the text. */
const MAX_KINDS = 100;
const MAX_KIND_LENGTH = 200;
/** The kind that represents all others while `MAX_KINDS` are active. */
const OTHER_KINDS = 'other';

/**
 * Returns a guard against repeated log lines: at most one line per kind and `everyMs`.
 *
 * `write` receives the number of lines suppressed since the last one of its kind. Kinds are often error messages, of
 * which an outage can produce any number: beyond 100 active kinds, new ones share a single line.
 */
export function createThrottle(everyMs: number, now: () => number = Date.now) {
  const kinds = new Map<string, { at: number; suppressed: number }>();

  const forgetOld = (at: number): void => {
    for (const [kind, last] of kinds) if (at - last.at >= everyMs) kinds.delete(kind);
  };

  const slotOf = (kind: string, at: number): string => {
    const short = kind.length <= MAX_KIND_LENGTH ? kind : hash('sha256', kind, 'base64url');
    if (kinds.has(short)) return short;
    if (kinds.size >= MAX_KINDS) forgetOld(at);
    return kinds.size < MAX_KINDS ? short : OTHER_KINDS;
  };

  return (kind: string, write: (held: number) => void): void => {
    const at = now();
    const slot = slotOf(kind, at);
    const last = kinds.get(slot);
    if (last && at - last.at < everyMs) {
      last.suppressed++;
      return;
    }
    kinds.set(slot, { at, suppressed: 0 });
    write(last?.suppressed ?? 0);
  };
}
