import { v7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Problem } from '../../src/domain/problem.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createAdmission } from '../../src/queue/admission.ts';
import { connectQueue } from '../../src/queue/connection.ts';
import { openConsumer } from '../../src/queue/consumer.ts';
import { type Handlers, type RecordAnswers, TENANT_JOBS, type TenantJob, TenantPayload } from '../../src/queue/jobs.ts';
import { openProducer } from '../../src/queue/producer.ts';
import { createStoreCheck } from '../../src/queue/store-check.ts';
import { MAX_JOBS_OF_TENANT } from '../../src/queue/tenant-jobs.ts';
import { createRecordAnswers } from '../../src/worker/handlers/answers.ts';
import { backends, createApi, type TestApi, waitFor } from '../support/api.ts';
import { anAcceptedAnswer, answerTo, makeTenant, publishQuestion } from '../support/make.ts';

/** A second type of job. Its payload has a field with the name of a flush's answers. */
const BuildReport = TenantPayload.extend({
  report_id: z.uuid(),
  answers: z.array(z.object({ tenant_id: z.uuid(), received_at: z.string() })).default([]),
});
type BuildReport = z.infer<typeof BuildReport>;
const buildReport: TenantJob<'reports.build', BuildReport> = {
  name: 'reports.build',
  queue: 'reports',
  payload: BuildReport,
};
const registered = TENANT_JOBS as unknown as TenantJob[];
registered.push(buildReport);

const report = (tenant_id: string): BuildReport => ({
  v: 1,
  tenant_id,
  report_id: v7(),
  answers: [{ tenant_id, received_at: new Date().toISOString() }],
});

/** Ends the delay of a job, unless it has ended. */
const promote = (job: { promote(): Promise<void> } | undefined) => job?.promote().catch(() => undefined);

const log = createLog('silent', 'test');
const never = async () => expect.unreachable();

/** The two ends of the queue of an API, whose worker has a handler for the second type of job. */
async function openQueue(api: TestApi, build: (payload: BuildReport) => Promise<void> = never) {
  const target = { databaseUrl: api.database.url, redisUrl: api.config.REDIS_URL };
  const connection = connectQueue(target, log);
  const { redis } = connection;
  if (redis) await waitFor(() => redis.status === 'ready');
  const producer = openProducer(target, api.config, log, createMetrics('serve'));
  await waitFor(() => producer.health().reasons.length === 0);
  const storage = api.database.storage('parley_worker');
  const metrics = createMetrics('work');
  const stored: string[] = [];
  const recordAnswers = createRecordAnswers({ storage, metrics, log });
  const handlers = {
    'answers.record': async (flush: RecordAnswers) => {
      await recordAnswers(flush);
      stored.push(flush.flush);
    },
    'answers.isolated': never,
    'reports.build': build,
  } as Partial<Handlers> as Handlers;
  return {
    connection,
    target,
    producer,
    stored,
    metrics,
    add: (tenantId: string, id: string = v7()) => producer.addJob(buildReport, id, report(tenantId)),
    /** A worker until its disposal. */
    async startWorker() {
      const suspects = { recordInSandbox: never, quarantine: never };
      const deps = { log, metrics, signal: new AbortController().signal };
      const consumer = await openConsumer(target, handlers, suspects, deps);
      return { [Symbol.asyncDispose]: async () => consumer?.close() };
    },
    jobs: () => connection.queue('reports').getJobs(['waiting', 'prioritized', 'delayed', 'active', 'failed'], 0, -1),
    async [Symbol.asyncDispose]() {
      await producer.close();
      await connection.close();
    },
  };
}

describe.each(backends())('a tenant job with the queue in %s', backend => {
  test('is processed by its own handler, with the rows of its tenant, while answers are stored', async () => {
    await using api = await createApi({ backend });
    const [one, other] = [await makeTenant(api), await makeTenant(api)];
    await publishQuestion(api, one);
    const seen = new Map<string, number>();
    const storage = api.database.storage();
    await using queue = await openQueue(api, async ({ tenant_id }) => {
      const [row] = await storage.forTenant(tenant_id).query<{ count: number }>(
        'select count(*)::int as count from questions', // row-level security selects the tenant's
      );
      seen.set(tenant_id, row?.count ?? -1);
    });
    await using _worker = await queue.startWorker();
    await queue.producer.enqueue([anAcceptedAnswer({ tenant_id: one.uuid })], 100);
    for (const tenant of [one, other]) await queue.add(tenant.uuid);
    await waitFor(() => seen.size === 2 && queue.stored.length === 1);
    expect(seen).toEqual(
      new Map([
        [one.uuid, 1],
        [other.uuid, 0],
      ]),
    );
    await waitFor(async () => (await queue.jobs()).length === 0);
    expect(await queue.metrics.render()).toMatch(/job_duration_seconds_count\{queue="reports",outcome="done"\} 2/);
  });

  test('is counted in its queue, and among no answers, flushes or waiting jobs', async () => {
    await using api = await createApi({ backend });
    await using queue = await openQueue(api);
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant);
    const token = await tenant.sign('ada');
    const cards = await api.request('GET', '/v1/cards', { as: token });
    expect(cards.body.data[0].question_id).toBe(question.id);
    await api.request('POST', '/v1/answers', { as: token, body: { answers: [answerTo(cards.body.data[0])] } });
    for (let time = 0; time < 3; time++) await queue.add(tenant.uuid);

    expect(await queue.producer.pending(tenant.uuid)).toMatchObject({ count: 1, heads: [{ count: 1 }] });
    expect(queue.producer.claim(0)).toMatchObject({ written: 0, voided: [] });
    const ingestion = await api.request('GET', '/v1/ingestion', { as: tenant.key.apiKey });
    expect(ingestion.body.queued).toBe(1);
    const [{ connection, target }, metrics] = [queue, createMetrics('serve')];
    const tallies: unknown[] = [];
    const check = createStoreCheck(
      { connection, target, config: api.config, metrics, onTally: tally => tallies.push(tally) },
      createAdmission(),
    );
    expect((await check()).health.waitingJobs).toBe(1);
    expect(tallies).toEqual(backend === 'valkey' ? [{ entries: 1, idle: 1, active: 0 }] : []);
    const flush: RecordAnswers = { v: 1, flush: v7(), answers: [anAcceptedAnswer({ tenant_id: tenant.uuid })] };
    await connection.queue().add('answers.record', flush, { jobId: flush.flush }); // without an entry: it is repaired
    await waitFor(async () => (await queue.producer.pending(tenant.uuid)).count === 2);
    for (let time = 0; time < 5; time++) expect((await check()).health.waitingJobs).toBe(2);
    if (backend === 'valkey') expect(tallies.at(-1)).toEqual({ entries: 2, idle: 2, active: 0 });
    const lines = (await metrics.render()).split('\n').filter(line => line.startsWith('parley_queue_jobs{queue="rep'));
    expect(lines.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0)).toBe(3);
    expect(await api.metrics.render()).toMatch(/parley_queue_oldest_waiting_seconds\{queue="reports"\} [\d.]+/);
  });

  test('does not wait behind the backlog of another tenant', async () => {
    await using api = await createApi({ backend });
    const order: string[] = [];
    await using queue = await openQueue(api, async ({ tenant_id }) => void order.push(tenant_id));
    const [busy, quiet] = [v7(), v7()];
    for (let time = 0; time < 6; time++) await queue.add(busy);
    await queue.add(quiet);
    await using _worker = await queue.startWorker();
    await waitFor(() => order.length === 7);
    expect(order.indexOf(quiet)).toBe(1);
  });

  test('is added once under its id, and refused beyond the limit of its tenant', async () => {
    await using api = await createApi({ backend });
    await using queue = await openQueue(api);
    const [busy, quiet] = [v7(), v7()];
    for (let time = 0; time < 2; time++) await queue.add(busy, 'same');
    expect(await queue.jobs()).toHaveLength(1);
    for (let count = 1; count < MAX_JOBS_OF_TENANT; count++) await queue.add(busy);
    await expect(queue.add(busy)).rejects.toMatchObject({ code: 'limit-reached' });
    await queue.add(quiet);
    expect(await queue.jobs()).toHaveLength(MAX_JOBS_OF_TENANT + 1);
  });

  test('of an unknown name or version waits for a newer worker, and is neither failed nor quarantined', async () => {
    await using api = await createApi({ backend });
    const done: string[] = [];
    await using queue = await openQueue(api, async ({ report_id }) => void done.push(report_id));
    const reports = queue.connection.queue('reports');
    const tenant = v7();
    const options = { attempts: 1_000_000_000, backoff: { type: 'outage' } };
    const newer = { ...report(tenant), v: 2 } as unknown as BuildReport;
    await reports.add('reports.build', newer, { ...options, jobId: 'newer' });
    await reports.add('reports.shred', report(tenant), { ...options, jobId: 'unknown' });
    await using _worker = await queue.startWorker();
    await queue.add(tenant);
    await waitFor(() => done.length === 1);
    for (let attempt = 1; attempt <= 6; attempt++)
      for (const id of ['newer', 'unknown']) {
        await waitFor(async () => (await (await reports.getJob(id))?.getState()) === 'delayed');
        const job = await reports.getJob(id);
        expect(job).toMatchObject({ attemptsMade: attempt, progress: 0 });
        await promote(job);
      }
    expect(await reports.getFailedCount()).toBe(0);
    expect(await api.database.query('select from quarantined_answers')).toEqual([]);
    expect(done).toHaveLength(1);
  });

  test('stays untouched by a worker of a version without it, which stores answers, until a newer one runs', async () => {
    await using api = await createApi({ backend });
    const done: string[] = [];
    await using queue = await openQueue(api, async ({ report_id }) => void done.push(report_id));
    await queue.add(v7());
    registered.length = 0;
    try {
      await using _older = await queue.startWorker();
      await queue.producer.enqueue([anAcceptedAnswer()], 100);
      await waitFor(() => queue.stored.length === 1);
    } finally {
      registered.push(buildReport);
    }
    expect(await queue.jobs()).toMatchObject([{ attemptsMade: 0 }]);
    await using _newer = await queue.startWorker();
    await waitFor(() => done.length === 1);
  });

  test('that keeps failing is kept as failed, and delays neither other jobs nor answers; an outage fails none', async () => {
    await using api = await createApi({ backend });
    const [broken, healthy, unlucky] = [v7(), v7(), v7()];
    const done: string[] = [];
    let outages = 0;
    await using queue = await openQueue(api, async ({ tenant_id }) => {
      if (tenant_id === broken) throw new TypeError('a bug');
      if (tenant_id === unlucky && outages++ < 7) throw new Problem('database-unavailable', 'It is away.');
      done.push(tenant_id);
    });
    const reports = queue.connection.queue('reports');
    await using _worker = await queue.startWorker();
    await queue.add(broken, 'x');
    await queue.add(healthy);
    await queue.producer.enqueue([anAcceptedAnswer()], 100);
    await waitFor(() => done.length === 1 && queue.stored.length === 1);
    const id = `${broken}.x`;
    await waitFor(async () => {
      const job = await reports.getJob(id);
      const state = await job?.getState();
      if (state === 'delayed') await promote(job);
      return state === 'failed';
    }, 300_000);
    expect(await reports.getJob(id)).toMatchObject({ attemptsMade: 5, progress: { failures: 5 }, data: { v: 1 } });
    await queue.add(unlucky);
    await waitFor(() => done.length === 2, 20_000);
    expect(done).toEqual([healthy, unlucky]);
    expect(await reports.getFailedCount()).toBe(1);
    expect(await queue.metrics.render()).toMatch(/job_duration_seconds_count\{queue="reports",outcome="given-up"\} 1/);
  }, 300_000);
});
