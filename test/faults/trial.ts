import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { openPooler } from '../containers/pooler.ts';
import type { Verdict, Violation } from './oracle.ts';
import { blankResult, type Result } from './report.ts';
import type { Scenario } from './scenario.ts';
import type { Stores } from './stores.ts';
import { type Backend, openPostgres, openValkey } from './stores.ts';
import { createWorld, type World } from './world.ts';

export interface TrialOptions {
  backend: Backend;
  /** Whether the processes reach PostgreSQL through a PgBouncer in transaction mode. */
  pooled: boolean;
  seed: number;
  size: number;
  /** The folder of the ledger and the logs, removed on success. */
  folder: string;
  progress(text: string): void;
}

const SHOWN_VIOLATIONS = 20;
/** As docs/scaling.md recommends: by default, PgBouncer holds statements for two minutes while PostgreSQL is away. */
const QUICK_TO_FAIL = { query_wait_timeout: '2', server_login_retry: '1' };

async function openStores(scenario: Scenario, backend: Backend, pooled: boolean): Promise<Stores & AsyncDisposable> {
  const chosen = scenario.stores?.(backend);
  const [postgres, valkey] = await Promise.all([
    openPostgres(chosen?.postgres),
    backend === 'valkey' ? openValkey(chosen?.valkey) : undefined,
  ]);
  const pooler = pooled ? await openPooler('transaction', postgres.url, QUICK_TO_FAIL) : undefined;
  return {
    postgres,
    valkey,
    poolerUrl: pooler?.url,
    async [Symbol.asyncDispose]() {
      await pooler?.[Symbol.asyncDispose]();
      await postgres[Symbol.asyncDispose]();
      await valkey?.[Symbol.asyncDispose]();
    },
  };
}

/** Runs a scenario once on new stores, checks it with the oracle, and keeps the ledger and the logs if it failed. */
export async function runTrial(scenario: Scenario, options: TrialOptions): Promise<Result> {
  const { backend, pooled, seed, size, folder, progress } = options;
  const result = blankResult(scenario, backend, seed, size);
  const startedAt = Date.now();
  mkdirSync(folder, { recursive: true });
  const endEarly = (error: unknown) => {
    result.failure ??= (error as Error).stack ?? String(error);
    progress(`ended early: ${(error as Error).message}`);
  };
  try {
    await using stores = await openStores(scenario, backend, pooled);
    await using world = await createWorld({ ...options, stores, unmigrated: scenario.unmigrated });
    await scenario
      .run(world)
      .then(() => settle(scenario, world, result))
      .catch(endEarly);
    summarise(world, result);
    if (!result.passed) keepLogs(world, result, folder);
  } catch (error) {
    endEarly(error); // starting or stopping the stores or the world failed
    result.passed = false;
  }
  result.seconds = (Date.now() - startedAt) / 1000;
  if (result.passed) rmSync(folder, { recursive: true });
  else progress(`kept in ${folder}`);
  return result;
}

/** Waits until the queue is empty and checks the result. */
async function settle(scenario: Scenario, world: World, result: Result): Promise<void> {
  await world.drained(120_000);
  enter(await world.verdict(), scenario, world, result);
}

function enter(verdict: Verdict, scenario: Scenario, world: World, result: Result): void {
  const count = (kind: Violation['kind']) => verdict.violations.filter(violation => violation.kind === kind).length;
  const { violations, ...counts } = verdict;
  Object.assign(result, counts, {
    lost: count('lost'),
    doubled: count('doubled'),
    misplaced: count('misplaced'),
    unexplained: count('unexplained'),
  });
  if (scenario.isControl) {
    world.must('acknowledged answers are lost', result.lost > 0, result.lost);
    return;
  }
  const shown = violations.slice(0, SHOWN_VIOLATIONS).map(({ kind, detail }) => `${kind}: ${detail}`);
  world.must(
    'nothing acknowledged is lost, doubled or astray',
    violations.length === 0,
    `${violations.length} violations${shown.length > 0 ? `: ${shown.join('; ')}` : ''}`,
  );
}

function summarise(world: World, result: Result): void {
  result.checks = [...world.checks];
  result.notes = [...world.notes];
  result.faults = Object.fromEntries(world.faults);
  result.recoveryMs = world.recoveriesMs.length > 0 ? Math.max(...world.recoveriesMs) : null;
  result.passed = result.failure === null && result.checks.length > 0 && result.checks.every(check => check.holds);
}

function keepLogs(world: World, result: Result, folder: string): void {
  for (const [index, unit] of world.units.entries())
    writeFileSync(`${folder}/${index + 1}-${unit.role}.log`, unit.output());
  writeFileSync(`${folder}/result.json`, JSON.stringify(result, null, 2));
}
