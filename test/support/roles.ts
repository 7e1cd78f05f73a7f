import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Diagnosis } from '../../src/commands/doctor.ts';
import { runHere } from './command-line.ts';
import { ROOT } from './modules.ts';
import { runCommand, startProcess, type TestProcess } from './process.ts';

/** Runs `parley doctor` and returns its report. A process of its own is needed only for what Node reads at its start. */
export async function diagnose(environment: Record<string, string>): Promise<Diagnosis> {
  const run = environment.NODE_EXTRA_CA_CERTS ? runCommand : runHere;
  return JSON.parse((await run(['doctor'], environment)).stdout) as Diagnosis;
}

/** API and worker as two processes on the same stores. */
export interface Roles extends AsyncDisposable {
  api: TestProcess;
  worker: TestProcess;
  /** The output of both. */
  output(): string;
  /** Runs the whole demo against them. Rejects with its output when a step fails. */
  runDemo(): Promise<void>;
  /** The entries of `degraded` in the reply of `/readyz`. */
  degraded(): Promise<string[]>;
}

/** Starts API and worker in the same environment, except for `ofApi`. Resolves when both are ready. */
export async function startRoles(
  environment: Record<string, string>,
  ofApi: Record<string, string> = {},
): Promise<Roles> {
  const [api, worker] = await Promise.all([
    startProcess('serve', { ...environment, ...ofApi }),
    startProcess('work', environment),
  ]);
  const stop = async () => void (await Promise.all([api[Symbol.asyncDispose](), worker[Symbol.asyncDispose]()]));
  try {
    await Promise.all([api.awaitProbe('/readyz'), worker.awaitProbe('/readyz')]);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    api,
    worker,
    output: () => api.output() + worker.output(),
    async runDemo() {
      const own = { PATH: process.env.PATH, BASE_URL: api.baseUrl, PARLEY_CLI: `${process.execPath} src/main.ts` };
      await promisify(execFile)(process.execPath, ['docs/demo.ts'], {
        cwd: ROOT,
        env: { ...environment, ...ofApi, ...own },
      });
    },
    async degraded() {
      const reply = await fetch(`${api.baseUrl}/readyz`);
      return ((await reply.json()) as { degraded: string[] }).degraded;
    },
    [Symbol.asyncDispose]: stop,
  };
}
