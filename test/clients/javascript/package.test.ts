import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, createWorker } from '../../support/api.ts';
import { ROOT } from '../../support/documents.ts';
import { makeTenant, type TestTenant } from '../../support/make.ts';
import { freePort } from '../../support/process.ts';
import { waitFor } from '../../support/wait.ts';
import { bundle } from './page-server.ts';

const run = promisify(execFile);
const SOURCE = join(ROOT, 'clients/javascript');
const ATTW = join(ROOT, 'node_modules/.bin/attw');

let project: string;
let tarball: string;
/** Packs the package as it would be published, and installs it into a project that has nothing else. */
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'parley-project-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], { cwd: SOURCE });
  tarball = join(project, JSON.parse(stdout.slice(stdout.indexOf('[')))[0].filename);
  await writeFile(join(project, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: project });
});
afterAll(() => rm(project, { recursive: true }));

const installed = () => join(project, 'node_modules/@parley/client');

test('publint has nothing to say', async () => {
  const { messages, pkg } = await publint({ pkgDir: installed(), level: 'suggestion', pack: false });
  expect(messages.map(message => formatMessage(message, pkg ?? {}))).toEqual([]);
});

/** How those resolve modules who have no ES modules; they are not served. */
const NOT_SERVED = ['node10', 'node16-cjs'];

test('the types are right for everyone who can import it', async () => {
  const { stdout } = await run(ATTW, [tarball, '--profile', 'esm-only', '--format', 'json']); // fails by its exit code
  const { analysis, problems } = JSON.parse(stdout) as {
    analysis: { entrypoints: object };
    problems: Record<string, { resolutionKind: string }[]>;
  };
  expect(Object.keys(analysis.entrypoints)).toEqual(expect.arrayContaining(['.', './feedback', './server', './node']));
  const served = Object.values(problems).flat();
  expect(served.filter(({ resolutionKind }) => !NOT_SERVED.includes(resolutionKind))).toEqual([]);
});

test('it has no dependencies, and carries no sources', async () => {
  const manifest = JSON.parse(await readFile(join(installed(), 'package.json'), 'utf8'));
  expect(manifest.dependencies ?? {}).toEqual({});
  expect(manifest.peerDependencies ?? {}).toEqual({});
  const { stdout } = await run('tar', ['-tzf', tarball]);
  const kinds = new Set(
    stdout
      .trim()
      .split('\n')
      .map(path => path.replace(/^package\//, '').split('/')[0]),
  );
  expect([...kinds].toSorted()).toEqual(['README.md', 'dist', 'examples', 'package.json']);
});

describe('sizes', () => {
  const CORE = "export { createClient, tokenEndpoint } from '@parley/client';";
  const OUTBOX = "export { createClient, createOutbox, tokenEndpoint } from '@parley/client';";
  const VIEW = `${OUTBOX} export { defineFeedback } from '@parley/client/feedback';`;

  /** How many bytes an app sends for what it imports, compressed. */
  async function sizeOf(name: string, text: string): Promise<number> {
    const entry = join(project, `${name}.js`);
    await writeFile(entry, text);
    return gzipSync(await bundle(entry), { level: 9 }).length;
  }

  test('are below what is promised', async () => {
    const [core, outbox, view] = [
      await sizeOf('core', CORE),
      await sizeOf('outbox', OUTBOX),
      await sizeOf('view', VIEW),
    ];
    expect(core).toBeLessThan(6 * 1024);
    expect(outbox).toBeLessThan(9 * 1024);
    expect(view - outbox).toBeLessThan(12 * 1024);
    expect(outbox).toBeGreaterThan(core); // what is not imported is not there
  });
});

describe('beside a server', () => {
  let tenant: TestTenant;
  let env: NodeJS.ProcessEnv;
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    const api = stack.use(await createApi());
    stack.use(await createWorker(api));
    tenant = await makeTenant(api);
    env = {
      PATH: process.env.PATH,
      BASE_URL: api.baseUrl,
      SERVICE_API_KEY: tenant.key.apiKey,
      SERVICE_API_KEY_ID: tenant.key.id,
      SERVICE_API_KEY_SECRET: tenant.key.secret,
      SERVICE_TENANT_ID: tenant.id,
    };
  });
  afterAll(() => stack.disposeAsync());

  test('the quick start works to the letter', async () => {
    const readme = await readFile(join(SOURCE, 'README.md'), 'utf8');
    const [, code = ''] = /## Quick start.*?```js\n(.*?)```/s.exec(readme) ?? [];
    await writeFile(join(project, 'quick-start.mjs'), code);
    const { stdout } = await run(process.execPath, ['quick-start.mjs'], { cwd: project, env });
    expect(stdout).toBe('How likely are you to recommend us? done\n');
  });

  test('the example backend gives tokens to those whom it knows', async () => {
    await mkdir(join(project, 'examples'), { recursive: true });
    const example = join(project, 'examples/token-backend.mjs');
    await writeFile(example, await readFile(join(installed(), 'examples/token-backend.mjs')));
    const port = String(await freePort());
    const child = execFile(process.execPath, [example], { env: { ...env, PORT: port, SESSIONS: 'abc=42' } });
    try {
      const ask = (session: string) =>
        fetch(`http://127.0.0.1:${port}/v1/svc/auth/token`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${session}` },
        });
      const reply = await waitFor(() => ask('abc').catch(() => undefined));
      const { access_token } = (await reply.json()) as { access_token: string };
      const me = await fetch(`${env.BASE_URL}/v1/me`, { headers: { Authorization: `Bearer ${access_token}` } });
      expect(await me.json()).toMatchObject({ identity: 'user|42', identity_verified: true });
      expect((await ask('somebody')).status).toBe(401);
    } finally {
      child.kill();
    }
  });
});
