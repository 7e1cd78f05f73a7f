import { afterAll, describe, expect, test } from 'vitest';
import { type Notices, openNotices } from '../../src/coordination/notices.ts';
import { createLog } from '../../src/platform/log.ts';
import { backends, valkeyUrl, waitFor } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { createProxy } from '../support/proxy.ts';

const log = createLog('silent', 'test');
/** Longer than two heartbeats, which come every 3 s. */
const DEAF_MS = 10_000;

describe.runIf(backends().includes('valkey'))('a process without a connection to PostgreSQL', async () => {
  const database = await createDatabase();
  const redis = await valkeyUrl();
  afterAll(() => database[Symbol.asyncDispose]());

  const open = (databaseUrl = database.url, redisUrl = redis): Notices & AsyncDisposable => {
    const notices = openNotices(databaseUrl, redisUrl, log);
    return { ...notices, [Symbol.asyncDispose]: () => notices.close() };
  };

  /** A process whose connection to PostgreSQL is cut a while after it started to listen. */
  async function cutOff() {
    const proxy = await createProxy(database.url);
    const notices = open(proxy.through(database.url));
    let gaps = 0;
    notices.onGap(() => gaps++);
    const openedAt = Date.now();
    await waitFor(() => notices.isListening() && Date.now() - openedAt > DEAF_MS); // checked at least once since it listens
    proxy.cut();
    await waitFor(() => !notices.isListening());
    return {
      notices,
      gaps: () => gaps,
      async [Symbol.asyncDispose]() {
        await notices.close();
        await proxy[Symbol.asyncDispose]();
      },
    };
  }

  test('receives notices while another process is connected, and reports a gap as soon as none is', async () => {
    await using other = open();
    await using own = await cutOff();
    const cutAt = Date.now();
    await waitFor(() => Date.now() - cutAt > 2 * DEAF_MS, 30_000);
    expect(own.notices.unconfirmedMs()).toBeLessThan(DEAF_MS);
    await other.close();
    await waitFor(() => own.notices.unconfirmedMs() > DEAF_MS, 30_000);
  }, 300_000);

  test('ignores heartbeats of another installation on the same store', async () => {
    const elsewhere = new URL(redis);
    elsewhere.pathname = `/${(Number(elsewhere.pathname.slice(1)) + 8) % 16}`;
    await using _other = open(database.url, elsewhere.href);
    await using own = await cutOff();
    await waitFor(() => own.notices.unconfirmedMs() > DEAF_MS, 30_000);
  }, 300_000);

  test('reports a gap if the relaying process was disconnected from PostgreSQL meanwhile', async () => {
    await using other = open();
    await waitFor(() => other.isListening());
    await using own = await cutOff();
    const before = own.gaps();
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'parley_notices' and datname = current_database()`,
    );
    await waitFor(() => own.gaps() > before);
    await waitFor(() => other.isListening() && own.notices.unconfirmedMs() < 1000);
  }, 300_000);
});
