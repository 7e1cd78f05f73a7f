import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { createLog } from '../../src/platform/log.ts';
import { outlive, withClient } from '../../src/platform/postgres-client.ts';
import { openStorage, type Storage, type StorageRole } from '../../src/storage/database/orm.ts';
import { TEMPLATE } from './global-setup.ts';
import { stores } from './stores.ts';

export interface TestDatabase extends AsyncDisposable {
  /** The owner's URL; row-level security does not apply to the owner. */
  url: string;
  /** Opens a storage with a role; closed with the database. */
  storage(role?: StorageRole): Storage;
  /** Executes a statement as the owner. */
  query<Row extends object>(sql: string, params?: unknown[]): Promise<Row[]>;
}

const asMaintainer = async (sql: string) => withClient((await stores()).postgresUrl, client => client.query(sql));

const drop = async (name: string): Promise<void> => void (await asMaintainer(`drop database ${name} with (force)`));

const urlOf = async (name: string): Promise<string> => {
  const url = new URL((await stores()).postgresUrl);
  url.pathname = name;
  return url.href;
};

/** Connections as the owner. Each stays open for the next statement: a new one costs 12 ms of CPU time, and `waitFor` asks often. */
function openOwner(url: string): Pool {
  const pool = new Pool({ connectionString: url, max: 10, idleTimeoutMillis: 1000 });
  pool.on('connect', outlive);
  pool.on('error', () => undefined); // a test ended its idle connection; the next statement opens another
  return pool;
}

/** Creates a database from the migrated template, dropped at the end of the scope. */
export async function createDatabase(): Promise<TestDatabase> {
  const name = `t_${randomBytes(8).toString('hex')}`;
  await copyTemplate(name);
  const url = await urlOf(name);
  const opened: Storage[] = [];
  const owner = openOwner(url);
  return {
    url,
    storage(role = 'parley_app') {
      const storage = openStorage({ url, role, connections: 5, log: createLog('warn', 'test') });
      opened.push(storage);
      return storage;
    },
    query: async <Row extends object>(sql: string, params: unknown[] = []) =>
      (await owner.query<Row>(sql, params)).rows,
    async [Symbol.asyncDispose]() {
      const ended = owner.end();
      await Promise.all(opened.map(storage => storage.close()));
      await drop(name); // ends statements that still wait
      await ended;
    },
  };
}

/** Creates a database without a schema, dropped at the end of the scope. */
export async function createEmptyDatabase(): Promise<{ url: string } & AsyncDisposable> {
  const name = `t_${randomBytes(8).toString('hex')}`;
  await asMaintainer(`create database ${name}`);
  return { url: await urlOf(name), [Symbol.asyncDispose]: () => drop(name) };
}

/** Copies the template. Retries, because another test file may be copying it. */
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
