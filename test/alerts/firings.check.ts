import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { connectQueue } from '../../src/queue/connection.ts';
import { QUEUES } from '../../src/queue/jobs.ts';
import { answerOf } from '../faults/load.ts';
import { askValkey, openPostgres, openValkey } from '../faults/stores.ts';
import type { Unit } from '../faults/units.ts';
import { createWorld, type FaultTenant, type World } from '../faults/world.ts';
import { ROOT, runDocumented, shellBlocks } from '../support/documents.ts';
import type { TestProxy } from '../support/proxy.ts';
import { createReceiver } from '../support/receivers.ts';
import { hasTool } from '../support/tools.ts';
import { waitFor } from '../support/wait.ts';
import { configureValkey, fillValkey, keepOn, lockTable, overload } from './faults.ts';
import { type Firing, recordFirings } from './firings.ts';
import { startPrometheus, type TestPrometheus } from './prometheus.ts';
import { findEmptyPanels, NOT_FIRED, readRules } from './rules.ts';

const POISON = ['--import', new URL('../faults/poison.ts', import.meta.url).pathname];
/** The shortest interval. As a setting it cannot be shortened with the rules. */
const EVERY_SECOND = { INGESTION_CHECK_S: '1' };
/** Allows webhooks to this machine. */
const OUTBOUND = { OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_HTTP: 'on' };
const FIRES_WITHIN_MS = 90_000;
const ENDS_WITHIN_MS = 120_000;

const hasPrometheus = await hasTool(['prometheus', '--version'], 'that every alert fires on a real fault');

let world: World;
let prometheus: TestPrometheus;
let api: Unit;
let worker: Unit;
let tenant: FaultTenant;
let workerNetwork: TestProxy;
const closing = new AsyncDisposableStack();
const firings: Firing[] = [];

const watched = () => [
  { component: 'api' as const, metricsUrl: api.metricsUrl },
  { component: 'worker' as const, metricsUrl: worker.metricsUrl },
];

beforeAll(async () => {
  if (!hasPrometheus) return;
  const folder = await mkdtemp(join(tmpdir(), 'parley-alerts-'));
  closing.defer(() => rm(folder, { recursive: true }));
  const [postgres, valkey] = await Promise.all([openPostgres(), openValkey()]);
  closing.use(postgres);
  closing.use(valkey);
  const progress = (text: string) => void process.stderr.write(`${text}\n`);
  world = await createWorld({ backend: 'valkey', seed: 1, size: 1, stores: { postgres, valkey }, folder, progress });
  closing.use(world);
  workerNetwork = await world.proxy(postgres.url);
  const settings = { ...EVERY_SECOND, ...OUTBOUND };
  api = await world.start('serve', { environment: { ...settings, DATABASE_POOL: '4' } });
  const environment = { ...settings, DATABASE_URL: workerNetwork.through(postgres.url) };
  worker = await world.start('work', { environment, nodeArgs: POISON });
  tenant = await world.addTenant();
  await waitFor(() => sendAnswer());
  prometheus = await startPrometheus();
  closing.use(prometheus);
  await prometheus.scrape(watched());
  await waitFor(async () => (await prometheus.query('parley_canary_delay_seconds > 0')).length > 0);
});
afterAll(() => closing.disposeAsync());

/** Whether the answer was accepted. */
async function sendAnswer(fields: Record<string, unknown> = {}): Promise<boolean> {
  const { reply } = await world.send(tenant, [answerOf(tenant, 'user|42', fields)]);
  return reply.status === 202;
}

const firingNames = async () => new Set((await prometheus.firing()).map(({ name }) => name));

/** Injects a fault, expects these alerts to fire, removes the fault, and expects them to resolve. */
async function expectToFire(alerts: string[], broken: string, breakIt: () => Promise<() => unknown>): Promise<void> {
  await waitFor(async () => new Set(alerts).isDisjointFrom(await firingNames()), ENDS_WITHIN_MS);
  const brokenAt = Date.now();
  const mend = await breakIt();
  const fired = new Map<string, Firing>();
  const haveFired = async () => {
    for (const { name, value } of await prometheus.firing())
      if (alerts.includes(name) && !fired.has(name))
        fired.set(name, { alert: name, broken, value, seconds: (Date.now() - brokenAt) / 1000, endedAfterSeconds: 0 });
    return fired.size === alerts.length;
  };
  try {
    await waitFor(haveFired, FIRES_WITHIN_MS);
  } catch (error) {
    throw new Error(`of ${alerts} fired ${[...fired.keys()]}`, { cause: error });
  } finally {
    await mend(); // also after a failure, which would otherwise fail every later test
  }
  const mendedAt = Date.now();
  const lasting = new Set(alerts);
  await waitFor(async () => {
    const firing = await firingNames();
    for (const name of lasting.difference(firing)) {
      lasting.delete(name);
      (fired.get(name) as Firing).endedAfterSeconds = (Date.now() - mendedAt) / 1000;
    }
    return lasting.size === 0;
  }, ENDS_WITHIN_MS);
  firings.push(...fired.values());
}

const configure = (name: string, value: string) => configureValkey(world.valkey().url, name, value);

/** Lists questions, or reads one: lists get fewer connections than the pool has. */
const readQuestions = (path = '') =>
  world.request(`${api.baseUrl}/v1/questions${path}`, { as: tenant.apiKey, timeoutMs: 20_000 });

/** Sends a request as the tenant. Resolves with the reply, which must have one of the successful statuses. */
async function asTenant(method: 'POST' | 'PATCH', path: string, body: object): Promise<{ id: string }> {
  const reply = await world.request(`${api.baseUrl}${path}`, { method, as: tenant.apiKey, body });
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.body}`);
  return JSON.parse(reply.body);
}

const addWebhook = (url: string) => asTenant('POST', '/v1/webhooks', { url, event_types: ['conversation.created'] });
const startConversation = () => asTenant('POST', '/v1/conversations', { identity: 'user|42', message: 'Hello' });

describe.runIf(hasPrometheus)('on a real fault', () => {
  test('an answer deleted by hand is reported as missing', async () => {
    await expectToFire(['ParleyConservationBroken'], 'a row of `answers` deleted by hand', async () => {
      await waitFor(async () => (await world.query("select id from answers where identity = 'user|42'")).length > 0);
      await world.query("delete from answers where identity = 'user|42'");
      return () => world.query('delete from vanished_answers');
    });
  });

  test('a backup that was not repeated for more than a day is reported', async () => {
    await expectToFire(['ParleyBackupOld'], 'the newest backup is 27 hours old', async () => {
      await world.query("insert into last_backup values (true, now() - interval '27 hours', now())");
      return () => world.query('update last_backup set complete_until = now()');
    });
  });

  test('a Valkey with appendfsync everysec is not durable, and answers are rejected', async () => {
    await expectToFire(
      ['ParleyQueueNotDurable', 'ParleyAnswersRefused'],
      '`CONFIG SET appendfsync everysec` in Valkey',
      async () => {
        await configure('appendfsync', 'everysec');
        return () => configure('appendfsync', 'always');
      },
    );
  });

  test('a Valkey whose memory fills up raises an alert before answers are rejected', async () => {
    await expectToFire(['ParleyQueueMemoryHigh'], "Valkey's `maxmemory` set to 1.67 times the memory in use", () =>
      fillValkey(world.valkey().url, 0.6),
    );
  });

  test('a Valkey that was stopped is down, and the error budget burns', async () => {
    await expectToFire(['ParleyRedisDown', 'ParleyErrorBudgetBurn'], 'Valkey stopped', async () => {
      await world.valkey().kill('SIGTERM');
      const stop = keepOn(10, sendAnswer);
      return async () => {
        await world.valkey().start();
        stop();
      };
    });
  });

  test('without PostgreSQL nothing is stored and no canary arrives', async () => {
    await expectToFire(
      ['ParleyDatabaseUnavailable', 'ParleyCanaryStale', 'ParleyQueueStuck'],
      'PostgreSQL stopped',
      async () => {
        await world.stores.postgres.kill('SIGINT');
        await sendAnswer();
        return () => world.stores.postgres.start();
      },
    );
  });

  test('a killed worker is absent, and the backlog grows', async () => {
    await expectToFire(['ParleyWorkerAbsent', 'ParleyQueueBacklogGrowing'], 'the only worker killed', async () => {
      await worker.end('SIGKILL');
      const stop = keepOn(20, sendAnswer);
      return async () => {
        stop();
        await worker.restart();
      };
    });
  });

  test('without a worker, events get no numbers, and snoozed conversations stay snoozed', async () => {
    const { id } = await startConversation();
    const broken = 'the only worker killed, an event and a snooze that ends';
    await expectToFire(['ParleyEventsLate', 'ParleyTimersLate'], broken, async () => {
      await worker.end('SIGKILL');
      await asTenant('PATCH', `/v1/conversations/${id}`, { priority: 'high' });
      await world.query(
        "update conversations set status = 'snoozed', snoozed_until = now() where identity = 'user|42'",
      );
      return () => worker.restart();
    });
  });

  test('workers that wait for a lock send nothing to webhooks', async () => {
    await using receiver = await createReceiver();
    await addWebhook(receiver.url);
    await startConversation();
    await receiver.waitForEvents(1);
    const broken = 'the table `webhooks` locked against changes, an event for a webhook';
    await expectToFire(['ParleyWebhooksLate', 'ParleyWebhooksStopped'], broken, async () => {
      const unlock = await lockTable(world.stores.postgres.url, 'webhooks', 'exclusive');
      await startConversation();
      return unlock;
    });
    await receiver.waitForEvents(2);
  });

  test('webhooks none of which can be reached are reported', async () => {
    await using first = await createReceiver();
    await using second = await createReceiver();
    for (const { url } of [first, second]) await addWebhook(url);
    await expectToFire(['ParleyWebhooksUnreachable'], 'the receivers of all webhooks stopped', async () => {
      await Promise.all([first.stop(), second.stop()]);
      await startConversation();
      return async () => {
        await Promise.all([first.restart(), second.restart()]);
        await startConversation();
      };
    });
  });

  test('a killed API is absent', async () => {
    await expectToFire(['ParleyApiAbsent'], 'the only API process killed', async () => {
      await api.end('SIGKILL');
      return async () => {
        await api.restart();
        await api.awaitReady();
      };
    });
  });

  test('a worker of a database without migrations is not ready', async () => {
    await expectToFire(['ParleyNotReady'], 'a worker started on a database that was not migrated', async () => {
      await world.query('create database unmigrated');
      const url = new URL(world.stores.postgres.url);
      url.pathname = 'unmigrated';
      const waiting = await world.start('work', { environment: { DATABASE_URL: url.href }, awaitReady: false });
      await prometheus.scrape([...watched(), { component: 'worker', metricsUrl: waiting.metricsUrl }]);
      return async () => {
        await waiting.end('SIGTERM');
        await prometheus.scrape(watched());
      };
    });
  });

  test('a worker that is killed repeatedly is restarting', async () => {
    const startTime = async () =>
      (await prometheus.query('process_start_time_seconds{component="worker"}')).join() || undefined;
    await expectToFire(['ParleyRestarting'], 'a worker killed and started again, 4 times', async () => {
      for (let round = 0; round < 4; round++) {
        const before = await startTime();
        await worker.end('SIGKILL');
        await worker.restart();
        await waitFor(async () => ![undefined, before].includes(await startTime()));
      }
      return () => worker.awaitReady();
    });
  });

  test('an answer that no worker can store goes to the quarantine', async () => {
    await expectToFire(['ParleyAnswersQuarantined'], 'an answer whose storing throws', async () => {
      await sendAnswer({ comment: 'poison:throw' });
      return () => undefined;
    });
  });

  test('a job that has killed too many workers is isolated', async () => {
    const connection = connectQueue(
      { databaseUrl: world.stores.postgres.url, redisUrl: world.valkey().url },
      createLog('silent', 'test'),
    );
    await waitFor(() => connection.redis?.status === 'ready');
    const queue = connection.queue(QUEUES.answers);
    const [, retry = ''] = shellBlocks('docs/runbooks/answers.md', 'ParleyJobFailed');
    const broken = 'a worker killed with a job of which 20 had died (counter set by hand)';
    await expectToFire(['ParleyJobFailed'], broken, async () => {
      await world.drained();
      workerNetwork.cut();
      await sendAnswer();
      const [id] = await waitFor(async () => {
        const held = await queue.getRanges(['active']);
        return held.length > 1 && held; // canaries are held too, but another worker stores them
      });
      await askValkey(world.valkey().url, redis => redis.hset(`bull:answers:${id}`, 'stc', 20));
      await worker.end('SIGKILL');
      workerNetwork.mend();
      await worker.restart();
      await waitFor(async () => (await queue.getJob(id as string))?.failedReason, 60_000);
      const here = `parley() { node ${ROOT}/src/main.ts "$@"; }\n${retry.replace('docker compose exec -T api ', '')}`;
      return () => runDocumented(here, world.environment());
    });
    await connection.close();
    await world.drained();
  });

  test('requests that wait for a locked table exhaust the pool', async () => {
    await expectToFire(['ParleyDatabasePoolWaits'], 'the table `questions` locked, 10 requests/s for it', async () => {
      const unlock = await lockTable(world.stores.postgres.url, 'questions', 'access exclusive');
      const stop = keepOn(10, () => readQuestions(`/${tenant.questionId}`));
      return async () => {
        stop();
        await unlock();
      };
    });
  });

  test('a transaction that an operator leaves open is reported', async () => {
    await expectToFire(['ParleyOpenTransaction'], 'a transaction with a write left open', async () => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const open = withClient(world.stores.postgres.url, async client => {
        await client.query('begin');
        await client.query('create table left_open ()');
        await released;
        await client.query('rollback');
      });
      return async () => {
        release();
        await open;
      };
    });
  });

  test('requests that wait for a locked table are slow', async () => {
    await expectToFire(['ParleyLatencyHigh'], 'the table `questions` locked, 3 lists of questions/s', async () => {
      const unlock = await lockTable(world.stores.postgres.url, 'questions', 'access exclusive');
      const stop = keepOn(3, readQuestions);
      return async () => {
        stop();
        await unlock();
      };
    });
  });

  test('requests beyond the capacity are shed', async () => {
    await expectToFire(
      ['ParleyRequestsShed'],
      '3,000 clients with 100 answers a request, for 30 s at most',
      async () => {
        const stop = overload(api.baseUrl, tenant, 3000);
        const limit = setTimeout(stop, 30_000);
        return () => {
          clearTimeout(limit);
          stop();
        };
      },
    );
  });

  test('guessed API keys raise a spike, and tokens from a fast clock raise another alert', async () => {
    await expectToFire(['ParleyAuthFailureSpike'], '10 unknown API keys a second', async () => {
      const guess = () => world.request(`${api.baseUrl}/v1/questions`, { as: `sk_${'x'.repeat(43)}` });
      return keepOn(10, guess);
    });
    await expectToFire(
      ['ParleyTokenClockSkew'],
      'tokens signed with a clock 10 minutes ahead, 5 a second',
      async () => {
        const iat = Math.floor(Date.now() / 1000) + 600;
        const token = await tenant.tenant.sign('user|42', { claims: { iat } });
        return keepOn(5, () => world.request(`${api.baseUrl}/v1/cards`, { as: token }));
      },
    );
  });

  test('every alert has fired', async () => {
    expect(firings.map(({ alert }) => alert).sort()).toEqual(
      readRules()
        .map(({ alert }) => alert)
        .filter(alert => !NOT_FIRED[alert])
        .sort(),
    );
    await recordFirings(firings);
  });

  test('no panel of the dashboard is empty afterwards', async () => {
    const as = await tenant.tenant.sign('user|hasty');
    await waitFor(async () => {
      await world.request(`${api.baseUrl}/v1/cards`, { as }); // over the limit, which RATE_LIMITS=off only counts
      return (await prometheus.query('rate(parley_rate_limited_total[1h])')).length > 0;
    });
    expect(await findEmptyPanels(prometheus.query)).toEqual([]);
  });
});
