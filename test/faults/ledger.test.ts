import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLedger, readLedger } from './ledger.ts';

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'parley-ledger-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

const answer = (id: string) => ({ id, identity: `user|${id}` });

test('a ledger returns each answer once, with its strongest state', async () => {
  await using folder = await temporaryFolder();
  const ledger = await openLedger(join(folder.path, 'ledger'));
  const ask = async (ids: string[], status: number | 'broken' | undefined, rejected?: number[]) => {
    const request = await ledger.before('acme', ids.map(answer));
    if (status !== undefined) await ledger.after(request, status, rejected);
  };
  await Promise.all([
    ask(['taken', 'rejected'], 202, [1]),
    ask(['unavailable'], 503),
    ask(['broken'], 'broken'),
    ask(['limited'], 429),
    ask(['cut off'], undefined),
    ask(['at last'], 503),
  ]);
  await ask(['at last'], 202);
  await ask(['at last'], 503);
  await ledger.close();
  const fates = Object.fromEntries((await readLedger(ledger.path)).map(entry => [entry.id, entry.fate]));
  expect(fates).toEqual({
    taken: 'acknowledged',
    rejected: 'refused',
    unavailable: 'ambiguous',
    broken: 'ambiguous',
    limited: 'refused',
    'cut off': 'ambiguous',
    'at last': 'acknowledged',
  });
});

test('a ledger is never overwritten, and a reply without its request is an error', async () => {
  await using folder = await temporaryFolder();
  const ledger = await openLedger(join(folder.path, 'ledger'));
  await ledger.close();
  await expect(openLedger(ledger.path)).rejects.toThrow('EEXIST');
  await appendFile(ledger.path, '{"after":7,"status":202,"rejected":[]}\n');
  await expect(readLedger(ledger.path)).rejects.toThrow('request 7');
});
