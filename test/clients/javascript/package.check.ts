import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServerClient } from '../../../clients/javascript/src/server/index.ts';
import { createApi, createWorker } from '../../support/api.ts';
import { ROOT } from '../../support/documents.ts';
import { makeTenant, type TestTenant } from '../../support/make.ts';
import { freePort } from '../../support/process.ts';
import { waitFor } from '../../support/wait.ts';
import { bundle } from './page-server.ts';

const run = promisify(execFile);
const SOURCE = join(ROOT, 'clients/javascript');
/** Runtimes that the package supports, in addition to the Node of these tests. */
const RUNTIMES = ['node@20.20.2', 'deno@2.9.6', 'bun@1.4.5'];
const ATTW = join(ROOT, 'node_modules/.bin/attw');

let project: string;
let tarball: string;
/** Packs the package as for publication and installs it into an empty project. */
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'parley-project-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], { cwd: SOURCE });
  tarball = join(project, JSON.parse(stdout.slice(stdout.indexOf('[')))[0].filename);
  await writeFile(join(project, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: project });
});
afterAll(() => rm(project, { recursive: true }));

const installed = () => join(project, 'node_modules/@parley/client');

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
  expect(Object.keys(analysis.entrypoints)).toEqual(expect.arrayContaining(['.', './feedback', './server', './node']));
  const served = Object.values(problems).flat();
  expect(served.filter(({ resolutionKind }) => !NOT_SERVED.includes(resolutionKind))).toEqual([]);
});

test('it has no dependencies and contains no sources', async () => {
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
  expect([...kinds].toSorted()).toEqual(['LICENSE', 'README.md', 'dist', 'examples', 'package.json']);
});

describe('sizes', () => {
  const CORE = "export { createClient, tokenEndpoint } from '@parley/client';";
  const OUTBOX = "export { createClient, createOutbox, tokenEndpoint } from '@parley/client';";
  const VIEW = `${OUTBOX} export { defineFeedback } from '@parley/client/feedback';`;

  /** The compressed size of the code that an app bundles for these imports. */
  async function sizeOf(name: string, text: string): Promise<number> {
    const entry = join(project, `${name}.js`);
    await writeFile(entry, text);
    return gzipSync(await bundle(entry), { level: 9 }).length;
  }

  test('are below the documented limits', async () => {
    const [core, outbox, view] = [
      await sizeOf('core', CORE),
      await sizeOf('outbox', OUTBOX),
      await sizeOf('view', VIEW),
    ];
    expect(core).toBeLessThan(6 * 1024);
    expect(outbox).toBeLessThan(9 * 1024);
    expect(view - outbox).toBeLessThan(12 * 1024);
    expect(outbox).toBeGreaterThan(core); // unused exports are not bundled
  });
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
      BASE_URL: api.baseUrl,
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
      const me = await fetch(`${env.BASE_URL}/v1/me`, { headers: { Authorization: `Bearer ${access_token}` } });
      expect(await me.json()).toMatchObject({ identity: 'user|42', identity_verified: true });
      expect((await ask('somebody')).status).toBe(401);
    } finally {
      child.kill();
    }
  });

  test('the example importer imports a survey of Formbricks and its responses, each once', async () => {
    const folder = join(project, 'import');
    await mkdir(folder, { recursive: true });
    const importer = join(folder, 'import-formbricks.mjs');
    await writeFile(importer, await readFile(join(installed(), 'examples/import-formbricks.mjs')));
    const responses = [...FORMBRICKS_RESPONSES];
    await writeFile(join(folder, 'survey.json'), JSON.stringify({ data: FORMBRICKS_SURVEY }));
    const importAll = async () => {
      await writeFile(join(folder, 'responses.json'), JSON.stringify({ data: responses }));
      const settings = {
        ...env,
        PARLEY_URL: env.BASE_URL,
        PARLEY_API_KEY: env.SERVICE_API_KEY,
        PARLEY_IDENTITY_PREFIX: 'user|',
      };
      const files = ['survey.json', 'responses.json'].map(file => join(folder, file));
      return run(process.execPath, [importer, ...files], { cwd: folder, env: settings });
    };
    const { stdout, stderr } = await importAll();
    expect(stdout).toContain('7 accepted, 0 duplicate, 0 superseded, 0 rejected');
    expect(stderr).toBe('left out: "Show us your face", Parley has nothing like fileUpload\n');
    responses.push({ ...response('r3', '2026-03-01T00:00:00.000Z', '3'), data: { nps: 2 } });
    expect((await importAll()).stdout).toContain('1 accepted, 7 duplicate');

    const parley = createServerClient({ baseUrl: env.BASE_URL as string, apiKey: env.SERVICE_API_KEY as string });
    const listed = async <Item>(list: AsyncIterable<Item>) => Array.fromAsync(list);
    const imported = await waitFor(async () => {
      const answers = await listed(parley.listAnswers({ limit: 100 }));
      const ours = answers.filter(({ metadata }) => metadata.sdk === 'import-formbricks');
      return ours.length === 8 && ours;
    });
    const questions = (await listed(parley.listQuestions({}))).filter(({ name }) => name.startsWith('Onboarding: '));
    expect(questions.map(({ status }) => status)).toEqual(['paused', 'paused', 'paused', 'paused', 'paused']);
    const answersTo = (title: string) => {
      const { id } = questions.find(question => question.title === title) as { id: string };
      return imported.filter(answer => answer.question_id === id).map(answer => [answer.identity, answer.values.main]);
    };
    expect(answersTo('How likely are you to recommend us & our app?').toSorted()).toEqual([
      ['formbricks|r2', 10],
      ['user|1', 9],
      ['user|3', 2],
    ]);
    expect(answersTo('Where do you work?')).toEqual([['user|1', { option_id: 'c1' }]]);
    expect(answersTo('What do you use?').toSorted()).toEqual([
      ['formbricks|r2', { option_ids: ['d2'], other_text: 'a drum' }],
      ['user|1', { option_ids: ['d1', 'd2'] }],
    ]);
    expect(answersTo('Anything else?')).toEqual([['user|1', 'No.']]);
    expect(answersTo('May we write to you?')).toEqual([['user|1', true]]);
  });
});

const text = (words: string, german?: string) => ({ default: words, ...(german ? { de: german } : {}) });
const FORMBRICKS_SURVEY = {
  id: 'cm5survey0000',
  name: 'Onboarding',
  questions: [],
  blocks: [
    {
      elements: [
        { id: 'nps', type: 'nps', headline: text('<p>How likely are you to recommend us &amp; our <b>app</b>?</p>') },
        {
          id: 'place',
          type: 'multipleChoiceSingle',
          headline: text('Where do you work?'),
          choices: [
            { id: 'c1', label: text('At home', 'Zu Hause') },
            { id: 'c2', label: text('Elsewhere', 'Anderswo') },
          ],
        },
      ],
    },
    {
      elements: [
        {
          id: 'tools',
          type: 'multipleChoiceMulti',
          headline: text('What do you use?'),
          choices: [
            { id: 'd1', label: text('Pen') },
            { id: 'd2', label: text('Paper') },
            { id: 'other', label: text('Other') },
          ],
        },
        { id: 'more', type: 'openText', headline: text('Anything else?'), inputType: 'text', charLimit: {} },
        { id: 'mail', type: 'consent', headline: text('May we write to you?'), label: text('Yes') },
        { id: 'face', type: 'fileUpload', headline: text('Show us your face') },
      ],
    },
  ],
};
const response = (id: string, time: string, userId?: string) => ({
  id,
  createdAt: time,
  updatedAt: time,
  finished: true,
  language: 'default',
  contact: userId ? { id: `contact-${id}`, userId } : null,
  data: {},
});
const FORMBRICKS_RESPONSES = [
  {
    ...response('r1', '2026-01-01T10:00:00.000Z', '1'),
    data: { nps: 9, place: 'Zu Hause', tools: ['Pen', 'Paper'], more: 'No.', mail: 'accepted', face: ['a.png'] },
  },
  {
    ...response('r2', '2026-02-01T10:00:00.000Z'),
    data: { nps: 10, tools: ['Paper', 'a drum'], more: '', mail: 'dismissed' },
  },
];
