import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { withClient } from '../../src/platform/postgres-client.ts';
import { askValkey, openPostgres, openValkey } from '../faults/stores.ts';
import { runCommand, startProcess } from '../support/process.ts';
import { diagnose } from '../support/roles.ts';

const SECRET_KEY = randomBytes(32).toString('base64');

/** The stores' own tools, from their images, as programs in a folder: this machine may lack them, or have older ones. */
function installTools(work: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tools-'));
  const run = `exec docker run --rm --network host --user "$(id -u):$(id -g)" -v ${work}:${work} -e PGPASSWORD -e REDISCLI_AUTH -e VALKEYCLI_AUTH`;
  for (const [tool, image] of [
    ['pg_dump', 'postgres:18'],
    ['pg_restore', 'postgres:18'],
    ['valkey-cli', 'valkey/valkey:9'],
  ] as const) {
    writeFileSync(join(folder, tool), `#!/bin/sh\n${run} --entrypoint ${tool} ${image} "$@"\n`);
    chmodSync(join(folder, tool), 0o755);
  }
  return folder;
}

/** Every file below a folder with its content's length and time of change. */
const listing = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => `${name} ${statSync(join(folder, name)).size} ${statSync(join(folder, name)).mtimeMs}`)
    .toSorted();

/** Stores, an environment in which their tools are installed, and a folder for backups. */
async function createStores() {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await openPostgres());
  const valkey = stack.use(await openValkey({ settings: { maxmemory: '512mb' } }));
  const work = mkdtempSync(join(tmpdir(), 'parley-backups-'));
  const tools = installTools(work);
  const environment = {
    DATABASE_URL: postgres.url,
    REDIS_URL: valkey.url,
    SECRET_KEY,
    PATH: `${tools}:${process.env.PATH}`,
    ...(process.env.DOCKER_HOST ? { DOCKER_HOST: process.env.DOCKER_HOST } : {}),
  };
  expect(await runCommand(['migrate'], environment)).toMatchObject({ code: 0 });
  const kept = stack.move();
  return { postgres, valkey, work, tools, environment, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Kills a command at ten random moments. */
async function killOften(command: string, environment: Record<string, string>, expectUntouched: () => void) {
  for (let kill = 0; kill < 10; kill++) {
    const running = await startProcess(command, environment);
    await sleep(300 + Math.random() * 4000);
    running.kill('SIGKILL');
    await running.exited;
    expectUntouched();
  }
}

/** The file after `--file=`, the fourth argument of `pg_dump`. */
const DUMP = '"$(echo "$4" | cut -d= -f2)"';

/** Backs up with tools that fail, are killed, or write half a dump without saying so. */
async function breakTools(
  { work, tools }: { work: string; tools: string },
  backUp: (more: Record<string, string>) => ReturnType<typeof runCommand>,
  expectUntouched: () => void,
) {
  const broken = join(work, 'broken');
  cpSync(tools, broken, { recursive: true });
  const path = { PATH: `${broken}:${process.env.PATH}` };
  for (const script of [`echo half > ${DUMP}; exit 1`, `echo half > ${DUMP}`, 'kill -9 $$']) {
    writeFileSync(join(broken, 'pg_dump'), `#!/bin/sh\n${script}\n`);
    expect((await backUp(path)).stderr).toMatch(/^parley: No backup was made: /);
    expectUntouched();
  }
  cpSync(join(tools, 'pg_dump'), join(broken, 'pg_dump'));
  const half = 'for file; do :; done; case $1 in --version) ;; *) printf REDIS0011xxxxxxxxxxxxxxx > "$file" ;; esac';
  writeFileSync(join(broken, 'valkey-cli'), `#!/bin/sh\n${half}\n`);
  expect((await backUp(path)).stderr).toContain('the dump of the queue is incomplete');
  expectUntouched();
}

test.runIf(inject('hasDocker'))(
  'a failed or killed backup leaves the earlier one, which restores',
  async () => {
    await using stores = await createStores();
    const { postgres, valkey, work, environment } = stores;
    const to = join(work, 'backups');
    const backUp = (more: Record<string, string> = {}) =>
      runCommand(['backup', '--to', to, '--keep', '2'], { ...environment, ...more });
    expect(await runCommand(['tenant', 'create', '--name', 'kept'], environment)).toMatchObject({ code: 0 });
    await askValkey(valkey.url, redis => redis.set('bull:answers:mark', 'queued'));

    const first = await backUp();
    expect(first, first.stderr).toMatchObject({ code: 0 });
    const made = JSON.parse(first.stdout) as { backup: string; complete_until: string; schema: number };
    expect(readdirSync(made.backup).toSorted()).toEqual(['backup.json', 'database.dump', 'queue.rdb']);
    for (const name of readdirSync(made.backup)) {
      expect(statSync(join(made.backup, name)).mode & 0o077).toBe(0);
      expect(readFileSync(join(made.backup, name)).includes(SECRET_KEY)).toBe(false);
    }
    const before = listing(made.backup);

    const expectUntouched = () => expect(listing(made.backup)).toEqual(before);
    await killOften(`backup --to ${to}`, environment, expectUntouched);
    await breakTools(stores, backUp, expectUntouched);

    // Restores only into an empty database.
    const refused = await runCommand(['restore', '--from', made.backup], environment);
    expect(refused.stderr).toContain('The database is not empty');
    await withClient(postgres.url, client => client.query('create database restored'));
    const restored = { ...environment, DATABASE_URL: postgres.url.replace(/\/postgres$/, '/restored') };
    const data = join(work, 'queue');
    mkdirSync(data);
    const result = await runCommand(['restore', '--from', made.backup, '--queue-data', data], restored);
    expect(result, result.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(result.stdout)).toMatchObject({ restored: made.backup, complete_until: made.complete_until });
    expect(existsSync(join(data, 'appendonlydir', 'appendonly.aof.manifest'))).toBe(true);
    expect((await runCommand(['tenant', 'list'], restored)).stdout).toContain('kept');
    expect(await diagnose(restored)).toMatchObject({ ok: true });
    await using copy = await openValkey({ settings: { maxmemory: '512mb' }, copyOf: data });
    expect(await askValkey(copy.url, redis => redis.get('bull:answers:mark'))).toBe('queued');

    // Keeps N, and reports the newest one.
    for (let more = 0; more < 2; more++) expect(await backUp()).toMatchObject({ code: 0 });
    expect(readdirSync(to).filter(name => !name.startsWith('.'))).toHaveLength(2);
    await using api = await startProcess('serve', { ...environment, INGESTION_CHECK_S: '1' });
    await api.awaitProbe('/readyz');
    await sleep(3000);
    expect(await (await fetch(`${api.metricsUrl}/metrics`)).text()).toMatch(
      /parley_last_backup_timestamp_seconds 1\d{9}/,
    );

    // A changed file is not restored.
    const newest = join(
      to,
      readdirSync(to)
        .filter(name => !name.startsWith('.'))
        .toSorted()
        .at(-1) as string,
    );
    chmodSync(join(newest, 'database.dump'), 0o600);
    writeFileSync(join(newest, 'database.dump'), 'x');
    expect((await runCommand(['restore', '--from', to], restored)).stderr).toContain('was changed since the backup');
  },
  600_000,
);
