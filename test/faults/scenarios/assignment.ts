import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BOTH, POSTGRES_ONLY, type Scenario } from '../scenario.ts';
import type { FaultTenant, World } from '../world.ts';
import { killInTurns } from './process-kills.ts';

const AGENTS = 5;
const CAPACITY = 10;

/** Inserts members, a rule that assigns to them in turn, and open conversations. */
async function openConversations(world: World, { uuid }: FaultTenant, count: number): Promise<void> {
  const agents = Array.from({ length: AGENTS }, () => randomUUID());
  await world.query(
    `insert into members (tenant_id, id, account_id, role, capacity, created_at)
     select $1, id, gen_random_uuid(), 'agent', $3, now() from unnest($2::uuid[]) as id`,
    [uuid, agents, CAPACITY],
  );
  const rule = { id: randomUUID(), name: 'All', when: {}, then: { assign: { round_robin: agents } } };
  await world.query(`insert into assignment_rules (tenant_id, version, rules, turns) values ($1, 1, $2::jsonb, '{}')`, [
    uuid,
    JSON.stringify([rule]),
  ]);
  await world.query(
    `insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, tags, source_type,
       last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread, team_unread,
       created_at, updated_at, team_updated_at, last_activity_at)
     select $1, gen_random_uuid(), 'user|' || n, true, '', 'open', 'none', '{}', 'user', 1, 0, 'Hello', 'user', 1, 0, 0, 1,
       now(), now(), now(), now() from generate_series(1, $2::int) n`,
    [uuid, count],
  );
  await world.query("select mark_tenant($1, 'assignment')", [uuid]);
}

interface Held {
  /** The number of open conversations of each agent who has any, most first. */
  loads: number[];
  open: number;
  /** Assignments by the events, and the conversations that they belong to. */
  assigned: number;
  conversations: number;
}

async function readHeld(world: World, { uuid }: FaultTenant): Promise<Held> {
  const [row] = await world.query<Held>(
    `select array(select count(*)::int from conversations
         where tenant_id = $1 and status = 'open' and assignee_id is not null group by assignee_id order by 1 desc) as loads,
       (select count(*)::int from conversations where tenant_id = $1 and status = 'open') as open,
       count(*)::int as assigned, count(distinct conversation_id)::int as conversations
     from messages where tenant_id = $1 and event->>'field' = 'assignee_id' and event->>'to' is not null`,
    [uuid],
  );
  return row as Held;
}

/**
 * Resolves one assigned conversation after another, so that places become free while workers are killed. It marks the tenant,
 * as every write of the API does after which there may be something to assign.
 */
async function resolveSome(world: World, { uuid }: FaultTenant, count: number): Promise<void> {
  for (let done = 0; done < count; ) {
    await sleep(world.random.between(100, 600));
    const rows = await world.query(
      `with resolved as (
         update conversations set status = 'resolved' where tenant_id = $1 and id = (
           select id from conversations where tenant_id = $1 and status = 'open' and assignee_id is not null limit 1)
         returning id
       ) select mark_tenant($1, 'assignment') from resolved`,
      [uuid],
    );
    done += rows.length;
  }
}

export const assignmentUnderKills: Scenario = {
  id: 'R50',
  title: 'assignment of conversations up to the capacity of members while workers are killed',
  load: '100 conversations at once for five members with a capacity of ten, two workers; 30 are resolved one by one',
  faults: '10 × SIGKILL of either worker, 0.5 to 3 s apart',
  backends: BOTH,
  quick: POSTGRES_ONLY,
  async run(world) {
    await world.start('serve');
    const workers = [await world.start('work'), await world.start('work')];
    const tenant = await world.addTenant();
    const resolved = world.sized(30, 10);
    await openConversations(world, tenant, 100);
    let most = 0;
    const watching = { ended: false };
    const watch = (async () => {
      for (; !watching.ended; await sleep(100)) most = Math.max(most, ...(await readHeld(world, tenant)).loads);
    })();
    await Promise.all([killInTurns(world, workers, world.sized(10, 3)), resolveSome(world, tenant, resolved)]);
    const backAt = Date.now();
    const isFull = ({ loads }: Held) => loads.length === AGENTS && loads.every(load => load === CAPACITY);
    let held = await readHeld(world, tenant);
    while (!isFull(held) && Date.now() < backAt + 60_000) {
      await sleep(100);
      held = await readHeld(world, tenant);
    }
    world.recovered(Date.now() - backAt);
    watching.ended = true;
    await watch;
    world.must(
      'every place is taken, and none twice',
      isFull(held) && most <= CAPACITY,
      JSON.stringify({ ...held, most }),
    );
    world.must(
      'each conversation is assigned once, with one event',
      held.assigned === AGENTS * CAPACITY + resolved && held.conversations === held.assigned,
      JSON.stringify(held),
    );
    world.mustTake('the last free place is taken once everything is back', Date.now() - backAt, 15_000);
  },
};
