import { type Logger, pino } from 'pino';

export type Log = Logger;

/** Fields that never reach a log, wherever they stand: credentials and what people wrote. */
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

/**
 * A structured log: one JSON object a line, on standard error so that standard output stays the command's result.
 *
 * Each line also has what `mixin` gives at that moment.
 */
export const createLog = (level: string, role: string, mixin?: () => object): Log =>
  pino(
    {
      level,
      base: { role },
      mixin,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap(field => [field, `*.${field}`]), censor: '[redacted]' },
    },
    pino.destination({ dest: 2, sync: true }),
  );

/**
 * A guard for messages that an outage would repeat: at most one line per kind and `everyMs`.
 *
 * The line that gets through says how many were held back before it.
 */
export function createThrottle(everyMs: number, now: () => number = Date.now) {
  const kinds = new Map<string, { at: number; held: number }>();
  return (kind: string, write: (held: number) => void): void => {
    const last = kinds.get(kind);
    if (last && now() - last.at < everyMs) {
      last.held++;
      return;
    }
    kinds.set(kind, { at: now(), held: 0 });
    write(last?.held ?? 0);
  };
}
