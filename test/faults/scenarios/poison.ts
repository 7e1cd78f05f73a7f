import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../support/wait.ts';
import { readLedger } from '../ledger.ts';
import { tally } from '../load.ts';
import { BOTH, type Scenario, VALKEY_ONLY } from '../scenario.ts';
import type { FaultTenant, World } from '../world.ts';

const BATCH = 10;
const PRELOAD = ['--import', new URL('../poison.ts', import.meta.url).pathname];
/** The time limit for poisoned answers: three loops of a minute, each run by more than one worker. */
const SETTLED_WITHIN_MS = 600_000;

/** Poisoned answers by number, with the kind of poison. */
function choosePoison(world: World, answers: number): Map<number, string> {
  const poison = new Map<number, string>();
  const add = (marker: string, count: number) => {
    while (count > 0) {
      const place = world.random.whole(0, answers - 1);
      if (poison.has(place)) continue;
      poison.set(place, marker);
      count--;
    }
  };
  add('poison:throw', world.sized(100, 3));
  add('poison:kill', world.sized(3));
  add('poison:loop', world.sized(3));
  return poison;
}

interface Quarantined {
  id: string;
  reason: string;
  payload: { comment: string | null };
}

/** A tenant's quarantine, read over the API. */
async function listQuarantine(world: World, { apiKey }: FaultTenant): Promise<Quarantined[]> {
  const found: Quarantined[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const reply = await world.request(`${world.apis()[0]}/v1/quarantine?limit=100${query}`, { as: apiKey });
    const page: { data: Quarantined[]; next_cursor: string | null } = JSON.parse(reply.body);
    found.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor);
  return found;
}

export const poisonedPayloads: Scenario = {
  id: 'R3',
  title: 'answers that kill, block or break the worker',
  load: '10,000 answers in requests of 10: 100 that make the code throw, 3 that kill the process, 3 that block it for 60 s',
  faults: 'the poison itself; two workers that are started again whenever they end',
  backends: BOTH,
  quick: VALKEY_ONLY,
  async run(world) {
    await world.start('serve');
    const workers = [
      await world.start('work', { nodeArgs: PRELOAD }),
      await world.start('work', { nodeArgs: PRELOAD }),
    ];
    for (const worker of workers) worker.supervise(true);
    const tenant = await world.addTenant();
    const requests = world.sized(1000);
    const poison = choosePoison(world, requests * BATCH);
    const load = world.load({
      batch: BATCH,
      lanes: 20,
      perSecond: 60,
      requests,
      fields: (request, place) => ({ comment: poison.get(request * BATCH + place) ?? null }),
    });
    await load.finished;
    const loaded = Date.now();
    world.fault('injected', poison.size);
    await world.drained(SETTLED_WITHIN_MS);
    world.recovered(Date.now() - loaded);
    const restarts = workers.reduce((sum, worker) => sum + worker.restarts(), 0);
    world.fault('kill', restarts);

    const quarantined = await listQuarantine(world, tenant);
    const isPoison = ({ payload }: Quarantined) => payload.comment?.startsWith('poison:') ?? false;
    const good = requests * BATCH - poison.size;
    const [{ count } = { count: '' }] = await world.query<{ count: string }>(
      "select count(*) from answers where comment is null or comment not like 'poison:%'",
    );
    world.must('every good answer is stored', Number(count) === good, `${count} of ${good}`);
    world.must(
      'no good answer is in the quarantine',
      quarantined.every(isPoison),
      quarantined.filter(each => !isPoison(each)).length,
    );
    world.must(
      'every poisoned answer is in the quarantine with a reason',
      quarantined.length === poison.size && quarantined.every(({ reason }) => reason !== ''),
      `${quarantined.length} of ${poison.size}, ${[...new Set(quarantined.map(({ reason }) => reason))]}`,
    );
    world.must('workers were started again at most 20 times', restarts <= 20, restarts);
    world.must('no request failed', tally(load.replies) === `202: ${requests}`, tally(load.replies));
    await replayAll(world, tenant, quarantined);
  },
};

/** Removes the poison, as a fixed version would, and replays the quarantine through the queue. */
async function replayAll(world: World, tenant: FaultTenant, quarantined: Quarantined[]): Promise<void> {
  for (const unit of world.units.filter(({ role }) => role === 'work')) {
    unit.supervise(false);
    unit.signal('SIGKILL');
  }
  await world.start('work');
  for (const { id } of quarantined)
    await world.request(`${world.apis()[0]}/v1/quarantine/${id}/replay`, { method: 'POST', as: tenant.apiKey });
  await sleep(100);
  await world.drained();
  const left = await waitFor(async () => {
    const entries = await listQuarantine(world, tenant);
    return { count: entries.length };
  });
  const [{ count } = { count: '' }] = await world.query<{ count: string }>('select count(*) from answers');
  const sent = (await readLedger(world.ledger.path)).length;
  world.must(
    'after the mend a replay stores them all',
    left.count === 0 && Number(count) === sent,
    `${left.count} left, ${count} of ${sent} stored`,
  );
}
