import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CANARY_TENANT_ID } from '../../src/domain/answers/ingestion.ts';
import { toTypeId } from '../../src/domain/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { createSeals } from '../../src/platform/secrets.ts';
import { connectQueue, migrateQueue } from '../../src/queue/connection.ts';
import { QUEUES } from '../../src/queue/jobs.ts';
import { PENDING } from '../../src/queue/snapshot.ts';
import { migrate } from '../../src/storage/database/migrate.ts';
import { openStorage, type Storage } from '../../src/storage/database/orm.ts';
import { makeTenant, publishQuestion, type TenantHome, type TestTenant } from '../support/make.ts';
import { createProxy, type TestProxy } from '../support/proxy.ts';
import { waitFor } from '../support/wait.ts';
import { type Client, type ClientReply, type ClientRequest, createClient } from './client.ts';
import { type Ledger, openLedger, readLedger } from './ledger.ts';
import { type Load, type LoadOptions, type NewAnswer, type Sender, sendAnswers, startLoad } from './load.ts';
import { type Evidence, type FoundAnswer, judge, type Verdict } from './oracle.ts';
import { createRandom, type Random } from './random.ts';
import type { Backend, Store, Stores } from './stores.ts';
import { type Role, startUnit, type Unit, type UnitOptions } from './units.ts';

/** An expectation of a scenario with its measurement. */
export interface Check {
  name: string;
  holds: boolean;
  measured: string;
}

/** The kind of an injected fault. A kill is a SIGKILL or a power cut. */
export type FaultKind = 'kill' | 'stop' | 'freeze' | 'cut' | 'injected';

export interface FaultTenant extends Sender {
  tenant: TestTenant;
}

export interface WorldOptions {
  backend: Backend;
  seed: number;
  /** The fraction of the full size, 1 for all of it. */
  size: number;
  stores: Stores;
  /** The folder of the ledger. */
  folder: string;
  /** Whether the stores stay empty, for a scenario that migrates them itself. */
  unmigrated?: boolean | undefined;
  progress(text: string): void;
}

/** The environment of a scenario: stores, processes, tenants, a ledger, random numbers, and its results. */
export interface World extends Drain, AsyncDisposable {
  backend: Backend;
  random: Random;
  stores: Stores;
  ledger: Ledger;
  secretKey: string;
  /** A tenant whose rows are excluded from the verdict: existing data. */
  strangers: string;
  units: readonly Unit[];
  checks: readonly Check[];
  notes: readonly string[];
  faults: ReadonlyMap<FaultKind, number>;
  recoveriesMs: readonly number[];
  /** A number scaled to the size of the trial, but at least `least`. */
  sized(full: number, least?: number): number;
  /** Records that an act took at most `limitMs`: five times as long below full size, where the machine may be busy. */
  mustTake(name: string, ms: number, limitMs: number): void;
  progress(text: string): void;
  /** Settings with which a process reaches the stores. */
  environment(): Record<string, string>;
  /** Starts a process. Resolves when it is ready, or at once with `awaitReady: false`. */
  start(role: Role, options?: Partial<UnitOptions> & { awaitReady?: boolean }): Promise<Unit>;
  /** The addresses of the running APIs. */
  apis(): string[];
  /** Adds a tenant with a key and a live question; needs a running API. */
  addTenant(): Promise<FaultTenant>;
  /** Sends answers; by default for the first tenant to all APIs. */
  load(options: Pick<LoadOptions, 'batch' | 'lanes'> & Partial<LoadOptions>): Load;
  /** Sends answers once, through the ledger; by default to the first API. */
  send(sender: Sender, answers: NewAnswer[], address?: string): ReturnType<typeof sendAnswers>;
  /** Sends a request next to the load. */
  request(url: string, options?: ClientRequest): Promise<ClientReply>;
  /** Opens a proxy in front of an address, closed with the world. */
  proxy(url: string): Promise<TestProxy>;
  /** Registers a function to run at the end of the world, before its processes end. */
  atEnd(end: () => Promise<void>): void;
  /** Counts an injected fault. */
  fault(kind: FaultKind, count?: number): void;
  /** Records an expectation and whether it was met. */
  must(name: string, holds: boolean, measured?: unknown): void;
  note(text: string): void;
  /** Records the time until answers were accepted again. */
  recovered(ms: number): void;
  /** Resolves with the time until a request sent after `since` was acknowledged; rejects after the limit. */
  awaitIntake(load: Load, since: number, limitMs?: number): Promise<number>;
  /** The Valkey with the queue; throws without one. */
  valkey(): Store;
  /** Converts a UUID to a wire id. */
  wireId: typeof toTypeId;
  /** The folder of the ledger and other files of this trial. */
  folder: string;
  query<Row extends object>(sql: string, params?: unknown[]): Promise<Row[]>;
  /** The verdict on all answers in the ledger. */
  verdict(): Promise<Verdict>;
}

/** The state of a queue. */
export interface Drain {
  /** Number of jobs by state. */
  backlog(): Promise<Record<string, number>>;
  /** Resolves with the time until no job was left. */
  drained(limitMs?: number): Promise<number>;
}

const log = createLog('silent', 'faults');

/** The storage and seals with which a tenant is created. */
function createHome(url: string, secretKey: string) {
  const storages: Storage[] = [];
  return {
    seals: createSeals({ current: secretKey, others: [] }),
    database: {
      storage: () => {
        const storage = openStorage({ url, role: 'parley_app', connections: 2, log });
        storages.push(storage);
        return storage;
      },
    },
    /** Ignores failures, because the server may have ended. */
    close: () => Promise.allSettled(storages.map(storage => storage.close())),
  };
}

/** The factor of time limits below full size, where the machine may be slow, or busy with other work. */
const patience = (size: number): number => (size < 1 ? 5 : 1);

/** The part of a world that records a scenario's results, and scales its numbers and time limits. */
function createRecords({
  progress,
  size,
}: WorldOptions): Pick<
  World,
  | 'checks'
  | 'notes'
  | 'faults'
  | 'recoveriesMs'
  | 'fault'
  | 'must'
  | 'mustTake'
  | 'note'
  | 'recovered'
  | 'sized'
  | 'awaitIntake'
> {
  const checks: Check[] = [];
  const notes: string[] = [];
  const faults = new Map<FaultKind, number>();
  const recoveriesMs: number[] = [];
  const must = (name: string, holds: boolean, measured: unknown = '') => {
    checks.push({ name, holds, measured: String(measured) });
    if (!holds) progress(`does not hold: ${name} (${measured})`);
  };
  return {
    checks,
    notes,
    faults,
    recoveriesMs,
    fault: (kind, count = 1) => void faults.set(kind, (faults.get(kind) ?? 0) + count),
    must,
    mustTake(name, ms, limitMs) {
      const limit = patience(size) * limitMs;
      must(`${name} within ${limit / 1000} s`, ms <= limit, `slowest ${ms} ms`);
    },
    note: text => void notes.push(text),
    sized: (full, least = 1) => Math.max(least, Math.round(full * size)),
    awaitIntake: (load, since, limitMs = 30_000) => awaitIntake(load, since, patience(size) * limitMs),
    recovered: ms => void recoveriesMs.push(ms),
  };
}

const query = <Row extends object>(url: string, sql: string, params: unknown[]): Promise<Row[]> =>
  withClient(url, async connection => (await connection.query<Row>(sql, params)).rows);

function valkeyOf({ valkey }: Stores): Store {
  if (!valkey) throw new Error('this trial has no Valkey');
  return valkey;
}

async function migrateStores({ postgres }: Stores, backend: Backend): Promise<void> {
  await migrate(postgres.url, log);
  if (backend === 'postgres') await migrateQueue({ databaseUrl: postgres.url, redisUrl: undefined });
}

/** A tenant with a key and a live question. */
async function createTenant(home: TenantHome, client: Client, baseUrl: string): Promise<FaultTenant> {
  const tenant = await makeTenant(home);
  const request = async (method: string, path: string, { as, body }: { as?: string; body?: unknown } = {}) => {
    const reply = await client.send(`${baseUrl}${path}`, { method, ...(as ? { as } : {}), body });
    return { ...reply, headers: new Headers(), body: JSON.parse(reply.body) };
  };
  const question = await publishQuestion({ request }, tenant);
  return { tenant, uuid: tenant.uuid, apiKey: tenant.key.apiKey, questionId: question.id };
}

async function awaitIntake(load: Load, since: number, limitMs: number): Promise<number> {
  const accepted = await waitFor(
    () => load.replies.find(reply => reply.status === 202 && reply.at - reply.ms >= since),
    limitMs,
  );
  return accepted.at - since;
}

/** Creates the environment of a scenario on migrated stores. */
export async function createWorld(options: WorldOptions): Promise<World> {
  const { backend, seed, size, stores, folder, progress } = options;
  const secretKey = randomBytes(32).toString('base64');
  const ledger = await openLedger(`${folder}/ledger`);
  const client = createClient();
  const units: Unit[] = [];
  const proxies: TestProxy[] = [];
  const tenants: FaultTenant[] = [];
  const ends: (() => Promise<void>)[] = [];

  if (!options.unmigrated) await migrateStores(stores, backend);
  const home = createHome(stores.postgres.url, secretKey);
  const apis = () => units.filter(unit => unit.role === 'serve' && unit.isRunning()).map(unit => unit.baseUrl);

  const environment = () => ({
    DATABASE_URL: stores.poolerUrl ?? stores.postgres.url,
    ...(stores.poolerUrl ? { DATABASE_DIRECT_URL: stores.postgres.url } : {}),
    SECRET_KEY: secretKey,
    ...(stores.valkey ? { REDIS_URL: stores.valkey.url } : {}),
  });

  return {
    ...createRecords(options),
    ...createDrain(stores),
    backend,
    random: createRandom(seed),
    stores,
    ledger,
    secretKey,
    strangers: STRANGERS,
    units,
    progress,
    environment,
    async start(role, { environment: extra = {}, nodeArgs, program, awaitReady = true } = {}) {
      const unit = await startUnit(role, {
        environment: { ...environment(), ...extra },
        ...(nodeArgs ? { nodeArgs } : {}),
        ...(program ? { program } : {}),
      });
      units.push(unit);
      if (awaitReady) await unit.awaitReady();
      return unit;
    },
    apis,
    async addTenant() {
      const tenant = await createTenant(home, client, apis()[0] ?? '');
      tenants.push(tenant);
      return tenant;
    },
    load(chosen) {
      const timeoutMs = patience(size) * 5000;
      const load = startLoad(ledger, { addresses: apis, senders: tenants.slice(0, 1), timeoutMs, ...chosen });
      ends.push(load.stop);
      return load;
    },
    atEnd: end => void ends.push(end),
    send: (sender, answers, address = apis()[0] ?? '') =>
      sendAnswers({ ledger, client, sender, address: () => address, answers, timeoutMs: 10_000 }),
    request: (url, request) => client.send(url, request),
    async proxy(url) {
      const proxy = await createProxy(url);
      proxies.push(proxy);
      return proxy;
    },
    valkey: () => valkeyOf(stores),
    wireId: toTypeId,
    folder,
    query: (sql, params = []) => query(stores.postgres.url, sql, params),
    verdict: async () => judge({ sent: await readLedger(ledger.path), ...(await readFound(stores.postgres.url)) }),
    async [Symbol.asyncDispose]() {
      await Promise.all(ends.map(end => end()));
      client.close();
      await Promise.all(units.map(unit => unit[Symbol.asyncDispose]()));
      await Promise.all(proxies.map(proxy => proxy[Symbol.asyncDispose]()));
      await home.close();
      await ledger.close();
    },
  };
}

const STRANGERS = '00000000-0000-8000-9000-000000000000';

/** The rows and totals in a database. */
export const readFound = (url: string): Promise<Omit<Evidence, 'sent'>> =>
  withClient(url, async client => {
    const rows = async <Row extends object>(columns: string, table: string): Promise<Row[]> =>
      (
        await client.query<Row>(`select tenant_id as tenant, ${columns} from ${table} where tenant_id <> all($1)`, [
          [STRANGERS, CANARY_TENANT_ID],
        ])
      ).rows;
    const stored = await rows<FoundAnswer>('id, identity, revision', 'answers');
    const quarantined = await rows<{ tenant: string; id: string; payload: string }>(
      'answer_id as id, payload',
      'quarantined_answers',
    );
    const totals = await rows<{ tenant: string; stored: string; quarantined: string }>(
      'stored, quarantined',
      'ingestion_totals',
    );
    return {
      stored,
      quarantined: quarantined.map(({ payload, ...row }) => ({ ...row, identity: JSON.parse(payload).identity })),
      totals: totals.map(row => ({
        tenant: row.tenant,
        stored: Number(row.stored),
        quarantined: Number(row.quarantined),
      })),
    };
  });

/** Observes the queue of these stores. */
export function createDrain(stores: Stores): Drain {
  const backlog = async () => {
    const connection = connectQueue({ databaseUrl: stores.postgres.url, redisUrl: stores.valkey?.url }, log);
    try {
      if (connection.redis) await waitFor(() => connection.redis?.status === 'ready', 5000);
      const counts: Record<string, number> = {};
      for (const queue of Object.values(QUEUES))
        for (const [state, count] of Object.entries(await connection.queue(queue).getJobCounts(...PENDING)))
          counts[state] = (counts[state] ?? 0) + count;
      return counts;
    } finally {
      await connection.close();
    }
  };
  return {
    backlog,
    async drained(limitMs = 300_000) {
      const startedAt = Date.now();
      await waitFor(async () => {
        await sleep(80); // each check opens a connection
        const counts = await backlog().catch(() => undefined); // a store that changes roles closes connections
        return counts && Object.values(counts).every(count => count === 0);
      }, limitMs);
      return Date.now() - startedAt;
    },
  };
}
