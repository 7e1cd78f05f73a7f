import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { makeTenant, publishQuestion } from '../support/make.ts';
import { contract, SCENARIO } from './contract.ts';
import { createLossyProxy } from './lossy-proxy.ts';
import { createTeam, createTenantBackend } from './tenant-backend.ts';

/** The command of a client's runner; the part is appended. */
export interface Runner {
  command: string;
  args: string[];
  env?: Record<string, string>;
}

/** The end of one run of a runner, with its output. */
interface Life {
  code: number | null;
  signal: string | null;
  lines: Record<string, unknown>[];
  complaints: string;
}

interface Part {
  name: string;
  needs: string;
  kills?: number;
  through?: string;
  steps: { do: string; identity?: string; count?: number }[];
}

/** The share of replies that the proxy drops. */
const LOST_SHARE = 0.3;
/** Each run records more than this many answers, so that it is always killed before it ends. */
const KILLED_AFTER_AT_MOST = 20;

const { questions: QUESTIONS, parts: PARTS } = contract('scenario') as {
  questions: Record<string, unknown>[];
  parts: Part[];
};

function partNamed(name: string): Part {
  const part = PARTS.find(each => each.name === name);
  if (!part) throw new Error(`no such part: ${name}`);
  return part;
}

type OnRecorded = (kill: () => void) => void;

/** Kills a runner at a random moment soon after a random recorded answer. */
function killAtRandom(): OnRecorded {
  let after = 1 + Math.floor(Math.random() * KILLED_AFTER_AT_MOST);
  return kill => {
    if (--after === 0) setTimeout(kill, Math.random() * 15);
  };
}

/**
 * Runs the runner once. Calls `onRecorded` for each answer that the runner reports as recorded; it may kill the runner.
 */
async function run(
  runner: Runner,
  part: Part,
  environment: Record<string, string>,
  onRecorded: OnRecorded = () => {},
): Promise<Life> {
  const child = spawn(runner.command, [...runner.args, part.name], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PARLEY_SCENARIO: SCENARIO,
      ...environment,
      ...runner.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const life: Life = { code: null, signal: null, lines: [], complaints: '' };
  child.stderr.on('data', chunk => (life.complaints += chunk));
  createInterface({ input: child.stdout }).on('line', text => {
    const line = JSON.parse(text) as Record<string, unknown>;
    life.lines.push(line);
    if (line.recorded) onRecorded(() => child.kill('SIGKILL'));
  });
  await new Promise<void>(resolve =>
    child.once('close', (code, signal) => {
      Object.assign(life, { code, signal });
      resolve();
    }),
  );
  return life;
}

/** Expects that a run was complete and that every step of it passed. */
function expectPassed({ code, lines, complaints }: Life): void {
  expect(
    lines.filter(({ passed }) => passed === false),
    complaints,
  ).toEqual([]);
  expect(code, complaints).toBe(0);
}

// biome-ignore lint/suspicious/noExplicitAny: tests read parts of any reply
type Get = (path: string) => Promise<any>;

/** The owner of each stored answer of these users. */
async function storedFor(get: Get, identities: string[]): Promise<Map<string, string>> {
  const stored = new Map<string, string>();
  for (const identity of identities)
    for (let path = `/v1/answers?limit=100&identity=${encodeURIComponent(identity)}`; path !== ''; ) {
      const page = await get(path);
      for (const { id } of page.data) {
        expect(stored.has(id), `${id} is there twice`).toBe(false);
        stored.set(id, identity);
      }
      path = page.has_more ? `${path.split('&cursor')[0]}&cursor=${page.next_cursor}` : '';
    }
  return stored;
}

/** A server with the environment that the parts of the scenario need. */
export async function openScenario() {
  await using stack = new AsyncDisposableStack();
  const api = stack.use(await createApi());
  stack.use(await createWorker(api));
  const tenant = await makeTenant(api);
  const publicKey = await tenant.addKey({ kind: 'public' });
  for (const question of QUESTIONS) await publishQuestion(api, tenant, question);
  const proxy = stack.use(await createLossyProxy(api.baseUrl, LOST_SHARE));
  const backend = stack.use(await createTenantBackend(tenant));
  stack.use(createTeam(api.baseUrl, tenant));
  const state = await mkdtemp(join(tmpdir(), 'parley-runner-'));
  stack.defer(() => rm(state, { recursive: true }));

  const environmentOf = (part: Part) => ({
    SERVICE_BASE_URL: part.through === 'proxy' ? proxy.url : api.baseUrl,
    SERVICE_TENANT_ID: tenant.id,
    SERVICE_API_KEY_ID: tenant.key.id,
    SERVICE_API_KEY_SECRET: tenant.key.secret,
    SERVICE_API_KEY: tenant.key.apiKey,
    SERVICE_PUBLIC_KEY_ID: publicKey.id,
    PARLEY_TOKEN_URL: backend.url,
    PARLEY_STATE: state,
    PARLEY_RETRY_BASE_MS: '20',
  });
  const live = (runner: Runner, part: Part, onRecorded?: OnRecorded): Promise<Life> =>
    run(runner, part, environmentOf(part), onRecorded);

  const get = async (path: string) => (await api.request('GET', path, { as: tenant.key.apiKey })).body;

  const kept = stack.move();
  return {
    /** Runs a part from start to end. */
    async play(runner: Runner, name: string): Promise<void> {
      const part = partNamed(name);
      const life = await live(runner, part);
      expectPassed(life);
      expect(life.lines.filter(({ passed }) => passed)).toHaveLength(part.steps.length);
    },

    /** Runs a part through the proxy, killed repeatedly. Then expects every recorded answer to be stored once. */
    async deliver(runner: Runner, name: string): Promise<void> {
      const part = partNamed(name);
      const lives: Life[] = [];
      for (let kills = 0; kills < (part.kills ?? 0); kills++) lives.push(await live(runner, part, killAtRandom()));
      const ends = lives.map(({ signal, lines, complaints }) => signal ?? [complaints, ...lines.slice(-1)]);
      expect(ends).toEqual(lives.map(() => 'SIGKILL'));
      const last = await live(runner, part);
      expectPassed(last);
      expect(proxy.lost()).toBeGreaterThan(0);

      const promised = [...lives, last].flatMap(({ lines }) => lines.filter(({ recorded }) => recorded));
      const owners = new Map(promised.map(({ recorded, identity }) => [recorded as string, identity as string]));
      expect(owners.size).toBeGreaterThan(KILLED_AFTER_AT_MOST);
      await waitFor(async () => (await get('/v1/ingestion')).queued === 0);
      const stored = await storedFor(get, [...new Set(owners.values())]);
      expect(Object.fromEntries([...owners].map(([id]) => [id, stored.get(id)]))).toEqual(Object.fromEntries(owners));
      expect(await get('/v1/ingestion')).toMatchObject({ quarantined: 0 });

      for (const { do: verb, identity = '', count } of part.steps) {
        if (verb !== 'call_many') continue;
        const { data } = await get(`/v1/conversations?limit=100&identity=${encodeURIComponent(identity)}`);
        expect(data).toHaveLength(count as number);
      }
    },

    /** Returns the runner's exit code for a part that does not exist. */
    exitCodeFor: async (runner: Runner, name: string) => (await live(runner, { name, needs: '', steps: [] })).code,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
