import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createServerClient } from '../../clients/javascript/src/server/index.ts';
import { createApi, createWorker, type TestApi } from '../support/api.ts';
import { ROOT } from '../support/documents.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { freePort } from '../support/process.ts';
import { makeVenv } from '../support/python.ts';
import { waitFor } from '../support/wait.ts';
import { LOCAL_WEBHOOKS } from '../support/webhooks.ts';

/** The receivers and the readers of the feed in docs/guides/webhooks.md, run as they are printed. */
const GUIDE = readFileSync(join(ROOT, 'docs/guides/webhooks.md'), 'utf8');
const SECRET = `whsec_${Buffer.from('a secret of the test with 32 byte').toString('base64')}`;
const IMAGE = 'parley-test-php-client';
const LIMIT_MS = 600_000;
const run = promisify(execFile);

/** The snippets of a language, in the order of the guide. */
const snippets = (language: string): string[] =>
  [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, code]) => code as string);

const [nodeReceiver, expressReceiver, jsReader] = snippets('js') as [string, string, string];
const [flaskReceiver, pythonReader] = snippets('python') as [string, string];
const [phpReceiver, phpReader] = snippets('php') as [string, string];

/** Stores events as files, each once, as the insertion of the guide does. */
const STORES: Record<string, string> = {
  'events.js': `import { writeFileSync } from 'node:fs';
export const lastSequence = async () => Number(process.env.AFTER);
export const store = async (id, event) => {
  try { writeFileSync(id + '.json', JSON.stringify(event), { flag: 'wx' }); } catch (error) { if (error.code !== 'EEXIST') throw error; }
};`,
  'events.py': `import json, os
def last_sequence():
    return int(os.environ["AFTER"])
def store(id, event):
    try:
        with open(id + ".json", "x") as file:
            json.dump(event, file)
    except FileExistsError:
        pass`,
  'events.php': `<?php
function lastSequence(): int { return (int) getenv('AFTER'); }
function store(string $id, array $event): void {
    if (!file_exists("$id.json")) file_put_contents("$id.json", json_encode($event));
}`,
};

interface Program {
  /** Starts it in its folder. */
  start(args: string[], env: Record<string, string>): ChildProcess;
  /** The names of the files in its folder. */
  list(): Promise<string[]>;
  read(file: string): Promise<string>;
}

const storedBy = async (program: Program): Promise<string[]> =>
  (await program.list()).filter(name => /^event_.*\.json$/.test(name));

/** Sends requests to a receiver as Parley does, and expects its replies. */
async function expectToReceive(program: Program, url: string): Promise<void> {
  const id = `event_${randomUUID()}`;
  const body = JSON.stringify({ id, type: 'message.created', sequence: 1, data: { object: { body: 'Grüße 🙂' } } });
  const send = async (text: string, signed = text, at = Math.floor(Date.now() / 1000)) => {
    const key = Buffer.from(SECRET.slice(6), 'base64');
    const signature = createHmac('sha256', key).update(`${id}.${at}.${signed}`).digest('base64');
    const headers = { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` };
    const reply = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: text,
    });
    return reply.status;
  };
  expect(await waitFor(() => send(body, 'another text').catch(() => undefined))).toBe(400);
  expect(await send(body.replace('message', 'massage'), body)).toBe(400);
  expect(await send(body, body, Math.floor(Date.now() / 1000) - 400)).toBe(400);
  expect(await program.list()).not.toContain(`${id}.json`);
  expect([await send(body), await send(body)]).toEqual([204, 204]);
  expect(JSON.parse(await program.read(`${id}.json`))).toEqual(JSON.parse(body));
}

async function whileRunning(child: ChildProcess, work: () => Promise<void>): Promise<void> {
  let printed = '';
  child.stdout?.on('data', text => (printed += text));
  child.stderr?.on('data', text => (printed += text));
  try {
    await work();
  } catch (error) {
    throw new Error(`${error}\n${printed}`, { cause: error });
  } finally {
    const ended = new Promise(resolve => child.once('exit', resolve));
    if (child.exitCode === null) {
      child.kill();
      await ended;
    }
  }
}

describe('the guide to webhooks', { timeout: LIMIT_MS }, () => {
  const stack = new AsyncDisposableStack();
  let api: TestApi;
  let tenant: TestTenant;
  beforeAll(async () => {
    api = stack.use(await createApi({ settings: LOCAL_WEBHOOKS }));
    stack.use(await createWorker(api)); // numbers events
    tenant = await makeTenant(api);
  });
  afterAll(() => stack.disposeAsync());

  async function makeFolder(files: Record<string, string>): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'parley-guide-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    for (const [name, text] of Object.entries({ ...STORES, ...files })) await writeFile(join(folder, name), text);
    return folder;
  }

  /** A program in a folder of this machine. */
  const programIn = (folder: string, command: string): Program => ({
    start: (args, env) => spawn(command, args, { cwd: folder, env: { PATH: process.env.PATH, ...env } }),
    list: () => readdir(folder),
    read: file => readFile(join(folder, file), 'utf8'),
  });

  /** Starts a receiver for a new webhook, and expects the events of Parley to reach it, also while the secret is rotated. */
  async function expectToBeReached(program: Program, argsAt: (port: string) => string[]): Promise<void> {
    const port = String(await freePort());
    const parley = createServerClient({ baseUrl: api.baseUrl, apiKey: tenant.key.apiKey });
    const url = `http://127.0.0.1:${port}/webhooks/parley`;
    const { id, secret } = await parley.webhooks.create({ url, event_types: ['question.published'] });
    const env = { PORT: port, PARLEY_WEBHOOK_SECRET: secret };
    await whileRunning(program.start(argsAt(port), env), async () => {
      await waitFor(() => fetch(url).catch(() => undefined));
      const expectStored = async () => {
        const { event_id } = await parley.webhooks.test(id);
        await waitFor(async () => (await program.list()).includes(`${event_id}.json`));
      };
      await expectStored();
      await parley.webhooks.rotateSecret(id, {});
      await expectStored();
    });
    await parley.webhooks.delete(id);
  }

  /** Whether the feed has the publication of a question. */
  async function isPublishedInFeed(question: string): Promise<boolean> {
    const { body } = await api.request('GET', '/v1/events?types=question.published', { as: tenant.key.apiKey });
    return body.data.some(({ object }: { object: { id: string } }) => object.id === question);
  }

  /** Expects a reader to store the events of the feed, and another run to store no more. */
  async function expectToRead(program: Program, args: string[]): Promise<void> {
    const before = (await storedBy(program)).length;
    const made = await api.request('POST', '/v1/questions', {
      as: tenant.key.apiKey,
      body: { type: 'nps', title: 'How likely?' },
    });
    await api.request('POST', `/v1/questions/${made.body.id}/publish`, { as: tenant.key.apiKey });
    const env = { SERVICE_BASE_URL: api.baseUrl, SERVICE_API_KEY: tenant.key.apiKey, AFTER: '0' };
    const read = () =>
      new Promise<void>((resolve, reject) => {
        const child = program.start(args, env);
        let errors = '';
        child.stderr?.on('data', text => (errors += text));
        child.once('exit', code => (code === 0 ? resolve() : reject(new Error(errors))));
      });
    await waitFor(() => isPublishedInFeed(made.body.id)); // and all events before it
    await read();
    const stored = await storedBy(program);
    expect(stored.length).toBeGreaterThan(before);
    await read();
    expect(await storedBy(program)).toEqual(stored);
  }

  describe('in JavaScript', () => {
    let program: Program;
    beforeAll(async () => {
      const folder = await makeFolder({
        'package.json': '{"private":true,"type":"module"}',
        'node.js': nodeReceiver,
        'express.js': expressReceiver,
        'reader.js': jsReader,
      });
      const client = join(ROOT, 'clients/javascript');
      const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: client });
      const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[')));
      await run('npm', ['install', '--no-audit', '--no-fund', join(folder, filename), 'express@5.1.0'], {
        cwd: folder,
      });
      program = programIn(folder, process.execPath);
    }, LIMIT_MS);

    test.each([
      ['node:http', 'node.js'],
      ['Express', 'express.js'],
    ])('the receiver with %s accepts only what Parley signed, and stores it once', async (_, file) => {
      const port = String(await freePort());
      const child = program.start([file], { PORT: port, PARLEY_WEBHOOK_SECRET: SECRET });
      await whileRunning(child, () => expectToReceive(program, `http://127.0.0.1:${port}/webhooks/parley`));
    });

    test('the receiver gets the events of Parley, also while the secret is rotated', () =>
      expectToBeReached(program, () => ['node.js']));

    test('the reader stores the events of the feed, each once', () => expectToRead(program, ['reader.js']));
  });

  describe('in Python', () => {
    let program: Program;
    beforeAll(async () => {
      const source = join(ROOT, 'clients/python');
      const requirements = ['requirements-dev.txt', 'examples/requirements.txt'].map(file => join(source, file));
      const project = { folder: source, extras: 'signing' };
      const programs = await makeVenv(join(source, '.venv'), requirements, { project });
      const folder = await makeFolder({ 'receiver.py': flaskReceiver, 'reader.py': pythonReader });
      program = programIn(folder, join(programs, 'python'));
    }, LIMIT_MS);

    test('the receiver accepts only what Parley signed, and stores it once', async () => {
      const port = String(await freePort());
      const args = ['-m', 'flask', '--app', 'receiver', 'run', '--port', port];
      const child = program.start(args, { PARLEY_WEBHOOK_SECRET: SECRET });
      await whileRunning(child, () => expectToReceive(program, `http://127.0.0.1:${port}/webhooks/parley`));
    });

    test('the receiver gets the events of Parley, also while the secret is rotated', () =>
      expectToBeReached(program, port => ['-m', 'flask', '--app', 'receiver', 'run', '--port', port]));

    test('the reader stores the events of the feed, each once', () => expectToRead(program, ['reader.py']));
  });

  describe('in PHP', () => {
    const hasDocker = inject('hasDocker');
    let program: Program;
    beforeAll(async () => {
      if (!hasDocker) return;
      await run('docker', ['build', '--quiet', '--network', 'host', '--tag', IMAGE, join(import.meta.dirname, 'php')]);
      const { stdout } = await run('docker', ['run', '--detach', '--rm', '--init', '--network', 'host', IMAGE]);
      const container = stdout.trim();
      stack.defer(async () => void (await run('docker', ['kill', container])));
      const inside = async (...args: string[]) => (await run('docker', ['exec', container, ...args])).stdout;
      const folder = await makeFolder({
        'receiver.php': phpReceiver,
        'reader.php': phpReader,
        'autoload.php': "<?php require '/client/vendor/autoload.php';",
      });
      await run('docker', ['cp', join(ROOT, 'clients/php'), `${container}:/client`]);
      await inside('composer', 'dump-autoload', '--quiet', '--working-dir', '/client');
      await run('docker', ['cp', folder, `${container}:/program`]);
      await inside('sh', '-c', 'mkdir /program/vendor && mv /program/autoload.php /program/vendor/');
      program = {
        start(args, env) {
          const settings = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
          return spawn('docker', ['exec', ...settings, '--workdir', '/program', container, 'php', ...args]);
        },
        list: async () => (await inside('ls', '/program')).trim().split('\n'),
        read: file => inside('cat', `/program/${file}`),
      };
    }, LIMIT_MS);

    test.runIf(hasDocker)('the receiver accepts only what Parley signed, and stores it once', async () => {
      const port = String(await freePort());
      const child = program.start(['-S', `127.0.0.1:${port}`, 'receiver.php'], { PARLEY_WEBHOOK_SECRET: SECRET });
      await whileRunning(child, () => expectToReceive(program, `http://127.0.0.1:${port}/webhooks/parley`));
    });

    test.runIf(hasDocker)('the receiver gets the events of Parley, also while the secret is rotated', () =>
      expectToBeReached(program, port => ['-S', `127.0.0.1:${port}`, 'receiver.php']),
    );

    test.runIf(hasDocker)('the reader stores the events of the feed, each once', () =>
      expectToRead(program, ['reader.php']),
    );
  });
});
