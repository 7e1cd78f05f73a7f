import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, createWorker } from '../../support/api.ts';
import { openPage } from '../../support/browser.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { ROOT } from '../../support/documents.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../../support/make.ts';
import { servePage } from './page-server.ts';
import { writeRecipes } from './recipes.ts';

const SOURCE = join(ROOT, 'clients/javascript/src');
const PACKAGES = [
  'vite@8.3.8',
  'vue@3.5.45',
  '@vitejs/plugin-vue@6.0.11',
  'svelte@5.57.3',
  '@sveltejs/vite-plugin-svelte@7.3.1',
];
const TITLE = 'How likely are you to recommend us?';

let folder: string;
const importFrom = (path: string) => import(pathToFileURL(join(folder, 'node_modules', path)).href);

/** A framework: its plugin for Vite, and the entries of a page and of a server. */
const FRAMEWORKS = [
  {
    name: 'Vue',
    plugin: async () => {
      const { default: vue } = await importFrom('@vitejs/plugin-vue/dist/index.mjs');
      return vue({ template: { compilerOptions: { isCustomElement: (tag: string) => tag === 'parley-feedback' } } });
    },
    page: `import { createApp } from 'vue'; import Feedback from './Feedback.vue';
const onAnswer = answer => (window.answer = answer);
createApp(Feedback, { onAnswer }).mount('main');`,
    server: `import { createSSRApp } from 'vue'; import { renderToString } from 'vue/server-renderer'; import Feedback from './Feedback.vue';
export const html = () => renderToString(createSSRApp(Feedback));`,
  },
  {
    name: 'Svelte',
    plugin: async () => (await importFrom('@sveltejs/vite-plugin-svelte/src/index.js')).svelte({ configFile: false }),
    page: `import { mount } from 'svelte'; import Feedback from './Feedback.svelte';
const target = document.querySelector('main'); target.replaceChildren();
mount(Feedback, { target, props: { onanswer: answer => (window.answer = answer) } });`,
    server: `import { render } from 'svelte/server'; import Feedback from './Feedback.svelte';
export const html = async () => render(Feedback).body;`,
  },
];

type Framework = (typeof FRAMEWORKS)[number];

/** Builds an entry into one file: for a browser, or for Node. */
async function buildEntry({ name, plugin }: Framework, entry: string, isForServer: boolean): Promise<string> {
  const { build } = await importFrom('vite/dist/node/index.js');
  const path = join(folder, `${name}-${isForServer ? 'server' : 'page'}.js`);
  await writeFile(path, entry);
  const built = await build({
    configFile: false,
    root: folder,
    logLevel: 'warn',
    plugins: [await plugin()],
    resolve: {
      alias: [
        { find: /^parley-feedback\/feedback$/, replacement: join(SOURCE, 'feedback/index.ts') },
        { find: /^parley-feedback$/, replacement: join(SOURCE, 'index.ts') },
      ],
    },
    ssr: { noExternal: true },
    build: {
      write: false,
      modulePreload: false,
      ssr: isForServer && path,
      rolldownOptions: { input: path, preserveEntrySignatures: 'strict', output: { format: 'es' } },
    },
  });
  return built.output[0].code;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-frameworks-'));
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', ...PACKAGES], { cwd: folder });
});
afterAll(() => rm(folder, { recursive: true }));

describe.each(FRAMEWORKS)('the recipe for $name', framework => {
  test('renders on a server, where nothing is sent', async () => {
    await writeRecipes(folder, 'https://feedback.example.com');
    const output = join(folder, `${framework.name}.built.mjs`);
    await writeFile(output, await buildEntry(framework, framework.server, true));
    const program = `let sent = 0; globalThis.fetch = async () => { sent++; throw new TypeError('no network'); };
const { html } = await import(${JSON.stringify(pathToFileURL(output).href)}); console.log(await html(), 'sent:', sent); process.exit();`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    expect(stdout).toMatch(/<parley-feedback><\/parley-feedback>.* sent: 0$/m);
  });

  test.runIf(hasBrowser())('shows a card under a strict policy, and learns the answer', async () => {
    await using stack = new AsyncDisposableStack();
    const api = stack.use(await createApi());
    stack.use(await createWorker(api));
    const tenant: TestTenant = await makeTenant(api);
    await publishQuestion(api, tenant, { type: 'nps', title: TITLE, frequency: { ignore_cooldown: true } });
    await writeRecipes(folder, api.baseUrl);
    const server = stack.use(await servePage(tenant, await buildEntry(framework, framework.page, false), api.baseUrl));
    const browser = await openBrowser();
    stack.defer(() => browser.close());
    const { page } = stack.use(await openPage(browser));
    await page.goto(server.url);
    await page.getByRole('radio', { name: '9 of 10' }).check();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForFunction(() => 'answer' in window);
    const answer = await page.evaluate(() => (window as never as { answer: unknown }).answer);
    expect(answer).toMatchObject({ state: 'completed', values: { main: 9 } });
  });
});
