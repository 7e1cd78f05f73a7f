import { setTimeout as sleep } from 'node:timers/promises';
import { v7 } from 'uuid';
import { createLog } from '../../../src/platform/log.ts';
import { connectQueue } from '../../../src/queue/connection.ts';
import type { RecordAnswers } from '../../../src/queue/jobs.ts';
import { NEEDED_SCHEMA } from '../../../src/storage/migrations/index.ts';
import { anAcceptedAnswer } from '../../support/make.ts';
import { runCommand } from '../../support/process.ts';
import { waitFor } from '../../support/wait.ts';
import { tally } from '../load.ts';
import { BOTH, POSTGRES_ONLY, type Scenario } from '../scenario.ts';
import { startUnit } from '../units.ts';
import { startProbe, startWatch } from '../watch.ts';
import type { World } from '../world.ts';

const NEXT_VERSION = ['--import', new URL('../next-version.ts', import.meta.url).pathname];
const JOB_OPTIONS = {
  attempts: 1_000_000_000,
  backoff: { type: 'outage' },
  removeOnComplete: true,
  removeOnFail: false,
};

/** Adds jobs of version 2 to the queue, like an API of the next version, and to the ledger. */
async function enqueueNext(world: World, tenant: string, jobs: number): Promise<void> {
  const { postgres, valkey } = world.stores;
  const connection = connectQueue({ databaseUrl: postgres.url, redisUrl: valkey?.url }, createLog('silent', 'faults'));
  try {
    if (connection.redis) await waitFor(() => connection.redis?.status === 'ready');
    for (let job = 0; job < jobs; job++) {
      const answers = Array.from({ length: 5 }, () =>
        anAcceptedAnswer({ tenant_id: tenant, identity: `user|next-${job}`, content_hash: v7() }),
      );
      const flush = v7();
      const payload = { v: 2, flush, answers, added_later: true } as unknown as RecordAnswers;
      const request = await world.ledger.before(tenant, answers);
      await connection.queue().add('answers.record', payload, { ...JOB_OPTIONS, jobId: flush });
      await world.ledger.after(request, 202);
    }
  } finally {
    await connection.close();
  }
}

export const versionSkew: Scenario = {
  id: 'R23',
  title: 'two versions side by side',
  load: '2,500 jobs of this version and 2,500 of the next one, of 5 answers each',
  faults: 'a worker of this version alone at first, then one of the next version beside it, then that one alone',
  backends: BOTH,
  async run(world) {
    await world.start('serve');
    const old = await world.start('work');
    const tenant = await world.addTenant();
    const load = world.load({ batch: 5, lanes: 2, requests: world.sized(2500) });
    await enqueueNext(world, tenant.uuid, world.sized(2500));
    await load.finished;
    await sleep(500);
    const before = await world.backlog();
    world.must(
      'jobs of the next version wait for a worker that knows them',
      (before.failed ?? 0) === 0 && (before.delayed ?? 0) > 0,
      JSON.stringify(before),
    );
    await world.start('work', { nodeArgs: NEXT_VERSION });
    await sleep(world.sized(20_000, 3000));
    const code = await old.end('SIGTERM'); // the end of a rollout; until then each worker may get a job of the other version
    world.fault('stop');
    world.must('the worker of this version ends in order', code === 0, `code ${code}`);
    world.recovered(await world.drained(300_000));
    world.must(
      'no request failed',
      load.replies.every(({ status }) => status === 202),
      tally(load.replies),
    );
  },
};

/** Adds the answers of a used installation, under a tenant that this trial does not use. */
const fillTable = (world: World, rows: number) =>
  world.query(
    `insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision, state,
       "values", metadata, content_hash, tags, received_at, stored_at, updated_at)
     select $1, gen_random_uuid(), 'user|' || n, true, gen_random_uuid(), gen_random_uuid(), 1, 1, 'completed',
       '{"main": 9}', '{}', '', '{}', now(), now(), now() from generate_series(1, $2::int) n`,
    [world.strangers, rows],
  );

/** The time for which a session has held an exclusive lock on the answers, in seconds. */
const exclusiveSeconds = async (world: World): Promise<number> => {
  const [row] = await world.query<{ seconds: number | null }>(
    `select extract(epoch from max(clock_timestamp() - state_change))::float as seconds
     from pg_locks join pg_stat_activity using (pid)
     where relation = 'answers'::regclass and mode = 'AccessExclusiveLock' and granted`,
  );
  return row?.seconds ?? 0;
};

export const migrationUnderLoad: Scenario = {
  id: 'R22',
  title: 'a migration under load, killed once, run by two at once',
  load: '1,000,000 answers already there; 200 requests/s of one answer and a reader, on code of the version before',
  faults: 'migrate of a next version: SIGKILL in the middle, then two at once; the old code goes on for 60 s',
  backends: POSTGRES_ONLY,
  async run(world) {
    await fillTable(world, world.sized(1_000_000));
    const api = await world.start('serve');
    await world.start('work');
    const { apiKey } = await world.addTenant();
    const load = world.load({ batch: 1, lanes: 40, perSecond: 200 });
    const reads = startProbe(world, `${api.baseUrl}/v1/answers?limit=20`, { as: apiKey });
    const locks = startWatch(world, 100, () => exclusiveSeconds(world));
    await sleep(2000);
    const isSleeping = async () =>
      (await world.query("select from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'"))
        .length > 0;
    const killed = await startUnit('migrate', { environment: world.environment(), nodeArgs: NEXT_VERSION });
    await waitFor(isSleeping);
    await killed.end('SIGKILL');
    world.fault('kill');
    const twoAtOnce = await Promise.all(
      [1, 2].map(() => runCommand(['migrate'], world.environment(), '', NEXT_VERSION)),
    );
    const applied = twoAtOnce.flatMap(({ code, stdout }) =>
      code === 0 ? JSON.parse(stdout).applied : [`code ${code}`],
    );
    const [state] = await world.query<{ version: number }>('select max(version) as version from schema_state');
    world.must(
      'of two migrators one does it, also after one was killed',
      applied.join() === '29991231-next' && state?.version === NEEDED_SCHEMA + 1,
      `applied: ${applied}`,
    );
    await sleep(world.sized(60_000, 5000));
    await load.stop();
    const failedReads = (await reads.stop()).filter(({ status }) => status !== 200);
    const longest = Math.max(...(await locks.stop()));
    world.must(
      'no request fails',
      load.replies.every(({ status }) => status === 202),
      tally(load.replies),
    );
    world.must('no read fails', failedReads.length === 0, failedReads.length);
    world.must('nobody is locked out for more than 2 s', longest <= 2, `${longest.toFixed(1)} s`);
  },
};
