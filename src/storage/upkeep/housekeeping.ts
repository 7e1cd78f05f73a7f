import type { Storage } from '../database/orm.ts';

/** How long the marks of recorded flushes are kept. */
export const FLUSHES_KEPT = '8 days';
/** Maximum age of an unsettled flush that is examined: a day less, for clock differences and delayed claims. */
export const FLUSHES_AUDITED = '7 days';

/** Deletes idempotency keys after 24 h, old rate counters and old flush marks. */
export const deleteExpiredRows = (storage: Storage): Promise<unknown> =>
  storage.query('select forget_expired($1::interval)', [FLUSHES_KEPT]);

/** Deletes expired sessions, links and invitations. */
export const deleteEndedSessions = (storage: Storage, now: Date, idleHours: number): Promise<unknown> =>
  storage.query('select forget_ended_sessions($1, $2::interval)', [now, `${idleHours} hours`]);

/** Returns the time before which no transaction can still add a change, which is where incremental reads end. */
export const oldestOpenWrite = async (storage: Storage): Promise<Date> => {
  const rows = await storage.query<{ at: Date }>(
    "select date_trunc('milliseconds', oldest_open_write()) - interval '1 millisecond' as at",
  );
  return rows[0]?.at ?? new Date(0);
};

/** A database session with uncommitted writes. */
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

/**
 * Returns the connections of all clients to PostgreSQL, in all its databases, divided by those that it accepts from
 * ordinary users.
 */
export const readConnectionUse = async (storage: Storage): Promise<number> => {
  // Other users' rows have no backend_type, but client sessions are those with a user.
  const [row] = await storage.query<{ used: number }>(
    `select count(*)::float8 / (current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0)) as used from pg_stat_activity where usesysid is not null`,
  );
  return row?.used ?? 0;
};
