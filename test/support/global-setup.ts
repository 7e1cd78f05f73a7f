import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { createLog } from '../../src/platform/log.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { migrateQueue } from '../../src/queue/connection.ts';
import { migrate } from '../../src/storage/database/migrate.ts';
import { findDockerFault, type RunningStores, type StoreUrls, startStores } from './store-servers.ts';
import { makeUnlikeTenants } from './unlike-tenants.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether containers can be started, which tests with Valkey need. */
    hasDocker: boolean;
    /** The URL from which `stores()` in `stores.ts` gets the stores. The first request of a run starts them. */
    storesUrl: string;
  }
}

/** The template of all test databases, migrated once per run. */
export const TEMPLATE = 'parley_template';

const log = createLog('warn', 'test');

/** As an administrator may prepare a database: each privilege of the roles must be granted explicitly. */
const HARDENED = `
revoke all on schema public from public;
alter default privileges revoke execute on functions from public`;

async function makeTemplate(postgresUrl: string): Promise<void> {
  const client = new Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query(`drop database if exists ${TEMPLATE}`);
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  const url = new URL(postgresUrl);
  url.pathname = TEMPLATE;
  await withClient(url.href, prepared => prepared.query(HARDENED));
  await migrate(url.href, log);
  await migrateQueue({ databaseUrl: url.href, redisUrl: undefined });
  await makeUnlikeTenants(postgresUrl, TEMPLATE);
}

/** Starts the stores at the first request, and replies to each request with their addresses. */
async function serveStores(open: () => Promise<RunningStores>) {
  let starting: Promise<RunningStores> | undefined;
  const start = async () => {
    const stores = await open();
    await makeTemplate(stores.postgresUrl);
    return stores;
  };
  const server = createServer(async (_, response) => {
    try {
      starting ??= start();
      const { postgresUrl, valkeyUrl } = await starting;
      response.end(JSON.stringify({ postgresUrl, valkeyUrl }));
    } catch (error) {
      response.writeHead(500).end((error as Error).stack);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      const stores = await starting?.catch(() => undefined); // the tests have reported the error
      await stores?.stop();
    },
  };
}

/** Servers that `npm run test:oldest-postgres` has started; absent in any other run. */
const keptStores = (): StoreUrls | undefined =>
  process.env.TESTS_STORES ? (JSON.parse(process.env.TESTS_STORES) as StoreUrls) : undefined;

async function serveKept(project: TestProject, kept: StoreUrls): Promise<() => Promise<void>> {
  const stores = await serveStores(async () => ({ ...kept, stop: async () => undefined }));
  project.provide('hasDocker', kept.valkeyUrl !== undefined);
  project.provide('storesUrl', stores.url);
  return stores.stop;
}

/**
 * One PostgreSQL per run, and one Valkey if there is Docker; otherwise tests with Valkey are skipped with a message.
 * Both start when a test first needs them, so unit tests run without them.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const kept = keptStores();
  if (kept) return serveKept(project, kept);
  const fault = await findDockerFault();
  if (fault && process.env.TESTS_REQUIRE?.includes('docker'))
    throw new Error(`TESTS_REQUIRE includes docker, but containers cannot be started: ${fault}`);
  if (fault)
    process.stderr.write(
      `\n*** No containers (${fault}): the tests use the embedded PostgreSQL, and all tests with Valkey are SKIPPED. ***\n\n`,
    );
  const stores = await serveStores(() => startStores(!fault));
  project.provide('hasDocker', !fault);
  project.provide('storesUrl', stores.url);
  return stores.stop;
}
