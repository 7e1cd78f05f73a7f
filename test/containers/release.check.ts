import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { has } from '../../release/steps.ts';
import { freePort } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';
import { ROOT } from './docker.ts';

const TOOLS = ['docker-registry', 'skopeo', 'syft', 'cosign', 'helm'];
const missing = TOOLS.filter(tool => !has(tool));
if (missing.length > 0) process.stderr.write(`release.check.ts is SKIPPED: ${missing.join(', ')} missing\n`);

describe.skipIf(missing.length > 0)('npm run release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-release-'));
  const clone = join(folder, 'clone');
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const built = join(clone, 'release/built', version);
  let registry: string;
  let server: ReturnType<typeof spawn>;

  const run = (program: string, args: string[], cwd = clone): string =>
    execFileSync(program, args, {
      cwd,
      encoding: 'utf8',
      maxBuffer: 2 ** 28, // the bill of materials
      env: { ...process.env, COSIGN_PASSWORD: 'x', RELEASE_BUILD_NETWORK: 'host' },
      stdio: 'pipe',
    });
  const git = (...args: string[]) => run('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args]);
  const verify = (reference: string, ...command: string[]) =>
    run('cosign', [
      ...(command.length ? command : ['verify']),
      '--key',
      join(folder, 'cosign.pub'),
      '--insecure-ignore-tlog=true',
      '--allow-http-registry',
      reference,
    ]);
  const released = () =>
    JSON.parse(readFileSync(join(built, 'release.json'), 'utf8')) as { image: string; chart: string };

  beforeAll(async () => {
    const port = await freePort();
    registry = `127.0.0.1:${port}`;
    const settings = {
      version: 0.1,
      storage: { filesystem: { rootdirectory: join(folder, 'registry') } },
      http: { addr: registry },
    };
    writeFileSync(join(folder, 'registry.yml'), JSON.stringify(settings));
    server = spawn('docker-registry', ['serve', join(folder, 'registry.yml')], { stdio: 'ignore' });
    await waitFor(async () => (await fetch(`http://${registry}/v2/`).catch(() => undefined))?.ok === true, 20_000);
    run('git', ['clone', '--quiet', ROOT, clone], folder);
    // Not a symbolic link, because TypeScript would resolve the packages' types outside of the clone.
    run('sh', ['-c', `cp -al ${ROOT}/node_modules . 2>/dev/null || cp -a ${ROOT}/node_modules .`]);
    writeFileSync(join(clone, '.git/info/exclude'), 'node_modules\n');
    run('cosign', ['generate-key-pair'], folder);
  });
  afterAll(() => {
    server?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  const release = (...args: string[]) =>
    run('npm', ['run', '--silent', 'release', '--', '--version', version, '--registry', registry, ...args]);

  test('refuses an empty owner and a tree with changes, without pushing', async () => {
    expect(() => release()).toThrow(/release\/owner.yaml has no name/);
    writeFileSync(
      join(clone, 'release/owner.yaml'),
      JSON.stringify({
        name: 'T',
        security_contact: 's@example.com',
        home: 'https://example.com',
        source: 'https://example.com/git',
      }),
    );
    expect(() => release()).toThrow(/changes that are not committed/);
    git('commit', '--quiet', '--all', '--message', 'owner');
    expect(await (await fetch(`http://${registry}/v2/_catalog`)).json()).toEqual({ repositories: [] });
  });

  test('pushes a signed image with bill of materials and provenance, and a signed chart', () => {
    release('--sign', join(folder, 'cosign.key'));
    const { image, chart } = released();
    for (const reference of [image, chart]) expect(verify(reference)).toContain(reference.split('@')[1]);
    const statement = (type: string) => {
      const { payload } = JSON.parse(
        verify(image, 'verify-attestation', '--type', type).trim().split('\n').at(-1) as string,
      );
      return JSON.parse(Buffer.from(payload, 'base64').toString()).predicate;
    };
    const names = statement('spdxjson').packages.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['bullmq', 'libc6', 'node']));
    expect(statement('slsaprovenance1').buildDefinition.resolvedDependencies[0].digest.gitCommit).toBe(
      git('rev-parse', 'HEAD').trim(),
    );
    const other = image.replace(/.$/, last => (last === '0' ? '1' : '0'));
    expect(() => verify(other)).toThrow();
  }, 900_000);

  test('the chart installs the pushed image by default, and by digest', () => {
    const { image } = released();
    const chart = [
      'template',
      'parley',
      `oci://${registry}/charts/parley`,
      '--version',
      version,
      '--plain-http',
      '--kube-version',
      'v1.35.0',
      '--set',
      'secrets.existingSecret=s',
    ];
    expect(run('helm', chart)).toContain(`image: ${registry}/parley:${version}`);
    expect(run('helm', [...chart, '--set', `image.digest=${image.split('@')[1]}`])).toContain(`image: ${image}`);
    expect(readdirSync(join(built, 'clients'))).toHaveLength(4);
    run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], built);
  });
});
