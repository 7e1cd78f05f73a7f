import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../../../src/platform/postgres-client.ts';
import { waitFor } from '../../support/wait.ts';
import { tally } from '../load.ts';
import { BOTH, mustTakeOrRefuse, type Scenario, VALKEY_ONLY } from '../scenario.ts';
import { slowest, startProbe, startWatch } from '../watch.ts';

const BACKLOG_LIMIT = 100_000;

export const postgresAway: Scenario = {
  id: 'R11',
  title: 'PostgreSQL away for ten minutes',
  load: `200 requests/s of one answer, until and beyond QUEUE_MAX_JOBS (${BACKLOG_LIMIT.toLocaleString('en-US')}, or as much less as the size)`,
  faults: 'PostgreSQL stopped for 600 s times the size, then started',
  backends: VALKEY_ONLY,
  async run(world) {
    const limit = world.sized(BACKLOG_LIMIT, 100);
    const environment = { QUEUE_MAX_JOBS: String(limit) };
    const api = await world.start('serve', { environment });
    await world.start('work', { environment });
    await world.addTenant();
    const before = world.load({ batch: 1, lanes: 1, requests: 50 });
    await before.finished;
    await world.stores.postgres.kill('SIGINT');
    world.fault('stop');
    const stoppedAt = Date.now();
    const load = world.load({ batch: 1, lanes: 100, perSecond: 200 });
    await sleep(3000);
    const countBacklog = async () => Object.values(await world.backlog()).reduce((sum, jobs) => sum + jobs, 0);
    const backlog = startWatch(world, 1000, countBacklog);
    const memory = startWatch(world, 1000, () => api.residentMb());
    const scrapes = startProbe(world, `${api.metricsUrl}/metrics`, { everyMs: 5000 });
    await sleep(world.sized(600_000) - 3000);
    world.progress(`${load.acknowledged()} answers taken while PostgreSQL was away`);
    await load.stop();
    const waiting = await countBacklog();
    await world.stores.postgres.start();
    const returned = Date.now();
    const scraped = await scrapes.stop();
    world.note(`PostgreSQL was away for ${Math.round((returned - stoppedAt) / 1000)} s`);
    const most = Math.max(...(await backlog.stop()));
    await world.drained(300_000);
    const drainMs = Date.now() - returned;
    world.recovered(drainMs);
    const rate = Math.round((load.acknowledged() / drainMs) * 1000);
    const megabytes = await memory.stop();
    const settled = megabytes.slice(Math.floor(megabytes.length / 2)); // the first half is warm-up
    const spread = Math.max(...settled) - Math.min(...settled);
    world.must('the backlog stays at its limit', most <= limit * 1.02 + 250, `${most} of ${limit} jobs`);
    world.must(
      'beyond it answers are refused with 503',
      load.replies.some(reply => reply.status === 503) || most < limit,
      tally(load.replies),
    );
    world.must(
      'at least 1,000 answers a second are worked off',
      rate >= 1000,
      `${load.acknowledged()} in ${waiting} jobs, in ${drainMs} ms: ${rate}/s`,
    );
    world.must(
      'Prometheus gets its metrics within 5 s',
      scraped.every(({ status }) => status === 200) && slowest(scraped) <= 5000,
      `slowest ${slowest(scraped)} ms`,
    );
    world.must(
      'the memory of the API is flat (± 50 MB)',
      spread <= 100,
      `${Math.min(...settled).toFixed(0)} to ${Math.max(...settled).toFixed(0)} MB`,
    );
  },
};

export const slowPostgres: Scenario = {
  id: 'R12',
  title: 'PostgreSQL slow, and the table locked',
  load: '300 answers/s in requests of 10, and 40 readers',
  faults: '100 ms more in each direction for 60 s, then 30 s in which the answers are locked',
  backends: BOTH,
  exclusive: true,
  async run(world) {
    const { url } = world.stores.postgres;
    const proxy = await world.proxy(url);
    const environment = { DATABASE_URL: proxy.through(url), DATABASE_POOL: '5' };
    const api = await world.start('serve', { environment });
    const worker = await world.start('work', { environment });
    const { apiKey } = await world.addTenant();
    const load = world.load({ batch: 10, lanes: 30, perSecond: 30 });
    const poolWait = () => api.metric('parley_db_pool_wait_seconds_sum');
    const waitedBefore = await poolWait();
    proxy.delay(100);
    world.fault('injected');
    const lag = startWatch(world, 1000, () => api.metric('nodejs_eventloop_lag_p99_seconds'));
    const reads = Array.from({ length: 40 }, () =>
      startWatch(world, 10, () =>
        world.request(`${api.baseUrl}/v1/answers?limit=1`, { as: apiKey, timeoutMs: 30_000 }),
      ),
    );
    await sleep(world.sized(60_000, 5000));
    await Promise.all(reads.map(reading => reading.stop()));
    proxy.delay(0);
    const waited = (await poolWait()) - waitedBefore;

    const longest = startWatch(world, 500, () => longestStatement(url));
    world.fault('injected');
    await withClient(url, async client => {
      await client.query('begin');
      await client.query('lock table answers in access exclusive mode');
      await sleep(world.sized(30_000, 12_000));
      await client.query('commit');
    });
    const unlocked = Date.now();
    await load.stop();
    await world.drained();
    world.recovered(Date.now() - unlocked);
    const longestSeconds = Math.max(...(await longest.stop()));
    const lagMs = Math.max(...(await lag.stop())) * 1000;
    const stalled = await worker.metric('parley_jobs_stalled_total');
    world.must('no job stalls', stalled === 0, stalled);
    world.must('the wait for connections shows in the metrics', waited > 1, `${waited.toFixed(1)} s`);
    world.must('the event loop of the API lags less than 100 ms (p99)', lagMs < 100, `${lagMs.toFixed(1)} ms`);
    world.must('no statement runs longer than 10 s', longestSeconds <= 10.5, `${longestSeconds.toFixed(1)} s`);
    world.must(
      'intake goes on',
      load.replies.every(reply => reply.status === 202),
      tally(load.replies),
    );
  },
};

/** The runtime of our oldest running statement, in seconds. */
const longestStatement = (url: string): Promise<number> =>
  withClient(url, async client => {
    const { rows } = await client.query<{ seconds: string | null }>(
      `select extract(epoch from max(clock_timestamp() - query_start)) as seconds from pg_stat_activity
       where state = 'active' and application_name in ('parley_app', 'parley_worker')`,
    );
    return Number(rows[0]?.seconds ?? 0);
  });

export const postgresDisk: Scenario = {
  id: 'R14',
  title: 'the disk of PostgreSQL full',
  load: '500 answers/s in requests of 10',
  faults: 'its file system is filled up under load, three times, and freed 5 s later',
  backends: BOTH,
  stores: () => ({ postgres: { diskMegabytes: 400 } }),
  async run(world) {
    await world.start('serve');
    const worker = await world.start('work');
    await world.addTenant();
    const { postgres } = world.stores;
    const load = world.load({ batch: 10, lanes: 30, perSecond: 50 });
    const failuresOfWorker = async () =>
      (await worker.metric('parley_db_errors_total')) + (await worker.metric('parley_job_retries_total'));
    for (let round = 0; round < 3; round++) {
      await sleep(world.random.between(1000, 2000));
      const before = await failuresOfWorker();
      await postgres.disk().fill(); // until no space is left
      world.fault('injected');
      const filledAt = Date.now();
      const hurts = async () =>
        (await failuresOfWorker()) > before ||
        !(await postgres.isRunning()) ||
        load.replies.some(reply => reply.status === 503 && reply.at > filledAt);
      await waitFor(hurts, 120_000);
      await sleep(5000);
      await postgres.disk().free();
      if (!(await postgres.isRunning())) await postgres.start();
      world.recovered(await world.awaitIntake(load, Date.now()));
    }
    await load.stop();
    const drainMs = await world.drained(120_000);
    world.note(`the backlog was worked off in ${drainMs} ms`);
    const [{ count } = { count: '' }] = await world.query<{ count: string }>(
      'select count(*) from quarantined_answers',
    );
    world.must('nothing goes to the quarantine', count === '0', count);
    mustTakeOrRefuse(world, load);
  },
};
