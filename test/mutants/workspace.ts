import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { withClient } from '../../src/platform/postgres-client.ts';
import { ROOT } from '../support/modules.ts';
import { type RunningStores, startStores } from '../support/store-servers.ts';
import { applyFault, type Fault } from './operators.ts';

/** The outcome of a run of test files. */
export interface TestRun {
  passed: boolean;
  /** Killed because no file ended for `silenceMs`. */
  timedOut: boolean;
  durationMs: number;
  /** The tests that failed, as `file > title`. */
  failures: string[];
  output: string;
}

/** A copy of the repository with servers of its own, in which faults are tried one at a time. */
export interface Workspace extends AsyncDisposable {
  folder: string;
  /** Runs test files in this order until a test fails. With `recordTo`, runs all and records their calls there. */
  run(files: string[], silenceMs: number, recordTo?: string): Promise<TestRun>;
  /** Runs an action while the copy contains a fault. */
  withFault<T>(fault: Fault, action: () => Promise<T>): Promise<T>;
}

/** Returns the files that Git tracks or would add. */
const listFiles = (): string[] =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter(path => path !== '' && existsSync(join(ROOT, path)));

function copyRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-mutants-'));
  for (const path of listFiles())
    cpSync(join(ROOT, path), join(folder, path), { recursive: true, verbatimSymlinks: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Drops the databases and keys that an interrupted run has left. */
async function emptyStores({ postgresUrl, valkeyUrl }: RunningStores): Promise<void> {
  await withClient(postgresUrl, async client => {
    const { rows } = await client.query<{ datname: string }>(
      "select datname from pg_database where not datistemplate and datname <> 'postgres'",
    );
    for (const { datname } of rows) await client.query(`drop database "${datname}" with (force)`);
  });
  if (!valkeyUrl) return;
  const valkey = new Redis(valkeyUrl);
  await valkey.flushall();
  await valkey.quit();
}

/** Kills a process group, if any of it still runs. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Runs Node as a process group, which is killed at the end with the processes that tests left behind, when it prints no
 * output for `silenceMs`, and when `ending` is aborted.
 */
async function runGroup(args: string[], cwd: string, env: NodeJS.ProcessEnv, silenceMs: number, ending: AbortSignal) {
  const child = spawn(process.execPath, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => killGroup(child.pid as number);
  let timedOut = false;
  const silence = setTimeout(() => {
    timedOut = true;
    kill();
  }, silenceMs);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output += chunk;
      silence.refresh();
    });
  ending.addEventListener('abort', kill);
  const [code] = await once(child, 'exit');
  ending.removeEventListener('abort', kill);
  clearTimeout(silence);
  kill();
  return { code: code as number | null, output, timedOut };
}

interface JsonReport {
  testResults: {
    name: string;
    message: string;
    status: string;
    assertionResults: { status: string; fullName: string }[];
  }[];
}

/** Returns the failures of Vitest's report: none if the run ended before any test. */
function readFailures(path: string, folder: string): string[] {
  if (!existsSync(path)) return [];
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as JsonReport;
  rmSync(path);
  return testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, message, assertionResults }) => {
      const file = name.slice(folder.length + 1);
      const failed = assertionResults
        .filter(test => test.status === 'failed')
        .map(test => `${file} > ${test.fullName}`);
      return failed.length > 0 ? failed : [`${file}: ${message.split('\n')[0]}`];
    });
}

/** Copies the repository and starts servers for it, which are kept from one fault to the next. */
export async function openWorkspace(hasDocker: boolean): Promise<Workspace> {
  const folder = copyRepository();
  const stores = await startStores(hasDocker);
  const report = join(folder, 'test/mutants/report.json');
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
  const command = [
    vitest,
    'run',
    '--config',
    'test/mutants/vitest.config.ts',
    '--reporter',
    'default', // prints a line whenever a file ends
    '--reporter',
    'json',
    '--outputFile',
    report,
  ];
  const { postgresUrl, valkeyUrl } = stores;
  const ending = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const runTests: Workspace['run'] = async (files, silenceMs, recordTo) => {
    const env = {
      ...process.env,
      TESTS_STORES: JSON.stringify({ postgresUrl, valkeyUrl }),
      MUTANTS_FILES: files.join('\n'),
      ...(recordTo ? { MUTANTS_CALLS: recordTo } : {}),
    };
    const startedAt = Date.now();
    const { code, output, timedOut } = await runGroup(command, folder, env, silenceMs, ending.signal);
    const durationMs = Date.now() - startedAt;
    await emptyStores(stores);
    return { passed: code === 0, timedOut, durationMs, output, failures: readFailures(report, folder) };
  };
  return {
    folder,
    async run(files, silenceMs, recordTo) {
      const run = runTests(files, silenceMs, recordTo);
      running = run;
      const result = await run;
      return ending.signal.aborted ? new Promise(() => undefined) : result; // interrupted: the process is about to exit
    },
    async withFault(fault, action) {
      const path = join(folder, fault.path);
      const text = readFileSync(path, 'utf8');
      writeFileSync(path, applyFault(text, fault));
      try {
        return await action();
      } finally {
        writeFileSync(path, text);
      }
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
      await stores.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
