import { randomBytes } from 'node:crypto';
import { createLog } from '../../src/platform/log.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { openStorage, type Storage, type StorageRole } from '../../src/storage/orm.ts';
import { TEMPLATE } from './global-setup.ts';
import { stores } from './stores.ts';

export interface TestDatabase extends AsyncDisposable {
  /** For the owner, who sees through row-level security. */
  url: string;
  /** A storage of some role; closed with the database. */
  storage(role?: StorageRole): Storage;
  /** One statement as the owner. */
  query<Row extends object>(sql: string, params?: unknown[]): Promise<Row[]>;
}

const asMaintainer = async (sql: string) => withClient((await stores()).postgresUrl, client => client.query(sql));

const drop = async (name: string): Promise<void> => void (await asMaintainer(`drop database ${name} with (force)`));

const urlOf = async (name: string): Promise<string> => {
  const url = new URL((await stores()).postgresUrl);
  url.pathname = name;
  return url.href;
};

/** A database of one's own, copied from the migrated template and dropped at the end of the scope. */
export async function createDatabase(): Promise<TestDatabase> {
  const name = `t_${randomBytes(8).toString('hex')}`;
  await copyTemplate(name);
  const url = await urlOf(name);
  const opened: Storage[] = [];
  return {
    url,
    storage(role = 'parley_app') {
      const storage = openStorage({ url, role, connections: 5, log: createLog('warn', 'test') });
      opened.push(storage);
      return storage;
    },
    query: <Row extends object>(sql: string, params: unknown[] = []) =>
      withClient(url, async client => (await client.query<Row>(sql, params)).rows),
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map(storage => storage.close()));
      await drop(name);
    },
  };
}

/** A database without any schema, dropped at the end of the scope. */
export async function createEmptyDatabase(): Promise<{ url: string } & AsyncDisposable> {
  const name = `t_${randomBytes(8).toString('hex')}`;
  await asMaintainer(`create database ${name}`);
  return { url: await urlOf(name), [Symbol.asyncDispose]: () => drop(name) };
}

/** Copies the template, which is busy while another test file copies it. */
async function copyTemplate(name: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await asMaintainer(`create database ${name} template ${TEMPLATE}`);
      return;
    } catch (error) {
      if (attempt >= 100) throw error;
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }
}
