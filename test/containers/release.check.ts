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
    JSON.parse(readFileSync(join(built, 'release.json'), 'utf8')) as Record<
      'image' | 'backup_image' | 'proxy_image' | 'chart',
      string
    >;
  /** The predicate of the newest attestation of a type. */
  const statement = (image: string, type: string) => {
    const { payload } = JSON.parse(
      verify(image, 'verify-attestation', '--type', type).trim().split('\n').at(-1) as string,
    );
    return JSON.parse(Buffer.from(payload, 'base64').toString()).predicate;
  };
  const packagesOf = (image: string): string[] =>
    statement(image, 'spdxjson').packages.map(({ name }: { name: string }) => name);
  const originOf = (image: string) => statement(image, 'slsaprovenance1').buildDefinition.resolvedDependencies;

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
    release('--prepare'); // between two releases, the changelog has changes that no version has
    git('commit', '--quiet', '--all', '--message', 'prepare');
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
    const notes = join(clone, 'CHANGELOG.md');
    writeFileSync(notes, readFileSync(notes, 'utf8').replace('## [Unreleased]\n', '$&\n- A late change.\n'));
    git('commit', '--quiet', '--all', '--message', 'late');
    expect(() => release()).toThrow(/CHANGELOG.md has changes under \[Unreleased\]/);
    release('--prepare');
    git('commit', '--quiet', '--all', '--message', 'changelog');
    expect(await (await fetch(`http://${registry}/v2/_catalog`)).json()).toEqual({ repositories: [] });
  });

  test('pushes a signed image with bill of materials and provenance, and a signed chart', () => {
    release('--sign', join(folder, 'cosign.key'));
    const { image, ...others } = released();
    for (const reference of [image, others.backup_image, others.proxy_image, others.chart])
      expect(verify(reference)).toContain(reference.split('@')[1]);
    expect(packagesOf(image)).toEqual(expect.arrayContaining(['bullmq', 'libc6', 'node']));
    expect(originOf(image)[0].digest.gitCommit).toBe(git('rev-parse', 'HEAD').trim());
    const other = image.replace(/.$/, last => (last === '0' ? '1' : '0'));
    expect(() => verify(other)).toThrow();
  }, 900_000);

  test('pushes the images for backups and for updates with Compose, with evidence of their own', () => {
    const { image, backup_image, proxy_image } = released();
    expect(packagesOf(backup_image)).toEqual(expect.arrayContaining(['bullmq', 'postgresql-18', 'valkey-tools']));
    expect(packagesOf(proxy_image)).toContain('haproxy');
    const [uri, sha256] = image.split('@sha256:');
    expect(originOf(backup_image)).toContainEqual({ uri, digest: { sha256 } });
    expect(JSON.stringify(originOf(proxy_image))).not.toContain(sha256);
    for (const reference of [backup_image, proxy_image]) {
      const inspected = run('skopeo', ['inspect', '--tls-verify=false', '--no-tags', `docker://${reference}`]);
      expect(JSON.parse(inspected).Labels).toMatchObject({
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.revision': git('rev-parse', 'HEAD').trim(),
      });
    }
  }, 120_000);

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
    expect(run('helm', [...chart, '--set', 'backup.enabled=true'])).toContain(
      `image: ${registry}/parley-backup:${version}`,
    );
    expect(run('helm', [...chart, '--set', `image.digest=${image.split('@')[1]}`])).toContain(`image: ${image}`);
    expect(readdirSync(join(built, 'clients'))).toHaveLength(4);
    run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], built);
  });
});
