import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { createLog } from '../../src/platform/log.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { migrateQueue } from '../../src/queue/connection.ts';
import { migrate } from '../../src/storage/database/migrate.ts';
import { openStorage, type Storage } from '../../src/storage/database/orm.ts';
import type { TestDatabase } from './database.ts';

export interface OwnServer extends TestDatabase {
  /** Changes a setting of the server and resolves when new sessions have it; `undefined` resets it. */
  configure(name: string, value: string | undefined): Promise<void>;
}

/** Starts a separate migrated PostgreSQL server, for settings that must not affect other tests. */
export async function createOwnServer(): Promise<OwnServer> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-server-'));
  chmodSync(folder, 0o755); // the server runs as another user than root
  const log = createLog('silent', 'test');
  const { url, stop } = await openEmbeddedPostgres(folder, false, log);
  await migrateQueue({ databaseUrl: url, redisUrl: undefined });
  await migrate(url, log);
  const opened: Storage[] = [];
  const query = <Row extends object>(sql: string, params: unknown[] = []) =>
    withClient(url, async client => (await client.query<Row>(sql, params)).rows);
  return {
    url,
    query,
    storage(role = 'parley_app') {
      const storage = openStorage({ url, role, connections: 5, log });
      opened.push(storage);
      return storage;
    },
    async configure(name, value) {
      await query(`alter system ${value === undefined ? `reset ${name}` : `set ${name} = '${value}'`}`);
      await query('select pg_reload_conf()');
      const isSet = async () => {
        const [row] = await query<{ setting: string; reset_val: string; boot_val: string }>(
          'select setting, boot_val from pg_settings where name = $1',
          [name],
        );
        return row?.setting === (value ?? row?.boot_val);
      };
      while (!(await isSet())); // each check uses a new session
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map(storage => storage.close()));
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
