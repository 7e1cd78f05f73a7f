import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeRecipes } from '../clients/javascript/recipes.ts';
import { createApi, createWorker, type TestApi } from '../support/api.ts';
import { openPage } from '../support/browser.ts';
import { hasBrowser, openBrowser } from '../support/chromium.ts';
import { ROOT } from '../support/documents.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { freePort } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';

const run = promisify(execFile);
const TITLE = 'How likely are you to recommend us?';

/** A framework: its packages, where the files of the guide go, and how an app is built and started. */
const FRAMEWORKS = [
  {
    name: 'Next',
    folder: 'next',
    packages: ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'],
    recipes: '.',
    build: ['node_modules/next/dist/bin/next', 'build'],
    start: ['node_modules/next/dist/bin/next', 'start', '--hostname', '127.0.0.1'],
  },
  {
    name: 'Nuxt',
    folder: 'nuxt',
    packages: ['nuxt@4.5.2'],
    recipes: 'app',
    build: ['node_modules/nuxt/bin/nuxt.mjs', 'build'],
    start: ['.output/server/index.mjs'],
  },
  {
    name: 'SvelteKit',
    folder: 'sveltekit',
    packages: [
      '@sveltejs/kit@3.2.0',
      '@sveltejs/adapter-node@6.0.1',
      '@sveltejs/vite-plugin-svelte@7.3.1',
      'svelte@5.57.3',
      'vite@8.3.8',
    ],
    recipes: 'src',
    build: ['node_modules/vite/bin/vite.js', 'build'],
    start: ['build/index.js'],
  },
];

type Framework = (typeof FRAMEWORKS)[number];

let folder: string;
let tarball: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-frameworks-'));
  const client = join(ROOT, 'clients/javascript');
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: client });
  tarball = join(folder, JSON.parse(stdout.slice(stdout.indexOf('[')))[0].filename);
});
afterAll(() => rm(folder, { recursive: true }));

/** The environment of an app's own backend, which signs tokens. */
const environmentOf = (api: TestApi, { id, key }: TestTenant, port: number) => ({
  PATH: process.env.PATH,
  HOME: folder,
  NODE_ENV: 'production',
  NEXT_TELEMETRY_DISABLED: '1',
  HOST: '127.0.0.1',
  PORT: String(port),
  ORIGIN: `http://127.0.0.1:${port}`,
  SERVICE_BASE_URL: api.baseUrl,
  SERVICE_TENANT_ID: id,
  SERVICE_API_KEY_ID: key.id,
  SERVICE_API_KEY_SECRET: key.secret,
});

type AppEnvironment = ReturnType<typeof environmentOf>;

/** Installs the packages and the packed client, and builds the app. */
async function buildApp(framework: Framework, env: AppEnvironment): Promise<string> {
  const app = join(folder, framework.folder);
  await cp(join(import.meta.dirname, framework.folder), app, { recursive: true });
  await writeFile(join(app, 'package.json'), '{"private":true,"type":"module"}');
  await writeRecipes(join(app, framework.recipes), env.SERVICE_BASE_URL);
  const install = ['install', '--no-audit', '--no-fund', tarball, 'jose@6.2.17', ...framework.packages];
  await run('npm', install, { cwd: app });
  await run(process.execPath, framework.build, { cwd: app, env, maxBuffer: 2 ** 26 });
  return app;
}

/** Starts the app and waits until it serves its page. */
async function startApp({ start }: Framework, app: string, env: AppEnvironment): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, start, {
    cwd: app,
    env,
    stdio: 'inherit',
  });
  const ended = new Promise(done => child.once('exit', done));
  await waitFor(async () => (await fetch(env.ORIGIN).catch(() => undefined))?.ok);
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

test.runIf(hasBrowser()).for(FRAMEWORKS)(
  'an app of $name is rendered on a server, and answers a card under a strict policy',
  async framework => {
    await using stack = new AsyncDisposableStack();
    const api = stack.use(await createApi());
    stack.use(await createWorker(api));
    const tenant = await makeTenant(api);
    await publishQuestion(api, tenant, { type: 'nps', title: TITLE, frequency: { ignore_cooldown: true } });
    const environment = environmentOf(api, tenant, await freePort());
    const app = await buildApp(framework, environment);
    stack.use(await startApp(framework, app, environment));
    const url = environment.ORIGIN;
    const rendered = await fetch(url);
    expect(await rendered.text()).toMatch(/<h1>App<\/h1>.*<parley-feedback/s);
    expect(rendered.headers.get('content-security-policy')).not.toMatch(/unsafe-(inline|eval)/);

    const browser = await openBrowser();
    stack.defer(() => browser.close());
    const { page, complaints } = stack.use(await openPage(browser));
    await page.goto(url);
    await page.getByRole('radio', { name: '9 of 10' }).check();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Thank you for your feedback.').waitFor();
    const stored = await waitFor(async () => {
      const { body } = await api.request('GET', '/v1/answers?state=completed', { as: tenant.key.apiKey });
      return body.data.length === 1 && body.data;
    });
    expect(stored[0]).toMatchObject({ identity: 'user|1', values: { main: 9 } });
    expect(complaints).toEqual([]);
  },
);
