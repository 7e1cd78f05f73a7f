import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Tenant } from '../support/deployed.ts';
import { runDocumented, shellBlocks } from '../support/documents.ts';
import { expectRestored, sendAnswers } from '../support/load.ts';
import { waitFor } from '../support/wait.ts';
import { createInstallation } from './compose.ts';
import { docker, IMAGE, ROOT } from './docker.ts';

const SECTION = 'Every day, with Compose';
const IMAGE_OF_BACKUP = 'parley-backup:check';
const work = mkdtempSync(join(tmpdir(), 'parley-daily-'));
const folder = join(work, 'backups');
const variables = {
  PARLEY_IMAGE: IMAGE,
  PARLEY_BACKUP_IMAGE: IMAGE_OF_BACKUP,
  BACKUP_DIR: folder,
  BACKUP_USER: `${process.getuid?.()}:${process.getgid?.()}`,
  COMPOSE_FILE: join(ROOT, 'docker-compose.yml'),
};
const old = await createInstallation(variables);
const successor = await createInstallation(variables);

const [start, now, restore] = shellBlocks('docs/backup.md', SECTION) as [string, string, string];
const move = shellBlocks('docs/backup.md', SECTION, 'Move to another machine without losing anything');
/** Runs a documented block in `work`, where `secrets.tar` is. */
const run = (script: string, { environment }: typeof old) => runDocumented(`cd ${work}\n${script}`, environment);

/** The complete backups. */
const backups = (): string[] => readdirSync(folder).filter(name => !name.startsWith('.'));
const listing = (): string[] =>
  backups().flatMap(name =>
    readdirSync(join(folder, name)).map(file => {
      const { size, mtimeMs } = statSync(join(folder, name, file));
      return `${name}/${file} ${size} ${mtimeMs}`;
    }),
  );

let tenant: Tenant;
beforeAll(async () => {
  const args = ['--build-arg', `PARLEY_IMAGE=${IMAGE}`, '--tag', IMAGE_OF_BACKUP];
  await docker(['build', '--network', 'host', ...args, 'config/backup']);
  await old.up();
  tenant = await old.makeTenant();
}, 600_000);
afterAll(async () => {
  for (const installation of [old, successor]) {
    await installation.compose(['--profile', 'backup', 'rm', '--force', '--stop', 'backup']);
    await installation.down();
  }
  rmSync(work, { recursive: true, force: true });
});

test('the profile makes a backup at its start, readable only to its owner, without a secret key', async () => {
  await run(start, old);
  await waitFor(() => backups().length === 1, 60_000);
  const [name] = backups() as [string];
  expect(readdirSync(join(folder, name)).toSorted()).toEqual(['backup.json', 'database.dump', 'queue.rdb']);
  for (const file of [name, `${name}/database.dump`]) expect(statSync(join(folder, file)).mode & 0o077).toBe(0);
  expect(statSync(join(work, 'secrets.tar')).mode & 0o077).toBe(0);
}, 300_000);

test('a backup that is killed at ten random moments leaves the earlier one unchanged', async () => {
  const before = listing();
  for (let kill = 0; kill < 10; kill++) {
    const command = ['run', '--detach', '--no-deps', '--entrypoint', 'parley', 'backup', 'backup', '--to', '/backups'];
    const container = (await old.compose(command)).split('\n').at(-1) as string;
    await sleep(Math.random() * 3000);
    await docker(['kill', container]).catch(() => undefined); // it may have ended
    await docker(['rm', '--force', container]);
    expect(listing()).toEqual(expect.arrayContaining(before));
  }
}, 300_000);

test('a move to another machine keeps every acknowledged answer, once', async () => {
  const [documented] = move as [string];
  const sender = sendAnswers([old.baseUrl], tenant.key.api_key, tenant.questionId, 2);
  await waitFor(() => sender.ledger.acknowledged.size > 100, 60_000);
  const begun = Date.now();
  await run(documented, old);
  const ledger = await sender.stop();
  await run(restore, successor);
  process.stderr.write(`${ledger.acknowledged.size} answers moved; ${Date.now() - begun} ms without an API\n`);
  expect(await successor.parley(['doctor'])).toMatchObject({ ok: true });
  await successor.atRest(tenant.key.api_key);
  expectRestored(ledger.acknowledged, ledger, await successor.storedAnswers(tenant.key.api_key));
  expect(now).toContain('--entrypoint parley backup backup');
}, 300_000);
