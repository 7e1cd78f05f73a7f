import { setTimeout as sleep } from 'node:timers/promises';
import { percentile, tally } from '../load.ts';
import { BOTH, POSTGRES_ONLY, type Scenario } from '../scenario.ts';
import { startWatch } from '../watch.ts';
import type { FaultTenant, World } from '../world.ts';

const CLOCK = ['--import', new URL('../clock.ts', import.meta.url).pathname];
const MINUTE_S = 60;

interface Listed {
  id: string;
}

/** All ids of a list, page by page, in order. */
async function readAll(world: World, url: string, apiKey: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const reply = await world.request(`${url}${query}`, { as: apiKey, timeoutMs: 20_000 });
    if (reply.status !== 200) throw new Error(`a page got ${reply.status}: ${reply.body}`);
    const page: { data: Listed[]; next_cursor: string | null } = JSON.parse(reply.body);
    ids.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor);
  return ids;
}

const repeats = (ids: string[]): number => ids.length - new Set(ids).size;

/** The status of a read with an access token that expires in this number of seconds. */
async function tokenStatus(world: World, tenant: FaultTenant, baseUrl: string, secondsLeft: number): Promise<number> {
  const exp = Math.floor(Date.now() / 1000) + secondsLeft;
  const token = await tenant.tenant.sign('user|1', { claims: { exp } });
  return (await world.request(`${baseUrl}/v1/cards`, { as: token })).status;
}

/** Tests tokens with clocks that are wrong by ten minutes: 60 s of leeway and a lifetime of at most an hour apply. */
async function tryWrongClocks(world: World, tenant: FaultTenant): Promise<void> {
  const clocks = [
    { shift: -10, taken: 49, refused: 52 },
    { shift: 10, taken: 10, refused: 8 },
  ];
  for (const { shift, taken, refused } of clocks) {
    const environment = { CLOCK_SHIFT_MS: String(shift * MINUTE_S * 1000) };
    const api = await world.start('serve', { environment, nodeArgs: CLOCK });
    world.fault('injected');
    const statuses = [
      await tokenStatus(world, tenant, api.baseUrl, taken * MINUTE_S),
      await tokenStatus(world, tenant, api.baseUrl, refused * MINUTE_S),
    ];
    await api.end('SIGTERM');
    world.must(
      `with its clock ${shift} minutes off an API takes and refuses tokens by that clock, with 60 s leeway`,
      statuses.join() === '200,401',
      `${taken} min left: ${statuses[0]}, ${refused} min left: ${statuses[1]}`,
    );
  }
}

export const wrongClocks: Scenario = {
  id: 'R25',
  title: 'clocks that are wrong or step back',
  load: '5,000 answers in requests of 10 through an API whose clock steps back by 1 s a hundred times a second',
  faults: 'the clock of the API 10 minutes slow, 10 minutes fast, and stepping',
  backends: POSTGRES_ONLY,
  async run(world) {
    const sound = await world.start('serve');
    await world.start('work');
    const tenant = await world.addTenant();
    await tryWrongClocks(world, tenant);
    const stepping = await world.start('serve', { environment: { CLOCK_STEPS_HZ: '100' }, nodeArgs: CLOCK });
    world.fault('injected');
    const load = world.load({
      batch: 10,
      lanes: 10,
      requests: world.sized(500),
      addresses: () => [stepping.baseUrl],
    });
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const incremental = startWatch(world, 200, async () =>
      repeats(await readAll(world, `${sound.baseUrl}/v1/answers?limit=100&updated_since=${since}`, tenant.apiKey)),
    );
    await load.finished;
    await world.drained();
    const repeated = (await incremental.stop()).reduce((sum, count) => sum + count, 0);
    const listed = await readAll(world, `${stepping.baseUrl}/v1/answers?limit=100`, tenant.apiKey);
    world.must(
      'a list read page by page repeats and skips nothing',
      repeats(listed) === 0 && listed.length === load.acknowledged(),
      `${listed.length} of ${load.acknowledged()}, ${repeats(listed)} repeated`,
    );
    world.must(
      'nor does an incremental read while answers arrive',
      repeated === 0,
      `${repeated} in ${incremental.values.length} reads`,
    );
    world.must(
      'no request failed',
      load.replies.every(({ status }) => status === 202),
      tally(load.replies),
    );
  },
};

/** Inserts copies of one conversation of the tenant with different times. */
const copyConversations = (world: World, tenant: FaultTenant, count: number) =>
  world.query(
    `insert into conversations
     select (jsonb_populate_record(null::conversations, to_jsonb(one) || jsonb_build_object(
       'id', gen_random_uuid(), 'last_activity_at', now() - n * interval '1 second'))).*
     from (select * from conversations where tenant_id = $1 limit 1) one, generate_series(1, $2::int) n`,
    [tenant.uuid, count],
  );

export const pagesUnderWrites: Scenario = {
  id: 'R26',
  title: 'lists read page by page while they change',
  load: '20 readers page through 50,000 conversations',
  faults: '100 conversations a second made and others deleted',
  backends: POSTGRES_ONLY,
  async run(world) {
    const api = await world.start('serve');
    await world.start('work');
    const tenant = await world.addTenant();
    const create = () =>
      world.request(`${api.baseUrl}/v1/conversations`, {
        method: 'POST',
        as: tenant.apiKey,
        body: { identity: 'user|1', message: 'Hello' },
      });
    const first = await create();
    if (first.status !== 201) throw new Error(`a conversation got ${first.status}: ${first.body}`);
    await copyConversations(world, tenant, world.sized(50_000));
    const rows = await world.query<{ id: string }>('select id from conversations where tenant_id = $1', [tenant.uuid]);
    const doomed = rows.slice(0, rows.length / 2);
    let made = 0;
    let deleted = 0;
    const writes = startWatch(world, 20, async () => {
      if ((await create()).status === 201) made++;
      const victim = doomed.pop();
      if (!victim) return;
      await world.query('delete from conversations where tenant_id = $1 and id = $2', [tenant.uuid, victim.id]);
      deleted++;
    });
    const lists = await Promise.all(
      Array.from({ length: 20 }, () => readAll(world, `${api.baseUrl}/v1/conversations?limit=100`, tenant.apiKey)),
    );
    await writes.stop();
    world.fault('injected', made + deleted);
    const survivors = await world.query<{ id: string }>(
      `select id from conversations where tenant_id = $1 and id = any($2::uuid[])`,
      [tenant.uuid, rows.map(({ id }) => id)],
    );
    const wireIds = lists.map(list => new Set(list));
    const missing = survivors.reduce(
      (sum, { id }) => sum + wireIds.filter(list => !list.has(world.wireId('conversation', id))).length,
      0,
    );
    world.must(
      'no reader sees a conversation twice',
      lists.every(list => repeats(list) === 0),
      lists.map(repeats).join(),
    );
    world.must(
      'no reader misses one that was there throughout',
      missing === 0,
      `${missing} missing of ${survivors.length} in 20 lists`,
    );
    world.note(`${made} made and ${deleted} deleted meanwhile`);
  },
};

/** The least-squares slope of values sampled at equal intervals, per ten minutes. */
function slopePerTenMinutes(values: readonly number[], everyMs: number): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const [over, under] = values.reduce<[number, number]>(
    ([above, below], value, place) => [above + (place - middle) * (value - mean), below + (place - middle) ** 2],
    [0, 0],
  );
  return (over / under) * (600_000 / everyMs);
}

export const soak: Scenario = {
  id: 'R27',
  title: 'soak at half capacity',
  load: 'half of what 32 clients got through, in requests of 10 answers, for 30 minutes (the list asks for two hours)',
  faults: 'time',
  backends: BOTH,
  onRequest: true,
  exclusive: true,
  async run(world) {
    const units = [await world.start('serve'), await world.start('work')];
    await world.addTenant();
    const burst = world.load({ batch: 10, lanes: 32 });
    await sleep(10_000);
    await burst.stop();
    await world.drained(120_000);
    const capacity = burst.replies.length / 10;
    const load = world.load({ batch: 10, lanes: 64, perSecond: capacity / 2 });
    const everyMs = 5000;
    const memory = units.map(unit => startWatch(world, everyMs, () => unit.residentMb()));
    const files = units.map(unit => startWatch(world, everyMs, () => unit.openFiles()));
    const jobs = startWatch(world, everyMs, async () =>
      Object.values(await world.backlog()).reduce((sum, count) => sum + count, 0),
    );
    const until = Date.now() + world.sized(1_800_000, 60_000);
    for (let minute = 1; Date.now() < until; minute++) {
      await sleep(Math.min(60_000, until - Date.now()));
      world.progress(
        `${minute} min: ${load.acknowledged()} answers, ${units.map(unit => `${unit.role} ${unit.residentMb().toFixed(0)} MB`).join(', ')}`,
      );
    }
    await load.stop();
    for (const [place, unit] of units.entries()) {
      const megabytes = (await memory[place]?.stop()) ?? [];
      const slope = slopePerTenMinutes(megabytes.slice(Math.floor(megabytes.length / 3)), everyMs); // the first third is warm-up
      const open = (await files[place]?.stop()) ?? [];
      const late = open.slice(Math.floor(open.length / 3));
      world.must(`the memory of ${unit.role} grows less than 1 MB in ten minutes`, slope < 1, `${slope.toFixed(2)} MB`);
      // The number of client connections varies with each pause of the machine, so the slope counts instead of the
      // range.
      const filesSlope = slopePerTenMinutes(late, everyMs);
      world.must(
        `${unit.role} holds no more and more files`,
        filesSlope < 2,
        `${filesSlope.toFixed(2)} in ten minutes; ${Math.min(...late)} to ${Math.max(...late)}`,
      );
    }
    const waiting = percentile([...(await jobs.stop())], 1);
    world.must('the queue stays short', waiting <= 1000, `at most ${waiting} jobs`);
    world.must(
      'no request fails',
      load.replies.every(({ status }) => status === 202),
      tally(load.replies),
    );
  },
};
