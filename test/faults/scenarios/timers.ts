import { setTimeout as sleep } from 'node:timers/promises';
import { BOTH, POSTGRES_ONLY, type Scenario } from '../scenario.ts';
import type { FaultTenant, World } from '../world.ts';
import { killInTurns } from './process-kills.ts';

/** How far apart the due times of the timers are in total. */
const SPREAD_S = 60;

/** Inserts conversations that are snoozed until times within the next minute. */
const snooze = (world: World, { uuid }: FaultTenant, count: number) =>
  world.query(
    `insert into conversations (tenant_id, id, identity, identity_verified, subject, status, snoozed_until, priority, tags,
       source_type, last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread,
       team_unread, created_at, updated_at, team_updated_at, last_activity_at)
     select $1, gen_random_uuid(), 'user|' || n, true, '', 'snoozed', now() + n * interval '1 second' * $3 / $2, 'none', '{}',
       'user', 1, 0, 'Hello', 'user', 1, 1, 0, 0, now(), now(), now(), now()
     from generate_series(1, $2::int) n`,
    [uuid, count, SPREAD_S],
  );

interface Woken {
  snoozed: number;
  events: number;
  conversations: number;
  by_system: number;
}

/** Counts the conversations that are still snoozed, and the events of the others. */
async function readWoken(world: World, { uuid }: FaultTenant): Promise<Woken> {
  const [row] = await world.query<Woken>(
    `select (select count(*) from conversations where tenant_id = $1 and status = 'snoozed')::int as snoozed,
       count(*)::int as events, count(distinct conversation_id)::int as conversations,
       count(*) filter (where author_type = 'system' and event->>'to' = 'open')::int as by_system
     from messages where tenant_id = $1 and kind = 'event'`,
    [uuid],
  );
  return row as Woken;
}

async function restartPostgres(world: World, times: number): Promise<void> {
  for (let done = 0; done < times; done++) {
    await sleep(world.random.between(5000, 15_000));
    await world.stores.postgres.kill('SIGQUIT');
    world.fault('stop');
    await sleep(2000);
    await world.stores.postgres.start();
  }
}

export const timersUnderKills: Scenario = {
  id: 'R49',
  title: 'timers of snoozed conversations while workers are killed and PostgreSQL restarts',
  load: '1,000 snoozed conversations due within a minute, two workers',
  faults: '10 × SIGKILL of either worker, 0.5 to 3 s apart, and 2 × immediate stop of PostgreSQL, 2 s down each',
  backends: BOTH,
  quick: POSTGRES_ONLY,
  async run(world) {
    const count = world.sized(1000, 200);
    await world.start('serve');
    const workers = [await world.start('work'), await world.start('work')];
    const tenant = await world.addTenant();
    await snooze(world, tenant, count);
    const startedAt = Date.now();
    await Promise.all([killInTurns(world, workers, world.sized(10, 3)), restartPostgres(world, world.sized(2))]);
    const backAt = Math.max(Date.now(), startedAt + SPREAD_S * 1000);
    let woken = await readWoken(world, tenant);
    while (woken.snoozed > 0 && Date.now() < backAt + 120_000) {
      await sleep(200);
      woken = await readWoken(world, tenant);
    }
    world.recovered(Date.now() - backAt);
    world.mustTake('the last timer is late once everything is back', Date.now() - backAt, 15_000);
    world.must(
      'each conversation is woken once, with one event by the system',
      woken.snoozed === 0 && [woken.events, woken.conversations, woken.by_system].every(number => number === count),
      JSON.stringify(woken),
    );
  },
};
