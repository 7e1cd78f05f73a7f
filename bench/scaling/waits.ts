import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

/** Sampled states of connections in a transaction, as shares that add up to 1. */
export type Waits = Record<'running' | 'lock' | 'wal' | 'client' | 'other', number>;

const EVERY_MS = 10;

const STATES = `select case
    when state = 'idle in transaction' or wait_event_type = 'Client' then 'client'
    when wait_event_type = 'Lock' then 'lock'
    when wait_event in ('WalSync', 'WalWrite', 'WALSync', 'WALWrite', 'WALWriteLock', 'WALWrite') then 'wal'
    when wait_event_type is null then 'running'
    else 'other' end as kind, count(*)::int as count
  from pg_stat_activity
  where datname = current_database() and application_name = 'parley_worker' and xact_start is not null
  group by 1`;

/** Samples the wait states of the workers' connections a hundred times a second until stopped. */
export async function sampleWaits(databaseUrl: string): Promise<{ stop(): Promise<Waits> }> {
  const client = new Client({ connectionString: databaseUrl });
  client.on('error', () => undefined); // the next sample rejects with the same error
  await client.connect();
  const counts: Waits = { running: 0, lock: 0, wal: 0, client: 0, other: 0 };
  let stopped = false;
  const looking = (async () => {
    for (; !stopped; await sleep(EVERY_MS)) {
      const { rows } = await client.query<{ kind: keyof Waits; count: number }>(STATES);
      for (const { kind, count } of rows) counts[kind] += count;
    }
  })();
  return {
    async stop() {
      stopped = true;
      await looking;
      await client.end();
      const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
      return Object.fromEntries(Object.entries(counts).map(([kind, seen]) => [kind, seen / total])) as Waits;
    },
  };
}
