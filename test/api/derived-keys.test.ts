import { expect, test, vi } from 'vitest';
import { createDerivedKeys } from '../../src/api/credentials/derived-keys.ts';
import { createLog } from '../../src/platform/log.ts';
import { createSeals } from '../../src/platform/secrets.ts';
import { openStorage } from '../../src/storage/database/orm.ts';
import { freePort } from '../support/process.ts';

test('a process that waits for its keys says so once, not at each attempt', async () => {
  const url = `postgresql://parley@127.0.0.1:${await freePort()}/parley`;
  const log = createLog('silent', 'serve');
  const storage = openStorage({ url, role: 'parley_app', connections: 1, log });
  const attempts = vi.spyOn(storage, 'query');
  const lines = vi.spyOn(log, 'error');
  const stop = new AbortController();
  const loading = createDerivedKeys(
    storage,
    createSeals({ current: Buffer.alloc(32).toString('base64'), others: [] }),
    log,
  ).load(stop.signal);
  await vi.waitFor(() => expect(attempts.mock.calls.length).toBeGreaterThan(2), 10_000);
  stop.abort();
  await expect(loading).rejects.toThrow('aborted');
  await storage.close();
  const waiting = lines.mock.calls.filter(([, text]) => text === 'waiting for the encryption keys');
  expect(waiting).toEqual([[{ reason: 'The database cannot be reached right now.' }, expect.any(String)]]);
});
