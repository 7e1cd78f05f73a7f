import type { Storage } from './orm.ts';

/** For how long the database remembers which flushes of the queue it has recorded. */
const FLUSHES_KEPT = '8 days';

/** Removes what has served its time: idempotency keys after 24 h, old rate counters, old flush marks. */
export const forgetExpired = (storage: Storage): Promise<unknown> =>
  storage.query('select forget_expired($1::interval)', [FLUSHES_KEPT]);

/** The moment before which no transaction can still add a change: incremental reads end there. */
export const oldestOpenWrite = async (storage: Storage): Promise<Date> => {
  const rows = await storage.query<{ at: Date }>(
    "select date_trunc('milliseconds', oldest_open_write()) - interval '1 millisecond' as at",
  );
  return rows[0]?.at ?? new Date(0);
};
