import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createIncrementalReads } from '../../src/api/watch/incremental-reads.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { openStorage } from '../../src/storage/database/orm.ts';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { answerTo, makeTenant, publishQuestion } from '../support/make.ts';
import { createProxy } from '../support/proxy.ts';

/** The series in `text`, as lines. */
function seriesOf(text: string): string[] {
  return text.split('\n').filter(line => line !== '' && !line.startsWith('#'));
}

test('a process has few series with documented names, and no label contains a tenant, an identity or a path', async () => {
  await using api = await createApi();
  await using worker = await createWorker(api);
  const tenant = await makeTenant(api);
  await publishQuestion(api, tenant);
  const token = await tenant.sign('user|42');
  const cards = await api.request('GET', '/v1/cards', { as: token });
  await api.request('POST', '/v1/answers', { as: token, body: { answers: [answerTo(cards.body.data[0])] } });
  await api.request('GET', '/v1/answers/01936d5e-8f00-7000-8000-000000000001', { as: token });
  await api.request('GET', '/nowhere/user|42', {});

  const text = await api.metrics.render();
  const series = seriesOf(text);
  expect(series.length).toBeLessThan(3000);
  for (const name of [
    'http_request_duration_seconds_bucket',
    'http_requests_in_flight',
    'http_request_body_bytes_bucket',
    'parley_auth_attempts_total',
    'parley_answers_accepted_total',
    'parley_queue_jobs',
    'parley_queue_oldest_waiting_seconds',
    'parley_db_pool_connections',
    'parley_db_pool_wait_seconds_bucket',
    'parley_build_info',
    'process_cpu_seconds_total',
    'nodejs_eventloop_lag_seconds',
  ])
    expect(series.some(line => line.startsWith(name))).toBe(true);
  for (const secret of [tenant.id, tenant.uuid, 'user|42', 'nowhere', tenant.key.id])
    expect(text).not.toContain(secret);
  expect(series).toContain('parley_answers_accepted_total 1');
  expect(text).toMatch(
    /http_request_duration_seconds_count\{method="GET",route="\/v1\/answers\/\{id\}",status="404"\} 1/,
  );
  expect(text).toMatch(/route="unmatched",status="404"/);
  expect(
    seriesOf(await worker.metrics.render()).some(line => line.startsWith('parley_answer_store_delay_seconds')),
  ).toBe(true);
});

test('a gauge is absent in processes that do not measure it, so that 0 is an alarm', async () => {
  await using api = await createApi({ settings: { INGESTION_CHECK_S: '7' } });
  await using worker = await createWorker(api);
  await waitFor(async () => seriesOf(await api.metrics.render()).includes('parley_queue_takes_answers 1'));
  const [ofApi, ofWorker] = [seriesOf(await api.metrics.render()), seriesOf(await worker.metrics.render())];
  expect(ofApi).toContain('parley_queue_durable 1');
  expect(ofApi).toContain('parley_canary_interval_seconds 7');
  const queued = (series: string[]) => series.filter(line => /^parley_(queue|canary|redis)_\w+ /.test(line));
  expect(queued(ofApi).some(line => line.startsWith('parley_redis_'))).toBe(false); // its queue is in PostgreSQL
  expect(queued(ofWorker)).toEqual(['parley_canary_failures_total 0']); // counters start at 0
});

test('a wait for a connection that times out is measured', async () => {
  await using database = await createDatabase();
  const metrics = createMetrics('serve');
  const log = createLog('silent', 'test');
  const storage = openStorage({ url: database.url, role: 'parley_app', connections: 1, log, metrics });
  const waits = async () => seriesOf(await metrics.render()).filter(line => line.startsWith('parley_db_pool_wait'));
  await storage.transaction(async session => {
    await session.query('select 1');
    await expect(storage.query('select 1')).rejects.toMatchObject({ code: 'service-overloaded' });
  });
  expect(await waits()).toContain('parley_db_pool_wait_seconds_bucket{le="1"} 1');
  expect(await waits()).toContain('parley_db_pool_wait_seconds_bucket{le="5"} 2');
  await storage.close();
});

describe('a scrape of a process whose store does not reply', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('has all other values after two seconds, and waits for the store only once', async () => {
    const metrics = createMetrics('serve');
    const store = Promise.withResolvers<number>();
    let reads = 0;
    metrics.onScrape(async () => {
      reads++;
      metrics.oldestOpenWrite.set(await store.promise);
    });
    metrics.onScrape(async () => metrics.redisUp.set(1));
    const scrape = async (afterMs: number) => {
      let text: string | undefined;
      const rendered = metrics.render().then(result => {
        text = result;
      });
      await vi.advanceTimersByTimeAsync(afterMs);
      if (text !== undefined) await rendered;
      return text;
    };
    expect(await scrape(1999)).toBeUndefined();
    const text = await scrape(2000);
    expect(text).toContain('parley_redis_up 1');
    expect(text).not.toMatch(/^parley_oldest_open_write_seconds /m);
    expect(reads).toBe(1);
    store.resolve(7);
    expect(await scrape(0)).toMatch(/^parley_oldest_open_write_seconds 7$/m);
    expect(reads).toBe(1);
    await scrape(0);
    expect(reads).toBe(2);
  });
});

test('a scrape does not wait for a PostgreSQL that does not reply', async () => {
  await using database = await createDatabase();
  await using proxy = await createProxy(database.url);
  const [log, metrics] = [createLog('silent', 'test'), createMetrics('serve')];
  const storage = openStorage({ url: proxy.through(database.url), role: 'parley_app', connections: 1, log, metrics });
  createIncrementalReads(storage, metrics, log);
  expect(await metrics.render()).toContain('parley_oldest_open_write_seconds 0');
  proxy.freeze();
  const startedAt = performance.now();
  expect(await metrics.render()).toContain('parley_db_pool_connections');
  expect(performance.now() - startedAt).toBeLessThan(9000); // PostgreSQL's time-outs would take 12 s
  proxy.cut();
  await storage.close();
});
