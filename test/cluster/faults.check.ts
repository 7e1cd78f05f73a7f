import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { runTool } from '../support/tools.ts';
import { waitFor } from '../support/wait.ts';
import { type Bench, createBench, type Outcome } from './bench.ts';
import { type Component, createInstallation, type Installation, UNLIMITED, WORKLOADS } from './installation.ts';
import { settingFor } from './skipped.ts';

const RESTART_NODE = 'CLUSTER_RESTART_NODE';
const BACK_WITHIN_MS = 300_000;

const replicas = (api: number, worker: number) => ({
  api: { replicas: api },
  worker: { replicas: worker },
  ...UNLIMITED,
});

/** Expects no acknowledged answer to be missing or duplicated. */
function expectKept({ violations, acknowledged }: Outcome): void {
  expect(violations).toEqual([]);
  expect(acknowledged).toBeGreaterThan(500);
}

/** Also expects every attempt of the clients to succeed. */
function expectUnnoticed(outcome: Outcome): void {
  expectKept(outcome);
  expect(outcome.failedAttempts).toBe(0);
}

/** Also expects every request of a retrying client to succeed eventually. */
function expectBridged(outcome: Outcome): void {
  expectKept(outcome);
  expect(outcome.givenUp).toBe(0);
}

describe.runIf(inject('cluster'))('two replicas of API and worker at 100 answers a second', () => {
  let installation: Installation;
  let bench: Bench;
  beforeAll(async () => {
    installation = await createInstallation();
    await installation.install(replicas(2, 2));
    bench = await createBench(installation, await installation.open());
  });
  afterAll(async () => {
    await bench?.[Symbol.asyncDispose]();
    await installation?.[Symbol.asyncDispose]();
  });

  const restart = async (component: Component) => {
    await installation.kubectl(['rollout', 'restart', WORKLOADS[component]]);
    await installation.settled([component]);
  };
  const scale = async (count: number) => {
    for (const component of ['api', 'worker'] as const)
      await installation.kubectl(['scale', WORKLOADS[component], '--replicas', String(count)]);
    await installation.settled(['api', 'worker']);
  };
  /** Resolves when as many containers run as before, without any of the removed ones. */
  const replaced = async (count: number, gone: string[], components?: readonly Component[]) => {
    const isReplaced = async () => {
      const now = [...(await installation.containers(components)).values()];
      return now.length >= count && !now.some(id => gone.includes(id));
    };
    await waitFor(() => isReplaced().catch(() => false), BACK_WITHIN_MS, 500); // the cluster itself may be unavailable
    await installation.settled(components);
  };
  /** Deletes each pod of a component by force and waits for its successor. */
  const kill = async (component: Component) => {
    const before = await installation.containers([component]);
    for (const [pod, id] of before) {
      await installation.kubectl(['delete', 'pod', pod, '--grace-period', '0', '--force']);
      await replaced(before.size, [id], [component]);
    }
  };

  test.each(['api', 'worker'] as const)('a rolling restart of the %s fails no request', async component => {
    expectUnnoticed(await bench.underLoad(`rolling restart: ${component}`, () => restart(component)));
  });

  test.each(['postgresql', 'valkey'] as const)(
    'a restart of %s neither loses nor duplicates an answer',
    async component => {
      expectKept(await bench.underLoad(`restart: ${component}`, () => restart(component)));
    },
  );

  test('scaling to 1, 3, 1 and 2 replicas fails no request', async () => {
    const outcome = await bench.underLoad('scale: API and worker 1 → 3 → 1', async () => {
      for (const count of [1, 3, 1, 2]) await scale(count);
    });
    expectUnnoticed(outcome);
  });

  test.each(['api', 'worker'] as const)(
    'deleting pods of the %s by force fails no request permanently',
    async component => {
      expectBridged(await bench.underLoad(`kill: every pod of ${component}`, () => kill(component)));
    },
  );

  test.each(['postgresql', 'valkey'] as const)(
    'deleting %s by force neither loses nor duplicates an answer',
    async component => {
      const thrice = async () => {
        for (let time = 0; time < 3; time++) await kill(component);
      };
      expectKept(await bench.underLoad(`kill: ${component}, three times`, thrice));
    },
  );

  test('the restart of a node with all pods neither loses nor duplicates an answer', async context => {
    const command = settingFor('the restart of a node', RESTART_NODE);
    if (!command) return context.skip();
    const before = [...(await installation.containers()).values()];
    const outcome = await bench.underLoad('restart of the node', async () => {
      await runTool('sh', ['-c', command], { limitMs: BACK_WITHIN_MS });
      await replaced(before.length, before);
    });
    expectKept(outcome);
  });
});
