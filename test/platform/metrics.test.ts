import { expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { openStorage } from '../../src/storage/orm.ts';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { answerTo, makeTenant, publishQuestion } from '../support/make.ts';

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
