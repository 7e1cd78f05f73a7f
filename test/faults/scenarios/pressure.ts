import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Load, percentile, tally } from '../load.ts';
import { BOTH, type Scenario, VALKEY_ONLY } from '../scenario.ts';
import type { Unit } from '../units.ts';
import { slowest, startProbe, startWatch } from '../watch.ts';
import type { World } from '../world.ts';

const takenPerSecond = (load: Load, from: number, to: number): number =>
  load.replies.filter(({ at, status }) => status === 202 && at >= from && at < to).length / ((to - from) / 1000);

/** The number of accepted requests per second with just enough clients. */
async function measureCapacity(world: World, batch: number): Promise<number> {
  const load = world.load({ batch, lanes: 32 });
  await sleep(world.sized(10_000, 3000));
  const to = Date.now();
  const rate = takenPerSecond(load, to - world.sized(8000, 2000), to);
  await load.stop();
  await world.drained(120_000);
  return rate;
}

/** A server that rejects everything. Its clients use the same CPU as under overload, without load on the service. */
async function openSink(world: World): Promise<string> {
  const sink = createServer((asked, refused) => {
    asked.resume().once('end', () => refused.writeHead(503, { 'Retry-After': '1' }).end());
  }).listen(0, '127.0.0.1');
  await once(sink, 'listening');
  world.atEnd(async () => {
    sink.closeAllConnections();
    sink.close();
  });
  return `http://127.0.0.1:${(sink.address() as AddressInfo).port}`;
}

/**
 * The capacity while the clients are as busy as under overload.
 *
 * They share the cores with the service, and sending ten times as much uses a large part of these. To exclude this
 * effect, they send the same number of additional requests here, but to a server that rejects them.
 */
async function measureCapacityUnderLoad(world: World, batch: number, requestsPerSecond: number): Promise<number> {
  const sink = await openSink(world);
  const busy = world.load({ batch, lanes: 468, perSecond: requestsPerSecond, addresses: () => [sink], retries: false });
  const capacity = await measureCapacity(world, batch);
  await busy.stop();
  return capacity;
}

export const overload: Scenario = {
  id: 'R18',
  title: 'ten times the capacity',
  load: 'as many requests of 60 answers as 500 connections get through in 60 s, ten times what 32 clients measured',
  faults: 'overload',
  backends: BOTH,
  exclusive: true,
  async run(world) {
    const api = await world.start('serve');
    await world.start('work');
    await world.addTenant();
    const capacity = await measureCapacity(world, 60);
    world.progress(`capacity ${capacity.toFixed(0)} requests/s`);
    const live = startProbe(world, `${api.baseUrl}/livez`, { everyMs: 200 });
    const metrics = startProbe(world, `${api.metricsUrl}/metrics`, { everyMs: 1000 });
    const memory = startWatch(world, 500, () => api.residentMb());
    const load = world.load({
      batch: 60,
      lanes: 500,
      perSecond: capacity * 10,
      timeoutMs: 10_000,
      connectFirst: true, // a busy process accepts only one new connection per turn of its event loop (libuv)
    });
    await load.begun;
    const startedAt = Date.now();
    await sleep(world.sized(60_000, 6000));
    const endedAt = Date.now();
    await load.stop();
    const goodput = takenPerSecond(load, startedAt, endedAt);
    const refusedPerSecond = load.replies.length / ((endedAt - startedAt) / 1000) - goodput;
    const residentMb = Math.max(...(await memory.stop()));
    const probes = [...(await live.stop()), ...(await metrics.stop())];
    const after = world.load({ batch: 60, lanes: 4, requests: 20 });
    await after.finished;
    world.recovered(Date.now() - endedAt);
    await world.drained(300_000);
    const taken = load.replies.filter(reply => reply.status === 202);
    const others = load.replies.filter(reply => reply.status !== 202);
    const p99 = percentile(
      taken.map(reply => reply.ms),
      0.99,
    );
    const busyCapacity = await measureCapacityUnderLoad(world, 60, refusedPerSecond);
    const ratio = goodput / busyCapacity;
    world.note(
      `capacity ${capacity.toFixed(0)} requests/s, ${busyCapacity.toFixed(0)} next to clients as busy as under overload, ` +
        `${goodput.toFixed(0)} under overload; replies ${tally(load.replies)}`,
    );
    world.must('at least 80 % of the capacity is served', ratio >= 0.8, `${(ratio * 100).toFixed(0)} %`);
    world.must(
      'the rest is 429 or 503 with Retry-After',
      others.every(({ status, retryAfter }) => retryAfter && (status === 429 || status === 503)),
      others.length,
    );
    world.must('the API holds at most 512 MB', residentMb <= 512, `${residentMb.toFixed(0)} MB`);
    world.must('what is taken is taken within 2 s (p99)', p99 <= 2000, `${p99} ms`);
    world.must('it is as before within 10 s', Math.max(...world.recoveriesMs) <= 10_000, `${world.recoveriesMs} ms`);
    world.must(
      '/livez and /metrics answer within 500 ms',
      probes.every(({ status }) => status === 200) && slowest(probes) <= 500,
      `slowest ${slowest(probes)} ms`,
    );
  },
};

/** The limit of one key in requests per minute. */
const QUOTA = 1000;

export const noisyTenant: Scenario = {
  id: 'R19',
  title: 'one tenant at twenty times its quota beside a quiet one',
  load: 'tenant A 333 requests/s of 5 answers, tenant B 10/s, for 120 s',
  faults: 'A against the rate limit',
  backends: BOTH,
  exclusive: true,
  async run(world) {
    const environment = { RATE_LIMITS: 'on', RATE_API_KEY: String(QUOTA) };
    await world.start('serve', { environment });
    await world.start('work', { environment });
    const [noisy, quiet] = [await world.addTenant(), await world.addTenant()];
    const quietly = { batch: 5, lanes: 5, perSecond: 10, senders: [quiet] };
    const idle = world.load(quietly);
    await sleep(world.sized(20_000, 5000));
    await idle.stop();
    const loud = world.load({ batch: 5, lanes: 100, perSecond: (QUOTA / 60) * 20, senders: [noisy], retries: false });
    const calm = world.load(quietly);
    await sleep(world.sized(120_000, 12_000));
    await Promise.all([loud.stop(), calm.stop()]);
    await world.drained();
    const p99 = (load: Load) =>
      percentile(
        load.replies.map(reply => reply.ms),
        0.99,
      );
    const [{ delay } = { delay: 0 }] = await world.query<{ delay: number }>(
      `select extract(epoch from max(stored_at - received_at))::float as delay from answers where tenant_id = $1`,
      [quiet.uuid],
    );
    // Some milliseconds are noise, because the sender shares the cores with the service.
    const limitMs = Math.max(2 * p99(idle), 50);
    world.must(
      'the quiet tenant meets no error',
      calm.replies.every(({ status }) => status === 202),
      tally(calm.replies),
    );
    world.must(
      'its p99 is at most twice that of an idle service (or 50 ms)',
      p99(calm) <= limitMs,
      `${p99(calm)} ms, idle ${p99(idle)} ms`,
    );
    world.must('its answers are stored within 5 s', delay <= 5, `${delay.toFixed(2)} s`);
    const refused = loud.replies.filter(({ status }) => status !== 202);
    world.must(
      'the noisy one is refused with 429 and Retry-After',
      refused.length > 0 && refused.every(({ status, retryAfter }) => status === 429 && retryAfter),
      tally(loud.replies),
    );
  },
};

/** The time for which a process continues after the load balancer was informed, because requests still arrive. */
const PRE_STOP_MS = 1000;

interface End {
  code: number | NodeJS.Signals;
  ms: number;
  /** The `Connection` header of the reply to a request that was half sent at the SIGTERM, or its failure. */
  connection: string | undefined;
}

/** Sends the head of a request; `finish` sends the body and resolves with the reply's `Connection`. */
function sendHalf(baseUrl: string, apiKey: string): { finish(): Promise<string | undefined> } {
  const body = '{"answers":[]}'; // invalid, so that a reply comes at once
  const headers = {
    Authorization: `Bearer ${apiKey}`,
    'Content-Type': 'application/json',
    'Content-Length': body.length,
  };
  const half = request(`${baseUrl}/v1/answers`, { method: 'POST', headers, agent: new Agent({ keepAlive: true }) });
  const replied = new Promise<string | undefined>((resolve, reject) => {
    half.once('error', reject);
    half.once('response', reply => resolve(reply.resume().headers.connection));
  });
  replied.catch(() => undefined); // `finish` rejects with the failure
  half.flushHeaders();
  return {
    finish() {
      half.end(body);
      return replied;
    },
  };
}

/** Ends a process as in an upgrade and starts it again. */
async function roll(world: World, unit: Unit, apiKey: string): Promise<End> {
  const half = unit.role === 'serve' ? sendHalf(unit.baseUrl, apiKey) : undefined;
  await sleep(PRE_STOP_MS);
  const startedAt = Date.now();
  const ended = unit.end('SIGTERM');
  await sleep(100); // time to handle the signal
  const connection = await half?.finish().catch((error: Error) => error.message);
  const code = await ended;
  const ms = Date.now() - startedAt;
  world.fault('stop');
  await unit.restart();
  await unit.awaitReady();
  return { code, ms, connection };
}

export const rollingRestart: Scenario = {
  id: 'R20',
  title: 'rolling restart',
  load: '200 requests/s of 10 answers over kept connections for 120 s, two APIs and two workers behind a balancer',
  faults: '5 rounds of SIGTERM for each of the four; the balancer takes an API out 1 s before',
  backends: BOTH,
  exclusive: true,
  quick: VALKEY_ONLY,
  async run(world) {
    const apis = [await world.start('serve'), await world.start('serve')];
    const workers = [await world.start('work'), await world.start('work')];
    const { apiKey } = await world.addTenant();
    const inRotation = new Set(apis);
    const rounds = world.sized(5, 2);
    const seconds = world.sized(120, 12);
    const load = world.load({
      batch: 10,
      lanes: 100,
      perSecond: 200,
      requests: 200 * seconds,
      timeoutMs: 30_000, // R18 tests the duration
      addresses: () => [...inRotation].map(api => api.baseUrl),
    });
    const ends: End[] = [];
    const startedAt = Date.now();
    const turns = Array.from({ length: rounds }, () => [...apis, ...workers]).flat();
    for (const [turn, unit] of turns.entries()) {
      inRotation.delete(unit);
      ends.push(await roll(world, unit, apiKey));
      if (unit.role === 'serve') inRotation.add(unit);
      const next = startedAt + ((turn + 1) * seconds * 1000) / turns.length;
      await sleep(Math.max(0, next - Date.now()));
    }
    await load.finished;
    await world.drained();
    const longest = slowest(ends);
    const takenOver = [...apis, ...workers].filter(unit => unit.output().includes('job taken over')).length;
    world.must(
      'no request fails',
      load.replies.every(({ status }) => status === 202),
      tally(load.replies),
    );
    world.must('no job stalls', takenOver === 0, takenOver);
    world.mustTake('each process ends', longest, 20_000);
    const codes = [...new Set(ends.map(end => end.code))];
    world.must('each process ends with 0', String(codes) === '0', codes);
    const headers = ends.map(end => end.connection).filter(word => word !== undefined);
    world.must(
      'what is half sent at the SIGTERM is answered, with Connection: close',
      headers.every(word => word === 'close'),
      headers.join(),
    );
  },
};
