import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Entry, memoryStorage } from '../../../clients/javascript/src/index.ts';
import { MAX_BATCH, MAX_BATCH_BYTES } from '../../../clients/javascript/src/outbox/batches.ts';
import { MAX_ANSWERS } from '../../../clients/javascript/src/outbox/changes.ts';
import { fileStorage } from '../../../clients/javascript/src/outbox/file-storage.ts';
import { contract } from '../contract.ts';
import { ID, OutboxPlay, type Shelf, type Step } from './outbox-play.ts';

const { limits, cases } = contract('outbox') as {
  limits: Record<string, number>;
  cases: { name: string; steps: Step[] }[];
};

const play = async (shelf: Shelf, steps: Step[]): Promise<void> => {
  const outbox = new OutboxPlay(shelf, steps.find(({ timeout_ms }) => timeout_ms)?.timeout_ms);
  for (const step of steps) await outbox.play(step);
};

test('the limits are those of the contract', () => {
  expect({
    answers: MAX_ANSWERS,
    batch_answers: MAX_BATCH,
    batch_bytes: MAX_BATCH_BYTES,
  }).toEqual(limits);
});

describe('outbox.json, in memory', () => {
  test.each(cases)('$name', async ({ steps }) => {
    const storage = memoryStorage();
    await play({ open: () => storage, damage: id => storage.put({ id } as Entry) }, steps);
  });
});

describe('outbox.json, in files', () => {
  // The two cases with hundreds of answers would sync as many files and do not test the storage.
  test.each(cases.filter(({ steps }) => !steps.some(({ count = 0 }) => count > 200)))('$name', async ({ steps }) => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-outbox-'));
    const damage = (id: string) => writeFile(join(folder, `${id}.json`), '{"id":');
    try {
      await play({ open: () => fileStorage(folder), damage }, steps);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('a damaged file is kept under another name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-outbox-'));
    const [id] = [`${ID}000000000001`];
    const storage = fileStorage(folder);
    await writeFile(join(folder, `${id}.json`), 'not JSON');
    expect(await storage.list()).toEqual([{ id }]);
    await storage.setAside?.(id);
    expect(await storage.list()).toEqual([]);
    expect(await readFile(join(folder, `${id}.json.damaged`), 'utf8')).toBe('not JSON');
    await rm(folder, { recursive: true });
  });

  test('a file half written at a kill is ignored', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-outbox-'));
    await writeFile(join(folder, `${ID}000000000001.json.part`), '{"id":');
    expect(await fileStorage(folder).list()).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
    await rm(folder, { recursive: true });
  });
});
