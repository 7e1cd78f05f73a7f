import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { resolve } from 'node:path';
import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Problem } from '../../src/domain/problem.ts';
import { isolate } from '../../src/queue/isolation.ts';
import { openSandbox } from '../../src/worker/sandbox.ts';
import type { SandboxTask } from '../../src/worker/sandbox-process.ts';
import { createDatabase } from '../support/database.ts';
import { anAcceptedAnswer } from '../support/make.ts';

const database = await createDatabase();
const { env } = process;
beforeAll(() => {
  process.env = {
    ...env,
    NODE_OPTIONS: `--import=${resolve(import.meta.dirname, '../faults/poison.ts')}`,
    POISON_LOOP_MS: '20000',
  };
});
afterAll(async () => {
  process.env = env;
  await database[Symbol.asyncDispose]();
});

/** A flush with one answer per comment. */
const flushOf = (...comments: string[]): SandboxTask => {
  const flush = { v: 1 as const, flush: v7(), answers: comments.map(comment => anAcceptedAnswer({ comment })) };
  return { flush: flush.flush, encoded: isolate(flush).map(part => part.sealed) };
};
/** A part of a flush with one answer. */
const answer = (comment: string): SandboxTask => ({ ...flushOf(comment), flush: v7(), part_of: v7() });
const STORED = { stored: 1, repeated: 0, quarantined: 0 };

test('its process has ended when it is closed', async () => {
  const started: ChildProcess[] = [];
  const listen = (message: unknown) => void started.push((message as { process: ChildProcess }).process);
  subscribe('child_process', listen);
  const sandbox = openSandbox(database.url);
  await sandbox.store(answer('good'));
  unsubscribe('child_process', listen);
  expect(started.map(child => child.exitCode)).toEqual([null]);
  await sandbox.close();
  expect(started.map(child => child.exitCode)).toEqual([0]);
});

test('a failure of the process is attributed to its answer, and never to the next one', async () => {
  const sandbox = openSandbox(database.url);
  expect(await sandbox.store(answer('good'))).toEqual(STORED);
  await expect(sandbox.store(answer('poison:kill'))).rejects.toThrow('exited (SIGKILL)');
  expect(await sandbox.store(answer('good'))).toEqual(STORED);
  await expect(sandbox.store(answer('poison:loop'))).rejects.toThrow('did not respond for 5 s');
  expect(await sandbox.store(answer('good'))).toEqual(STORED);
  await expect(sandbox.store(answer('poison:throw'))).rejects.toThrow('TypeError: This answer meets a bug.');
  expect(await sandbox.store(answer('good'))).toEqual(STORED);
  await sandbox.close();
});

test('a flush is stored in one transaction, in sequence, and fails as a whole', async () => {
  const sandbox = openSandbox(database.url);
  const [poisoned, good] = [flushOf('good', 'poison:kill', 'good'), flushOf('good', 'good', 'good')];
  const failing = sandbox.store(poisoned);
  const storing = sandbox.store(good);
  await expect(failing).rejects.toThrow('exited (SIGKILL)');
  expect(await storing).toEqual({ stored: 3, repeated: 0, quarantined: 0 });
  expect(await sandbox.store(good)).toEqual({ stored: 0, repeated: 0, quarantined: 0 }); // recorded before
  await sandbox.close();
});

test('a blocked worker does not treat its own pause as a hanging process', async () => {
  const sandbox = openSandbox(database.url);
  await sandbox.store(answer('good'));
  const held = sandbox.store(answer('good'));
  for (const until = Date.now() + 6500; Date.now() < until; );
  expect(await held).toEqual(STORED);
  await sandbox.close();
});

test('an outage and the end of the worker are attributed to no answer', async () => {
  const away = openSandbox('postgresql://nobody@127.0.0.1:1/nowhere');
  await expect(away.store(answer('good'))).rejects.toBeInstanceOf(Problem);
  await away.close();
  const sandbox = openSandbox(database.url);
  await sandbox.store(answer('good'));
  const held = sandbox.store(answer('poison:loop'));
  await Promise.all([sandbox.close(), expect(held).rejects.toBeInstanceOf(Problem)]);
});

test('an answer that the database rejects is quarantined as such', async () => {
  const sandbox = openSandbox(database.url);
  const refused = { stored: 0, repeated: 0, quarantined: 1 };
  expect(await sandbox.store(answer('not text for PostgreSQL: \u0000'))).toEqual(refused);
  await sandbox.close();
});
