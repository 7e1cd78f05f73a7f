import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 } from 'uuid';
import { awaitQuiet, type Cost, type Roles, startMeter } from './cpu.ts';

/** A request that is sent repeatedly. */
export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  token: string;
  etag?: string;
  /** The parts of the body around a fresh answer id. */
  bodyParts?: string[];
}

/** Requests to be sent in rotation, in the form of both load generators. */
export interface LoadSet {
  requests: LoadRequest[];
  /** The requests as lines, for wrk. */
  file: string;
}

export interface LoadResult {
  requests: number;
  rate: number;
  p50Ms: number;
  p99Ms: number;
  cost: Cost;
}

export interface LoadPlan {
  connections: number;
  warmUpSeconds: number;
  seconds: number;
}

/** Headers that `URLSession` adds to each request of the Swift client. */
const APP_HEADERS = {
  Accept: '*/*',
  'Accept-Language': 'en-US,en;q=0.9',
  'Accept-Encoding': 'gzip, deflate',
  'User-Agent': 'Shop/421 CFNetwork/1568.200.51 Darwin/24.1.0',
  Connection: 'keep-alive',
};

interface Counts {
  requests: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  refused: number;
  broken: number;
}

const hasWrk = spawnSync('wrk', ['-v']).error === undefined;

/** The name of the load generator. */
export const LOAD_GENERATOR = hasWrk
  ? 'wrk, 1 thread'
  : 'autocannon, in the process of the bench (wrk is not on the PATH): it uses CPU itself and only measures whole milliseconds';

/** Whether the load generator resolves latencies below a millisecond. */
export const LATENCY_IS_FINE = hasWrk;

/** Creates load sets; their files are removed at the end of the scope. */
export function openLoadSets(): { create(requests: LoadRequest[]): LoadSet } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'parley-load-'));
  let sets = 0;
  return {
    create(requests) {
      const file = join(folder, `${sets++}.tsv`);
      const lines = requests.map(({ method, path, token, etag = '', bodyParts = [] }) =>
        [method, path, token, etag, ...bodyParts].join('\t'),
      );
      writeFileSync(file, `${lines.join('\n')}\n`);
      return { requests, file };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The variant and the first nine digits of the last part of an id, which distinguish the ids of different runs. */
const makeTag = (): string => `8${randomBytes(2).toString('hex').slice(1)}-${randomBytes(3).toString('hex').slice(1)}`;

/** Sends with wrk, starting at the request with that number. */
async function sendWithWrk(url: string, set: LoadSet, first: number, connections: number, seconds: number) {
  const script = join(import.meta.dirname, 'load.lua');
  const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, url];
  const headers = Object.entries(APP_HEADERS).map(([name, value]) => `${name}: ${value}`);
  const child = spawn('wrk', [...flags, '--', set.file, String(first), makeTag(), headers.join('\r\n')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', chunk => (output += chunk));
  await new Promise(done => child.once('exit', done));
  const line = output.split('\n').find(text => text.startsWith('{'));
  if (!line) throw new Error(`wrk printed no result:\n${output}`);
  return JSON.parse(line) as Counts;
}

const withIds = (parts: string[]): string => parts.reduce((text, part) => `${text}${v7()}${part}`);

async function sendWithAutocannon(url: string, set: LoadSet, first: number, connections: number, seconds: number) {
  const { default: autocannon } = await import('autocannon');
  let index = first;
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests: [
      {
        setupRequest: request => {
          const { method, path, token, etag, bodyParts } = set.requests[index++ % set.requests.length] as LoadRequest;
          const headers = {
            ...APP_HEADERS,
            authorization: `Bearer ${token}`,
            ...(etag ? { 'if-none-match': etag } : {}),
          };
          if (!bodyParts) return { ...request, method, path, headers };
          return {
            ...request,
            method,
            path,
            headers: { ...headers, 'content-type': 'application/json' },
            body: withIds(bodyParts),
          };
        },
      },
    ],
  });
  return {
    requests: result.requests.total,
    seconds: result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    refused: result['4xx'] + result['5xx'],
    broken: result.errors + result.timeouts,
  };
}

const send = hasWrk ? sendWithWrk : sendWithAutocannon;

/**
 * Warms up a server, waits for a quiet moment, then measures it under the same load.
 *
 * The measurement starts in the middle of the set: a set larger than the server's caches never hits them. Throws if any
 * request was rejected or failed, because the figure would be meaningless.
 */
export async function measureLoad(url: string, set: LoadSet, plan: LoadPlan, roles: Roles): Promise<LoadResult> {
  await send(url, set, 0, plan.connections, plan.warmUpSeconds);
  await awaitQuiet(roles);
  return sendLoad(url, set, plan, roles);
}

/** Thrown for a run with a rejected or failed request. */
export class LoadRejected extends Error {}

/** Measures a server under a load without a warm-up. Throws `LoadRejected` if any request was rejected or failed. */
export async function sendLoad(url: string, set: LoadSet, plan: LoadPlan, roles: Roles): Promise<LoadResult> {
  const stopMeter = startMeter(roles);
  const half = Math.floor(set.requests.length / 2);
  const { requests, seconds, p50Ms, p99Ms, refused, broken } = await send(
    url,
    set,
    half,
    plan.connections,
    plan.seconds,
  );
  const cost = stopMeter();
  if (refused + broken > 0) throw new LoadRejected(`${refused} requests were rejected and ${broken} failed`);
  return { requests, rate: requests / seconds, p50Ms, p99Ms, cost };
}
