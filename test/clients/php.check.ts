import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { ROOT, shellBlocks } from '../support/documents.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { freePort } from '../support/process.ts';
import { openScenario, type Runner } from './scenario.ts';

const FILES = join(import.meta.dirname, 'php');
const IMAGE = 'parley-test-php-client';
/** The first build downloads Debian packages; later ones take a second. */
const BUILD_LIMIT_MS = 600_000;

const exec = promisify(execFile);
const docker = async (...args: string[]) => (await exec('docker', args, { maxBuffer: 16 << 20 })).stdout.trim();

const hasDocker = inject('hasDocker');
if (!hasDocker) process.stderr.write('\n*** No Docker Engine: the PHP client and its examples are SKIPPED. ***\n\n');
/** The path of phpstan.phar, of which Debian has no package. */
const phpstan = process.env.PHPSTAN;
if (!phpstan)
  process.stderr.write(
    '\n*** PHPSTAN is not the path of phpstan.phar: the types of the PHP client are SKIPPED. ***\n\n',
  );

describe.runIf(hasDocker)('the PHP client', { timeout: 240_000 }, () => {
  const stack = new AsyncDisposableStack();
  let container: string;
  let api: TestApi;
  let tenant: TestTenant;

  const settings = (environment: Record<string, string>) =>
    Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]);

  /** Returns the output of a command in the container; rejects with it if the command fails. */
  async function run(command: string, environment: Record<string, string> = {}): Promise<string> {
    const shell = ['bash', '-euo', 'pipefail', '-c', `exec 2>&1; ${command}`];
    try {
      return await docker('exec', ...settings(environment), container, ...shell);
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${command}\n${stdout}${stderr}`);
    }
  }

  /** The three values that a tenant's backend needs. */
  const forSigning = () => ({
    SERVICE_API_KEY_ID: tenant.key.id,
    SERVICE_API_KEY_SECRET: tenant.key.secret,
    SERVICE_TENANT_ID: tenant.id,
  });

  beforeAll(async () => {
    await docker('build', '--quiet', '--network', 'host', '--tag', IMAGE, FILES);
    container = await docker('run', '--detach', '--rm', '--init', '--network', 'host', IMAGE);
    stack.defer(async () => void (await docker('kill', container)));
    await run('mkdir -p /parley/clients /parley/docs');
    for (const path of ['clients/contract', 'clients/php', 'docs/openapi.json'])
      await docker('cp', join(ROOT, path), `${container}:/parley/${path}`);
    await run('cd /parley/clients/php && composer dump-autoload --dev --quiet');
    api = stack.use(await createApi());
    tenant = await makeTenant(api);
  }, BUILD_LIMIT_MS);
  afterAll(() => stack.disposeAsync());

  test('every file is strict and can be parsed', async () => {
    const files = "find /parley/clients/php -name '*.php' -not -path '*/vendor/*'";
    expect(await run(`${files} -print0 | xargs -0 grep -L 'declare(strict_types=1);' || true`)).toBe('');
    const parsed = await run(`${files} -print0 | xargs -0 php -l`);
    expect(parsed.split('\n').length).toBe(Number(await run(`${files} | wc -l`)));
    expect(parsed.replaceAll(/^No syntax errors detected in .*$/gm, '').trim()).toBe('');
  });

  test.runIf(phpstan)('it has no type error at the highest level of PHPStan', async () => {
    await docker('cp', phpstan as string, `${container}:/phpstan.phar`);
    await docker('cp', join(FILES, 'phpstan.neon'), `${container}:/parley/`);
    await docker('cp', join(FILES, 'discovery.php'), `${container}:/parley/`);
    const options = '-d memory_limit=1G -d auto_prepend_file=';
    const analysis =
      'analyse --debug --no-progress --level max --configuration /parley/phpstan.neon src examples/plain';
    expect(await run(`cd /parley/clients/php && php ${options} /phpstan.phar ${analysis}`)).toContain('No errors');
  });

  test('it meets the contract', { timeout: BUILD_LIMIT_MS }, async () => {
    const report = await run('cd /parley/clients/php && phpunit --colors=never');
    expect(report).toMatch(/^OK \(\d{3,} tests/m);
  });

  /** PHP as WebAssembly, from npm: Debian has one version of PHP only. */
  const VERSIONS = ['@php-wasm/cli@3.1.56', 'node@24.21.0'];

  test('it works with PHP 8.1, 8.2 and 8.3', { timeout: BUILD_LIMIT_MS }, async () => {
    const folder = join(tmpdir(), 'parley-php-versions');
    const options = ['--no-save', '--no-audit', '--no-fund', '--prefix', folder];
    await exec('npm', ['install', ...options, ...VERSIONS]);
    await docker('cp', folder, `${container}:/versions`);
    await docker('cp', join(FILES, 'run-version.php'), `${container}:/parley/`); // files in the root folder are not visible to it
    const program =
      '/versions/node_modules/node/bin/node /versions/node_modules/.bin/php-wasm-cli -d include_path=/usr/share/php /parley/run-version.php';
    for (const version of ['8.1', '8.2', '8.3'])
      expect(await run(`${program} /parley/clients/php`, { PHP: version })).toMatch(
        new RegExp(String.raw`^${version}\.\d+ \d{2,} question_1$`, 'm'),
      );
  });

  test('it completes its part of the scenario with lost replies and kills', async () => {
    await using scenario = await openScenario();
    const runner: Runner = {
      command: join(FILES, 'run-in-container'),
      args: [container],
      env: process.env.DOCKER_HOST ? { DOCKER_HOST: process.env.DOCKER_HOST } : {},
    };
    await scenario.play(runner, 'server');
    await scenario.deliver(runner, 'server-deliver');
    expect(await scenario.exitCodeFor(runner, 'app')).toBe(3);
    expect(await scenario.exitCodeFor(runner, 'nothing')).toBe(2);
  });

  describe('as an archive', () => {
    beforeAll(async () => {
      const archive = 'composer archive --quiet --format=zip --dir=/parley/archive';
      await run(
        `cd /parley/clients/php && composer validate --strict --no-check-version --no-check-lock && ${archive}`,
      );
      await docker('cp', join(FILES, 'empty-project'), `${container}:/project`);
      await run('cd /project && composer require --no-progress parley-feedback/client');
    });

    test('it contains the required files and no tests', async () => {
      const names = (await run('unzip -Z1 /parley/archive/*.zip')).split('\n').filter(name => !name.endsWith('/'));
      expect(names).toEqual(expect.arrayContaining(['composer.json', 'LICENSE', 'README.md', 'src/ServerClient.php']));
      expect(names.filter(name => !/^(composer\.json|LICENSE|README\.md|(src|examples)\/.+)$/.test(name))).toEqual([]);
    });

    test('it is also installed from a checkout, as its README shows', async () => {
      const [commands = ''] = shellBlocks('clients/php/README.md', 'Install');
      const [init, config] = commands.split('\n');
      await run(`mkdir /checkout-project && cd /checkout-project && ${init} && ${config}`); // `../parley` is the checkout
      expect(await run('cat /checkout-project/composer.json')).toMatch(/"url": "..\/parley\/clients\/php"/);
      const install = [
        'cp /project/composer.json .', // with the packages of this container
        'composer config repositories.1 --unset', // the archive
        config,
        'composer require --no-progress parley-feedback/client',
      ];
      await run(`cd /checkout-project && ${install.join(' && ')}`);
      expect(await run('readlink -f /checkout-project/vendor/parley-feedback/client')).toBe('/parley/clients/php');
    });

    /** The output of a program inside the project. */
    async function runInProject(program: string): Promise<string> {
      const folder = await mkdtemp(join(tmpdir(), 'parley-php-'));
      try {
        await writeFile(join(folder, 'program.php'), program);
        await docker('cp', join(folder, 'program.php'), `${container}:/project/`);
      } finally {
        await rm(folder, { recursive: true });
      }
      const environment = { ...forSigning(), SERVICE_BASE_URL: api.baseUrl, SERVICE_API_KEY: tenant.key.apiKey };
      return run('php /project/program.php', environment);
    }

    const phpBlocks = (document: string, section: RegExp): string[] => {
      const [part = ''] = section.exec(readFileSync(join(ROOT, document), 'utf8')) ?? [];
      return [...part.matchAll(/^```php\n(.*?)^```$/gms)].map(([, block]) => block as string);
    };

    async function expectTokenOf(identity: string, token: string): Promise<void> {
      const { body } = await api.request('GET', '/v1/me', { as: token });
      expect(body).toMatchObject({ tenant_id: tenant.id, identity, identity_verified: true });
    }

    test('the quick start of its README runs', async () => {
      const [program] = phpBlocks('clients/php/README.md', /^## Quick start$.*?^## /ms);
      const [token, ...listed] = (await runInProject(program as string)).split('\n');
      expect(listed).toEqual(['The answer is accepted', 'Thank you for trying it.']);
      await expectTokenOf('user|42', token as string);
    });

    test('both ways to sign tokens in the guide produce valid ones', async () => {
      const ways = phpBlocks('docs/guides/sign-tokens.md', /^### PHP$.*?^###? /ms);
      expect(ways).toHaveLength(2);
      for (const way of ways) {
        const before = "<?php\ndeclare(strict_types=1);\nrequire __DIR__ . '/vendor/autoload.php';\n$userId = 42;\n";
        await expectTokenOf('user|42', await runInProject(`${before}${way}echo $accessToken;`));
      }
    });

    /** The paths of each example in an application of its kind, and the served file. */
    const BACKENDS: Record<string, { files: Record<string, string>; serve: string }> = {
      plain: { files: { 'token.php': 'token.php' }, serve: 'token.php' },
      symfony: {
        files: { 'AccessTokenController.php': 'src/Controller/', 'parley.yaml': 'config/packages/' },
        serve: '-t public public/index.php',
      },
      laravel: {
        files: {
          'AccessTokenController.php': 'app/Http/Controllers/',
          'ParleyServiceProvider.php': 'app/Providers/',
          'parley.php': 'config/',
        },
        serve: '-t public public/index.php',
      },
    };

    test.each(Object.entries(BACKENDS))('the token endpoint for %s runs', async (name, { files, serve }) => {
      await run(`cp -r /project /${name} && mkdir -p /${name}/bootstrap/cache /${name}/storage`);
      if (name !== 'plain') await docker('cp', `${join(FILES, name)}/.`, `${container}:/${name}`);
      for (const [file, place] of Object.entries(files))
        await run(
          `cd /${name} && mkdir -p "$(dirname ${place}x)" && cp vendor/parley-feedback/client/examples/${name}/${file} ${place}`,
        );
      const port = await freePort();
      const environment = { ...forSigning(), SESSIONS: 'session-of-ada=42,session-of-bob=43' };
      const server = `cd /${name} && exec php -S 127.0.0.1:${port} ${serve} >server.log 2>&1`;
      await docker('exec', '--detach', ...settings(environment), container, 'sh', '-c', server);
      const ask = async (headers: Record<string, string> = {}) => {
        const reply = await fetch(`http://127.0.0.1:${port}/v1/svc/auth/token`, { method: 'POST', headers });
        return { status: reply.status, headers: reply.headers, text: await reply.text() };
      };
      const refused = await waitFor(() => ask().catch(() => undefined));
      const log = () => run(`cat /${name}/server.log`);
      expect(refused.status, refused.text + (await log())).toBe(401);
      expect((await ask({ Authorization: 'Bearer session-of-eve' })).status).toBe(401);
      const given = await ask({ Authorization: 'Bearer session-of-bob' });
      expect(given.status, given.text + (await log())).toBe(200);
      expect(given.headers.get('Cache-Control')).toContain('no-store');
      await expectTokenOf('user|43', JSON.parse(given.text).access_token);
    });
  });
});
