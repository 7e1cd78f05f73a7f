import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { waitFor } from '../../support/wait.ts';
import { type Load, percentile } from '../load.ts';
import { type Asked, requestOnce } from '../new-connection.ts';
import { type Scenario, VALKEY_ONLY } from '../scenario.ts';
import type { Unit } from '../units.ts';
import type { FaultTenant, World } from '../world.ts';
import { addAnswers } from './noisy-reader.ts';

/** An attack that runs next to the load until it is ended. */
interface Attackers {
  /** The attack's progress, for the log of the run. */
  state(): string;
  end(): Promise<void>;
}

interface Attack {
  name: string;
  begin(world: World, api: Unit): Promise<Attackers>;
}

/** The data that a hostile client sends on each of its connections, and whether it reads the reply. */
interface Connections {
  name: string;
  connections: number;
  addresses: number;
  message?: string;
  reads: boolean;
}

const LONG_REPLY = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
const HALF_BODY =
  'POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{';

const CONNECTIONS: readonly Connections[] = [
  { name: '12,000 idle connections from one address', connections: 12_000, addresses: 1, reads: true },
  { name: '12,000 idle connections from fifty addresses', connections: 12_000, addresses: 50, reads: true },
  { name: '500 half bodies', connections: 500, addresses: 1, message: HALF_BODY, reads: true },
  {
    name: '2,000 readers that do not read',
    connections: 2000,
    addresses: 50,
    message: LONG_REPLY,
    reads: false,
  },
];

/** Connections opened at a time: as many as fit in the queue of a listening socket, with space for others. */
const AT_ONCE = 500;

const opened = (socket: Socket): Promise<void> =>
  new Promise(resolve => socket.once('connect', resolve).once('close', () => resolve()));

/** Opens the connections of an attack and keeps them open. */
async function openConnections(
  world: World,
  api: Unit,
  { connections, addresses, message, reads }: Connections,
): Promise<Attackers> {
  const port = Number(new URL(api.baseUrl).port);
  const sockets: Socket[] = [];
  const count = world.sized(connections, Math.min(connections, 500));
  while (sockets.length < count) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - sockets.length) }, (_, index) => {
      // The kernel needs 10 s to bind 12,000 sockets to one address, and no time if they get their ports as they connect.
      const localAddress = addresses > 1 ? `127.0.0.${2 + ((sockets.length + index) % addresses)}` : undefined;
      const socket = connect({ port, host: '127.0.0.1', ...(localAddress ? { localAddress } : {}) });
      socket.on('error', () => undefined);
      if (reads) socket.resume();
      else socket.pause();
      if (message) socket.write(message);
      return socket;
    });
    sockets.push(...batch);
    await Promise.race([Promise.all(batch.map(opened)), sleep(5000)]); // a full server accepts no more
  }
  return {
    state: () => `${sockets.filter(socket => !socket.destroyed && !socket.connecting).length} open`,
    async end() {
      for (const socket of sockets) socket.resetAndDestroy(); // keeps no port of the address until the next round
    },
  };
}

const LISTS_AT_ONCE = 1000;
/** Scans the maximum number of rows without a match. */
const HEAVY_LIST = '/v1/answers?version=7&limit=100';

/** Keeps list requests in progress: each client sends the next one after the reply or its `Retry-After`. */
async function startLists(world: World, api: Unit, tenant: FaultTenant): Promise<Attackers> {
  const statuses = new Map<number, number>();
  let stopped = false;
  const client = async () => {
    while (!stopped) {
      const { status, headers } = await world
        .request(`${api.baseUrl}${HEAVY_LIST}`, { as: tenant.apiKey, timeoutMs: 30_000 })
        .catch(() => ({ status: 0, headers: {} as Record<string, string> }));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status !== 200 && !stopped) await sleep(1000 * Number(headers['retry-after'] ?? 1));
    }
  };
  const ended = Promise.all(Array.from({ length: world.sized(LISTS_AT_ONCE, 200) }, client));
  return {
    state: () => [...statuses].map(([status, count]) => `${count} × ${status}`).join(', '),
    async end() {
      stopped = true;
      await ended;
    },
  };
}

/**
 * Requests URLs over new connections repeatedly until stopped. Returns the replies per URL.
 *
 * Runs in a thread, because the clients of an attack keep this one busy and its delays would be measured too.
 */
function startProbes(urls: string[]): { stop(): Promise<Asked[][]> } {
  const thread = new Worker(new URL('../probe-thread.ts', import.meta.url), { workerData: { urls, everyMs: 50 } });
  const replies = once(thread, 'message');
  return {
    async stop() {
      thread.postMessage('stop');
      return (await replies)[0] as Asked[][];
    },
  };
}

const median = (values: number[]): number => percentile(values, 0.5);

const takenBetween = (load: Load, from: number, to: number): number =>
  load.replies.filter(({ at, status }) => status === 202 && at >= from && at < to).length;

interface Measured {
  taken: number;
  own: Asked[];
  main: Asked[];
}

/** Intake, and response times of both ports on new connections, during one round. */
async function measure(world: World, api: Unit, load: Load): Promise<Measured> {
  const probes = startProbes([`${api.metricsUrl}/livez`, `${api.baseUrl}/livez`]);
  const from = Date.now();
  await sleep(world.sized(8000, 2000));
  const taken = takenBetween(load, from, Date.now());
  const [own = [], main = []] = await probes.stop();
  return { taken, own, main };
}

const p99 = (asked: Asked[]): number =>
  percentile(
    asked.map(({ ms }) => ms),
    0.99,
  );

/** Odd, for the median. */
const ROUNDS = 5;

/** One attack: rounds of equal length without and with it, in alternation. Medians count. */
async function tryAttack(world: World, api: Unit, load: Load, { name, begin }: Attack): Promise<void> {
  const rounds: { ratio: number; baseline: Asked[]; own: Asked[]; main: Asked[] }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = await measure(world, api, load);
    const attackers = await begin(world, api);
    const { taken, own, main } = await measure(world, api, load);
    const ratio = Math.min(1, taken / before.taken); // the load catches up after the delay of opening the connections
    rounds.push({ ratio, baseline: before.own, own, main });
    world.progress(`${name}: ${attackers.state()}, intake ÷ alone ${ratio.toFixed(2)}, own door p99 ${p99(own)} ms`);
    await attackers.end();
    await waitFor(async () => (await api.metric('parley_http_connections', 'api')) < 1200, 60_000, 200);
  }
  const ratio = median(rounds.map(round => round.ratio));
  const late = (door: 'baseline' | 'own' | 'main') => median(rounds.map(round => p99(round[door])));
  const asked = rounds.flatMap(({ own, main }) => [...own, ...main]);
  const refused = asked.filter(({ status }) => status !== 200).length;
  world.must(`${name}: intake of others ≥ 0.9 of alone`, ratio >= 0.9, ratio.toFixed(2));
  world.must(
    `${name}: /livez on its own door within 100 ms (p99)`,
    late('own') <= 100,
    `${late('own')} ms, alone ${late('baseline')} ms`,
  );
  world.must(
    `${name}: both doors answer every new connection`,
    refused === 0,
    `${refused} of ${asked.length} not answered; p99 of the main one ${late('main')} ms`,
  );
}

const FEW_FILES = 400;
/** A preload that limits its process to few file descriptors, before the process reads the limit. */
const LIMIT_FILES = `data:text/javascript,${encodeURIComponent(
  `import { execFileSync } from 'node:child_process';
  execFileSync('prlimit', ['--pid', String(process.pid), '--nofile=${FEW_FILES}:${FEW_FILES}']);`,
)}`;

/** Opens more connections than the process has file descriptors. */
async function tryFewFiles(world: World): Promise<void> {
  const api = await world.start('serve', { nodeArgs: ['--import', LIMIT_FILES] });
  world.fault('injected');
  const idle = await openConnections(world, api, { name: 'idle', connections: 500, addresses: 2, reads: true });
  for (const [door, url] of [
    ['its own door', api.metricsUrl],
    ['the main one', api.baseUrl],
  ]) {
    const asked: Asked[] = [];
    while (asked.length < 50) asked.push(await requestOnce(`${url}/livez`));
    const answered = asked.filter(({ status }) => status === 200).length;
    world.must(`few file descriptors: /livez is answered on ${door}`, answered === 50, `${answered} of 50`);
  }
  const closed = await api.metric('parley_http_connections_closed_total');
  const lines = api.output().split('out of connections').length - 1;
  world.must(
    'few file descriptors: what was closed or refused is counted and logged',
    closed > 0 && lines > 0,
    `${closed} in ${lines} lines`,
  );
  await idle.end();
  await api.end('SIGTERM');
}

export const doors: Scenario = {
  id: 'R45',
  title: 'connections that idle, send half and do not read',
  load: '20 requests/s of 10 answers, alone and beside each attack in turn, five rounds of 8 s each',
  faults:
    '12,000 idle connections from one and from fifty addresses, 500 half bodies, 2,000 readers that do not read, 1,000 heavy lists at once, fewer file descriptors than connections',
  backends: VALKEY_ONLY,
  exclusive: true,
  async run(world) {
    const api = await world.start('serve');
    await world.start('work');
    await world.addTenant();
    const load = world.load({ batch: 10, lanes: 20, perSecond: 20 });
    await load.begun;
    await sleep(world.sized(5000, 1000)); // until its code is compiled
    const reader = await world.addTenant();
    await addAnswers(world, reader, world.sized(300_000, 50_000));
    await world.query('analyze answers');
    const attacks: Attack[] = [
      ...CONNECTIONS.map(connections => ({
        name: connections.name,
        begin: () => openConnections(world, api, connections),
      })),
      { name: '1,000 heavy lists at once', begin: () => startLists(world, api, reader) },
    ];
    for (const attack of attacks) {
      await tryAttack(world, api, load, attack);
      world.fault('injected');
    }
    await load.stop();
    await tryFewFiles(world);
    await world.query('delete from answers where tenant_id = $1', [reader.uuid]);
  },
};
