import { expect, test } from 'vitest';
import { createKeyRing } from '../../src/api/credentials/key-ring.ts';
import { openNotices } from '../../src/coordination/notices.ts';
import { createCaches } from '../../src/platform/caches.ts';
import { createLog } from '../../src/platform/log.ts';
import { createSeals } from '../../src/platform/secrets.ts';
import { waitFor } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { makeKeychain, newSecretKey } from '../support/keychain.ts';
import { makeTenant, uuidOfKey } from '../support/make.ts';
import { createProxy } from '../support/proxy.ts';

test('a key revoked while a process was disconnected from PostgreSQL ends when it is connected again', async () => {
  await using database = await createDatabase();
  await using proxy = await createProxy(database.url);
  const [log, secretKey] = [createLog('silent', 'test'), newSecretKey()];
  const tenant = await makeTenant({ database, seals: createSeals({ current: secretKey, others: [] }) });
  const notices = openNotices(proxy.through(database.url), undefined, log);
  const keychain = makeKeychain(secretKey);
  const ring = createKeyRing({ storage: database.storage(), notices, keychain, log, caches: createCaches() });
  const id = uuidOfKey(tenant.key);
  const statusIn = async () => (await ring.find(id))?.status(new Date());
  try {
    await waitFor(
      async () => notices.isListening() && (await statusIn()) === 'active' && ring.cached(id) !== undefined,
    );
    proxy.cut();
    await waitFor(() => !notices.isListening());
    await database.query('update api_keys set revoked_at = now() where id = $1', [id]);
    expect(await statusIn()).toBe('active'); // not announced to this process
    proxy.mend();
    await waitFor(() => notices.isListening());
    expect(ring.cached(id)).toBeUndefined();
    expect(await statusIn()).toBe('revoked');
  } finally {
    await ring.close();
    await notices.close();
  }
});
