import { randomUUID } from 'node:crypto';
import { DatabaseError } from 'pg-protocol';
import { expect, test } from 'vitest';
import { toTypeId } from '../../src/domain/ids.ts';
import { Problem } from '../../src/domain/problem.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createTenantRounds, type Outcome, type TenantWork } from '../../src/worker/tenant-rounds.ts';
import { loopDeps } from '../support/loops.ts';
import { waitFor } from '../support/wait.ts';

/** An error as the storage throws it for a statement that PostgreSQL has ended. */
function failure(code: string, message: string): Problem {
  const cause = Object.assign(new DatabaseError(message, 0, 'error'), { code });
  return new Problem('database-unavailable', 'The database cannot be reached right now.', { cause });
}

/** The rounds of a loop, with the log lines and the batches that they lead to. */
function start(work: Pick<TenantWork, 'batch' | 'list'> & Partial<TenantWork>) {
  const lines: Record<string, unknown>[] = [];
  const metrics = createMetrics('work');
  const log = { warn: (line: Record<string, unknown>, message: string) => lines.push({ ...line, message }) } as never;
  const batches: string[] = [];
  const rounds = createTenantRounds(
    { ...loopDeps(), metrics, log },
    {
      loop: 'test',
      ...work,
      batch: id => {
        batches.push(id);
        return work.batch(id);
      },
    },
  );
  const seconds = async () => {
    await metrics.render();
    return (await metrics.oldestWork.get()).values[0]?.value ?? 0;
  };
  return { rounds, lines, batches, metrics, seconds };
}

const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];

test('a backlog gets four turns in a round, and every tenant its first one before the second of another', async () => {
  const { rounds, batches } = start({
    list: async () => [one, two],
    batch: async id => (id === one ? 'more' : 'done'),
  });
  expect(await rounds.run()).toBe(true);
  expect(batches).toEqual([one, two, one, one, one]);
});

test('a failure is counted and logged with its cause and tenant, and only this tenant is skipped', async () => {
  const { rounds, lines, batches, metrics } = start({
    list: async () => [one, two],
    batch: async id => {
      if (id === one) throw failure('57014', 'canceling statement due to statement timeout');
      return 'done';
    },
  });
  for (let round = 0; round < 5; round++) expect(await rounds.run()).toBe(false);
  expect(batches).toEqual([one, two, two, two, two, two]);
  expect(lines).toEqual([
    {
      loop: 'test',
      tenant: toTypeId('tenant', one),
      reason: 'canceling statement due to statement timeout',
      sqlstate: '57014',
      cause: 'statement timeout',
      times: 1,
      retry_s: 1,
      message: 'background work of a tenant failed; will retry',
    },
  ]);
  expect((await metrics.workFailures.get()).values).toEqual([{ labels: { loop: 'test' }, value: 1 }]);
  expect(rounds.pauseMs(60_000)).toBeLessThanOrEqual(1000);
  await waitFor(async () => (await rounds.run()) || batches.filter(id => id === one).length === 2);
  expect(lines.at(-1)).toMatchObject({ times: 2, retry_s: 2 });
});

test('a slow batch does not keep the next tenant waiting, and is not started twice', async () => {
  const slow = Promise.withResolvers<Outcome>();
  const { rounds, batches } = start({
    list: async () => [one, two],
    batch: id => (id === one ? slow.promise : Promise.resolve('done')),
  });
  for (let round = 0; round < 2; round++) await rounds.run();
  expect(batches).toEqual([one, two, two]);
  slow.resolve('more');
  expect(await rounds.ended()).toEqual(['more']);
  await rounds.run();
  expect(batches.filter(id => id === one).length).toBeGreaterThan(1);
});

test('an outage of the database fails the round, and no tenant', async () => {
  for (const error of [failure('57P01', 'terminating connection'), new Problem('service-overloaded', 'full')]) {
    const { rounds, lines, batches } = start({
      list: async () => [one, two],
      batch: async () => {
        throw error;
      },
    });
    await expect(rounds.run()).rejects.toBe(error);
    await expect(rounds.run()).rejects.toBe(error);
    expect([batches, lines]).toEqual([[one, one], []]);
  }
});

test('the oldest work is that of a tenant which fails or is blocked, not of one whose backlog shrinks', async () => {
  let outcome: Outcome = 'blocked';
  let listed = [one, two];
  const { rounds, seconds } = start({
    list: async () => listed,
    batch: async id => {
      if (id === one) throw new Error('refused');
      return outcome;
    },
  });
  expect(await seconds()).toBe(0);
  await rounds.run();
  const before = await seconds();
  outcome = 'more';
  await rounds.run();
  expect(before).toBeGreaterThan(0);
  expect(await seconds()).toBeGreaterThan(before);
  listed = [two];
  await rounds.run();
  expect(await seconds()).toBeLessThan(before + 0.1);
  listed = [];
  await rounds.run();
  expect(await seconds()).toBe(0);
});

test('work is done together for all but the tenants that fail', async () => {
  const calls: (readonly string[])[] = [];
  let bad: string = one;
  const { rounds, batches } = start({
    list: async () => [one, two, three],
    together: async except => {
      calls.push(except);
      if (!except.includes(bad)) throw new Error('refused');
      return 'done';
    },
    batch: async id => {
      if (id === bad) throw new Error('refused');
      return 'done';
    },
  });
  await rounds.run();
  expect([calls, batches]).toEqual([[[]], [one, two, three]]);
  await rounds.run();
  expect(batches.slice(3)).toEqual([two, three]); // one by one for a while
  bad = '';
  await waitFor(async () => (await rounds.run()) || batches.filter(id => id === one).length > 1);
});
