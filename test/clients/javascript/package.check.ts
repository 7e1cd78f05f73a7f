import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServerClient } from '../../../clients/javascript/src/server/index.ts';
import { createApi, createWorker } from '../../support/api.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { ROOT } from '../../support/documents.ts';
import { makeTenant, type TestTenant } from '../../support/make.ts';
import { freePort } from '../../support/process.ts';
import { waitFor } from '../../support/wait.ts';
import {
  FORMBRICKS_GERMAN,
  FORMBRICKS_LOSSES,
  FORMBRICKS_RESPONSES,
  FORMBRICKS_SURVEY,
  FORMBRICKS_THANKS,
  response,
} from './formbricks-export.ts';
import { bundle } from './page-server.ts';

const run = promisify(execFile);
const SOURCE = join(ROOT, 'clients/javascript');
/** Runtimes that the package supports, in addition to the Node of these tests. */
const RUNTIMES = ['node@20.20.2', 'deno@2.9.6', 'bun@1.4.5'];
/** Optional peers: signing tokens and the React hooks need them. */
const PEERS = ['jose@6.2.17', 'react@19.3.1'];
const ATTW = join(ROOT, 'node_modules/.bin/attw');
const TSC = join(ROOT, 'node_modules/.bin/tsc');

/** A text that is too long for an answer. */
const LONG = 'Slow. '.repeat(1000);

let project: string;
let tarball: string;
/** Packs the package as for publication and installs it into an empty project. */
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'parley-project-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], { cwd: SOURCE });
  tarball = join(project, JSON.parse(stdout.slice(stdout.indexOf('[')))[0].filename);
  await writeFile(join(project, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
  await run('npm', ['install', '--no-audit', '--no-fund', tarball, ...PEERS], { cwd: project });
});
afterAll(() => rm(project, { recursive: true }));

const installed = () => join(project, 'node_modules/parley-feedback');

test('publint reports no problems', async () => {
  const { messages, pkg } = await publint({ pkgDir: installed(), level: 'suggestion', pack: false });
  expect(messages.map(message => formatMessage(message, pkg ?? {}))).toEqual([]);
});

/** Module resolutions without ES modules, which the package does not support. */
const NOT_SERVED = ['node10', 'node16-cjs'];

test('the types resolve in every supported module resolution', async () => {
  const { stdout } = await run(ATTW, [tarball, '--profile', 'esm-only', '--format', 'json']); // its exit code reports failures
  const { analysis, problems } = JSON.parse(stdout) as {
    analysis: { entrypoints: object };
    problems: Record<string, { resolutionKind: string }[]>;
  };
  expect(Object.keys(analysis.entrypoints)).toEqual(
    expect.arrayContaining([
      '.',
      './feedback',
      './placements',
      './triggers',
      './server',
      './webhooks',
      './node',
      './react',
    ]),
  );
  const served = Object.values(problems).flat();
  expect(served.filter(({ resolutionKind }) => !NOT_SERVED.includes(resolutionKind))).toEqual([]);
});

test('it has no dependencies and contains no sources', async () => {
  const manifest = JSON.parse(await readFile(join(installed(), 'package.json'), 'utf8'));
  expect(manifest.dependencies ?? {}).toEqual({});
  expect(Object.keys(manifest.peerDependencies)).toEqual(['jose', 'react']);
  expect(manifest.peerDependenciesMeta).toEqual({ jose: { optional: true }, react: { optional: true } });
  const { stdout } = await run('tar', ['-tzf', tarball]);
  const kinds = new Set(
    stdout
      .trim()
      .split('\n')
      .map(path => path.replace(/^package\//, '').split('/')[0]),
  );
  expect([...kinds].toSorted()).toEqual(['LICENSE', 'README.md', 'dist', 'examples', 'package.json']);
});

test('it is packed from its own folder, as in a release archive', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-archive-'));
  try {
    const filter = (path: string) => !/\/(node_modules|dist)$/.test(path);
    await cp(SOURCE, folder, { recursive: true, filter });
    await run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'], { cwd: folder });
    const { stdout } = await run('npm', ['pack', '--json'], { cwd: folder });
    const [{ files }] = JSON.parse(stdout.slice(stdout.indexOf('[')));
    const paths = files.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(expect.arrayContaining(['dist/index.js', 'dist/react/index.d.ts', 'LICENSE', 'README.md']));
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.runIf(hasBrowser())('the style sheets are the same without their white space', async () => {
  const pattern = /const STYLES = `([^`]*)`/;
  const rules: string[][] = [];
  await using browser = await openBrowser();
  const page = await browser.newPage();
  for (const part of ['feedback', 'placements'])
    for (const file of [join(SOURCE, `src/${part}/styles.ts`), join(installed(), `dist/${part}/styles.js`)]) {
      const [, css = ''] = pattern.exec(await readFile(file, 'utf8')) ?? [];
      expect(css.includes('\n')).toBe(file.endsWith('.ts'));
      rules.push(
        await page.evaluate(text => {
          const sheet = new CSSStyleSheet();
          sheet.replaceSync(text);
          return [...sheet.cssRules].map(({ cssText }) => cssText.replaceAll(', ', ',')); // variables keep their text
        }, css),
      );
    }
  const [view, packedView, placements, packedPlacements] = rules;
  expect(view?.length).toBeGreaterThan(50);
  expect(packedView).toEqual(view);
  expect(placements?.length).toBeGreaterThan(7);
  expect(packedPlacements).toEqual(placements);
});

describe('sizes', () => {
  const CORE = "export { createClient, tokenEndpoint } from 'parley-feedback';";
  const OUTBOX = "export { createClient, createOutbox, tokenEndpoint } from 'parley-feedback';";
  const VIEW = `${OUTBOX} export { defineFeedback } from 'parley-feedback/feedback';`;
  const REACT = `${VIEW} export { Feedback, useCards, useUnreadCount } from 'parley-feedback/react';`;
  const CONVERSATIONS = `${OUTBOX} export { createConversations } from 'parley-feedback';`;
  const LANGUAGES = ['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt'];

  const PLACEMENTS = `${VIEW} export { addPlacements } from 'parley-feedback/placements';`;
  const TRIGGERS = `${VIEW} export { addTriggers } from 'parley-feedback/triggers';`;

  const WEBHOOKS = "export { verifyWebhook } from 'parley-feedback/webhooks';";

  /** The compressed size of the code that an app bundles for these imports. */
  async function sizeOf(name: string, text: string): Promise<number> {
    const entry = join(project, `${name}.js`);
    await writeFile(entry, text);
    return gzipSync(await bundle(entry, ['react']), { level: 9 }).length;
  }

  test('are below the documented limits', async () => {
    const core = await sizeOf('core', CORE);
    const outbox = await sizeOf('outbox', OUTBOX);
    const view = await sizeOf('view', VIEW);
    const react = (await sizeOf('react', REACT)) - view;
    const conversations = (await sizeOf('conversations', CONVERSATIONS)) - outbox;
    const languages = await Promise.all(
      LANGUAGES.map(each => sizeOf(each, `export { ${each} } from 'parley-feedback/texts/${each}';`)),
    );
    const language = Math.max(...languages);
    const placements = (await sizeOf('placements', PLACEMENTS)) - view;
    const triggers = (await sizeOf('triggers', TRIGGERS)) - view;
    const webhooks = await sizeOf('webhooks', WEBHOOKS);
    const bytes = { core, outbox, view, react, conversations, placements, triggers, language, webhooks };
    expect(core, JSON.stringify(bytes)).toBeLessThan(6 * 1024);
    expect(outbox, JSON.stringify(bytes)).toBeLessThan(9 * 1024);
    expect(view, JSON.stringify(bytes)).toBeLessThan(20.4 * 1024);
    for (const addition of [placements, triggers, webhooks])
      expect(addition, JSON.stringify(bytes)).toBeLessThan(2 * 1024);
    for (const addition of [react, conversations, language]) expect(addition, JSON.stringify(bytes)).toBeLessThan(1024);
    expect(outbox).toBeGreaterThan(core); // unused exports are not bundled
  });
});

test('a language without one of the texts does not compile', async () => {
  const config = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2020',
    lib: ['es2020', 'dom'],
    types: [],
  };
  await writeFile(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: config, include: ['language.ts'] }),
  );
  const compile = async (text: string) => {
    await writeFile(join(project, 'language.ts'), text);
    return run(TSC, ['--project', project], { cwd: project }).then(
      () => '',
      ({ stdout }) => stdout as string,
    );
  };
  const head = "import type { Texts } from 'parley-feedback/feedback'; import { de } from 'parley-feedback/texts/de';";
  expect(await compile(`${head} export const texts: Texts = { ...de, send: 'Los' };`)).toBe('');
  expect(await compile(`${head} const { 'too-few': _, ...rest } = de; export const texts: Texts = rest;`)).toContain(
    "Property ''too-few'' is missing",
  );
});

describe('with a server', () => {
  let tenant: TestTenant;
  let env: NodeJS.ProcessEnv;
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    const api = stack.use(await createApi());
    stack.use(await createWorker(api));
    tenant = await makeTenant(api);
    env = {
      PATH: process.env.PATH,
      SERVICE_BASE_URL: api.baseUrl,
      SERVICE_API_KEY: tenant.key.apiKey,
      SERVICE_API_KEY_ID: tenant.key.id,
      SERVICE_API_KEY_SECRET: tenant.key.secret,
      SERVICE_TENANT_ID: tenant.id,
    };
  });
  afterAll(() => stack.disposeAsync());

  describe('the quick start works verbatim', () => {
    beforeAll(async () => {
      const readme = await readFile(join(SOURCE, 'README.md'), 'utf8');
      const [, code = ''] = /## Quick start.*?```js\n(.*?)```/s.exec(readme) ?? [];
      await writeFile(join(project, 'quick-start.mjs'), code);
      // Each runtime is an npm package that contains its executable.
      await run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', runtimes, ...RUNTIMES]);
    });
    const runtimes = join(tmpdir(), 'parley-runtimes');

    test.each([
      ['this Node', process.execPath, []],
      ['Node 20', join(runtimes, 'node_modules/.bin/node'), []],
      ['Deno', join(runtimes, 'node_modules/.bin/deno'), ['run', '--no-remote', '--allow-env', '--allow-net']],
      ['Bun', join(runtimes, 'node_modules/.bin/bun'), ['run']],
    ])('on %s', async (_, program, options) => {
      const { stdout } = await run(program, [...options, 'quick-start.mjs'], { cwd: project, env });
      expect(stdout).toBe('How likely are you to recommend us? done\n');
    });
  });

  test('the example backend issues tokens to its users', async () => {
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
      const me = await fetch(`${env.SERVICE_BASE_URL}/v1/me`, { headers: { Authorization: `Bearer ${access_token}` } });
      expect(await me.json()).toMatchObject({ identity: 'user|42', identity_verified: true });
      expect((await ask('somebody')).status).toBe(401);
    } finally {
      child.kill();
    }
  });

  test('the example importer turns a survey of Formbricks into a question with steps, and its responses into answers, each once', async () => {
    const folder = join(project, 'import');
    await mkdir(folder, { recursive: true });
    const importer = join(installed(), 'examples/import-formbricks.mjs');
    const responses = [...FORMBRICKS_RESPONSES];
    await writeFile(join(folder, 'survey.json'), JSON.stringify({ data: FORMBRICKS_SURVEY }));
    const importAll = async (others = {}) => {
      await writeFile(join(folder, 'responses.json'), JSON.stringify({ data: responses }));
      const settings = {
        ...env,
        PARLEY_IDENTITY_PREFIX: 'user|',
        ...others,
      };
      const files = ['survey.json', 'responses.json'].map(file => join(folder, file));
      return run(process.execPath, [importer, ...files], { cwd: folder, env: settings });
    };
    const { stdout, stderr } = await importAll();
    expect(stdout).toContain('question: Onboarding, 6 steps, in en, de\nquestion: Onboarding: A gift?\n');
    expect(stdout).toContain('3 accepted, 0 duplicate, 0 superseded, 0 rejected');
    expect(stderr.split('\n')).toEqual([...FORMBRICKS_LOSSES, '']);
    responses.push({
      ...response('r3', '2026-03-01T00:00:00.000Z', '3'),
      finished: false,
      data: { nps: 2, why: LONG },
    });
    const repeated = await importAll();
    expect(repeated.stdout).toContain('1 accepted, 3 duplicate');
    expect(repeated.stderr).toContain('cut: the last 1000 characters of response r3 to "');
    const unknown = await importAll({ SERVICE_API_KEY: `sk_${'0'.repeat(32)}` }).catch(error => error);
    expect(unknown.stderr.trim().split('\n').at(-1)).toMatch(/^stopped: .*Run the import again/);

    const parley = createServerClient({
      baseUrl: env.SERVICE_BASE_URL as string,
      apiKey: env.SERVICE_API_KEY as string,
    });
    const listed = async <Item>(list: AsyncIterable<Item>) => Array.fromAsync(list);
    const imported = await waitFor(async () => {
      const answers = await listed(parley.answers.list({ limit: 100 }));
      const ours = answers.filter(({ metadata }) => metadata.sdk === 'import-formbricks');
      return ours.length === 4 && ours;
    });
    const questions = (await listed(parley.questions.list({}))).filter(({ name }) => name.startsWith('Onboarding'));
    expect(questions.map(({ status }) => status)).toEqual(['paused', 'paused']);
    const questionOf = (name: string) => questions.find(question => question.name === name) as (typeof questions)[0];
    const { title, type, locale, translations, thanks, follow_ups } = questionOf('Onboarding');
    expect([title, type, locale]).toEqual(['How likely are you to recommend us & our app?', 'nps', 'en']);
    expect(thanks).toEqual(FORMBRICKS_THANKS);
    expect(translations).toEqual({ de: FORMBRICKS_GERMAN });
    const languagesOf = Object.fromEntries(imported.map(({ identity, metadata }) => [identity, metadata]));
    expect(languagesOf['user|1']).toMatchObject({ locale: 'de' });
    expect(languagesOf['user|3']).toMatchObject({ card_locale: 'en' });
    expect(follow_ups.map(({ key, type, required, show_if }) => [key, type, required, show_if])).toEqual([
      ['place', 'single_choice', false, null],
      ['why', 'text', false, { step: 'main', op: 'lte', value: 8 }],
      ['tools', 'multi_choice', true, null],
      ['more', 'text', false, null],
      ['mail', 'consent', false, null],
    ]);
    const answersTo = (name: string) =>
      imported
        .filter(answer => answer.question_id === questionOf(name).id)
        .map(answer => [answer.identity, answer.state, answer.values]);
    expect(answersTo('Onboarding').toSorted()).toEqual([
      // Without the reason, which a score of 10 does not ask for
      ['formbricks|r2', 'completed', { main: 10, tools: { option_ids: ['d2'], other_text: 'a drum' } }],
      [
        'user|1',
        'completed',
        { main: 9, place: { option_id: 'c1' }, tools: { option_ids: ['d1', 'd2'] }, more: 'No.', mail: true },
      ],
      ['user|3', 'partial', { main: 2, why: LONG.slice(0, 5000) }],
    ]);
    expect(answersTo('Onboarding: A gift?')).toEqual([['formbricks|r2', 'completed', { main: 'A pen' }]]);
  });
});
