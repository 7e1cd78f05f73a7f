import type { Storage } from './orm.ts';

/** For how long the database remembers which flushes of the queue it has recorded. */
const FLUSHES_KEPT = '8 days';
/** How old an unsettled flush may be for its mark to be evidence; a day less, for clocks and delayed claims. */
export const FLUSHES_JUDGED = '7 days';

/** Removes what has served its time: idempotency keys after 24 h, old rate counters, old flush marks. */
export const forgetExpired = (storage: Storage): Promise<unknown> =>
  storage.query('select forget_expired($1::interval)', [FLUSHES_KEPT]);

/** Removes what can not be used any more: sessions that idled or grew old, links and invitations that were not taken. */
export const forgetEnded = (storage: Storage, now: Date, idleHours: number): Promise<unknown> =>
  storage.query('select forget_ended_sessions($1, $2::interval)', [now, `${idleHours} hours`]);

/** The moment before which no transaction can still add a change: incremental reads end there. */
export const oldestOpenWrite = async (storage: Storage): Promise<Date> => {
  const rows = await storage.query<{ at: Date }>(
    "select date_trunc('milliseconds', oldest_open_write()) - interval '1 millisecond' as at",
  );
  return rows[0]?.at ?? new Date(0);
};

/** A database session that has written and not yet committed. */
export interface OpenWriter {
  pid: number;
  username: string;
  application: string;
  /** Age of its transaction in seconds. */
  age_s: number;
}

/** Returns the session behind `oldestOpenWrite`; undefined when no transaction is writing. */
export const findOldestWriter = async (storage: Storage): Promise<OpenWriter | undefined> =>
  (await storage.query<OpenWriter>('select * from oldest_open_writer()'))[0];
