import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { makeVenv } from '../support/python.ts';
import { contract } from './contract.ts';

/** The public packages of Standard Webhooks agree with the cases of our clients. */
const PROGRAMS = join(import.meta.dirname, 'public-webhooks');
const IMAGE = 'parley-test-php-client';
const LIMIT_MS = 600_000;

interface Case {
  name: string;
  code?: string;
  /** Whether our clients refuse more than the public packages do. */
  stricter?: true;
}

const { now, verify, refuse } = contract('webhooks') as { now: number; verify: Case[]; refuse: Case[] };
const cases = [...verify, ...refuse];
const input = JSON.stringify({ now, cases });
const run = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-webhooks-'));
  await cp(PROGRAMS, folder, { recursive: true });
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a program with the cases as its standard input, and compares its findings with them. */
async function expectAgreement(program: string, args: string[]): Promise<void> {
  const running = run(program, args, { cwd: folder });
  running.child.stdin?.end(input);
  const accepted: boolean[] = JSON.parse((await running).stdout);
  expect(accepted).toHaveLength(cases.length);
  const compared = cases.map(({ name, code, stricter }, index) => ({
    name,
    code,
    stricter,
    accepted: accepted[index],
  }));
  const differing = compared.filter(each => !each.stricter && each.accepted !== (each.code === undefined));
  expect(differing).toEqual([]);
}

test('the package of npm agrees', { timeout: LIMIT_MS }, async () => {
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, 'standardwebhooks@1.1.1']);
  await expectAgreement(process.execPath, [join(folder, 'check.mjs')]);
});

test('the package of PyPI agrees', { timeout: LIMIT_MS }, async () => {
  const programs = await makeVenv(join(folder, 'venv'), join(PROGRAMS, 'requirements.txt'));
  await expectAgreement(join(programs, 'python'), [join(folder, 'check.py')]);
});

describe.runIf(inject('hasDocker'))('PHP', () => {
  test('the package of Packagist agrees, where Packagist can be reached', { timeout: LIMIT_MS }, async context => {
    await run('docker', ['build', '--quiet', '--network', 'host', '--tag', IMAGE, join(import.meta.dirname, 'php')]);
    const mounted = ['--volume', `${folder}:/work`, '--workdir', '/work'];
    const inImage = ['run', '--rm', '--interactive', '--network', 'host', ...mounted, IMAGE];
    const require = ['composer', 'require', '--no-progress', 'standard-webhooks/standard-webhooks:1.0.2'];
    const installed = run('docker', [...inImage, ...require]).catch(() => undefined);
    if ((await installed) === undefined) context.skip('Packagist cannot be reached');
    await expectAgreement('docker', [...inImage, 'php', 'check.php', 'vendor/autoload.php']);
  });
});
