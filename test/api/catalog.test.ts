import { expect, test } from 'vitest';
import { createCatalog } from '../../src/api/catalog.ts';
import { openNotices } from '../../src/coordination/notices.ts';
import { createLog } from '../../src/platform/log.ts';
import { openStorage } from '../../src/storage/orm.ts';
import { insertTenant } from '../../src/storage/tenants.ts';
import { waitFor } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { createProxy } from '../support/proxy.ts';

test('a catalog outlives its database: the last one known until a newer one can be read', async () => {
  await using database = await createDatabase();
  await using proxy = await createProxy(database.url);
  const log = createLog('silent', 'test');
  const storage = openStorage({ url: proxy.through(database.url), role: 'parley_app', connections: 2, log });
  const notices = openNotices(database.url, undefined, log);
  try {
    const catalog = createCatalog(storage, notices);
    const direct = database.storage();
    const [known, unknown] = [await insertTenant(direct, 'A', new Date()), await insertTenant(direct, 'B', new Date())];
    const cooldown = async () => (await catalog.of(known.id)).cooldownDays;
    const setCooldown = (days: number) =>
      database.query('update tenants set cooldown_days = $2 where id = $1', [known.id, days]);
    await setCooldown(3);
    await waitFor(async () => (await cooldown()) === 3);
    await setCooldown(4);
    await waitFor(async () => (await cooldown()) === 4); // notices arrive

    proxy.cut();
    await setCooldown(5);
    await expect(catalog.of(unknown.id)).rejects.toMatchObject({ code: 'database-unavailable' });
    for (let request = 0; request < 20; request++) expect(await cooldown()).toBe(4);
    expect((await catalog.readAfter(known.id, new Date())).cooldownDays).toBe(4);

    proxy.mend();
    await waitFor(async () => (await cooldown()) === 5);
    expect((await catalog.of(unknown.id)).cooldownDays).toBe(7);
  } finally {
    await Promise.all([storage.close(), notices.close()]);
  }
});

test('a catalog that is asked for what it does not know is read again, once for all who ask together', async () => {
  await using database = await createDatabase();
  const log = createLog('silent', 'test');
  const notices = openNotices(database.url, undefined, log);
  try {
    const storage = database.storage();
    const { id } = await insertTenant(storage, 'A', new Date());
    const catalog = createCatalog(storage, notices);
    const before = await catalog.of(id);
    const moment = new Date();
    const readings = await Promise.all(Array.from({ length: 20 }, () => catalog.readAfter(id, moment)));
    expect(readings[0]).not.toBe(before);
    expect(new Set(readings).size).toBe(1);
    expect(await catalog.readAfter(id, moment)).toBe(readings[0]);
  } finally {
    await notices.close();
  }
});
