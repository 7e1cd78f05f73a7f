import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generatedPart } from '../../docs/generated-part.ts';
import { settingsTable } from '../../docs/settings-table.ts';
import { envExample } from '../../src/platform/config.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { shellBlocks } from '../support/documents.ts';
import { freePort, startProcess, type TestProcess } from '../support/process.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const README = readFileSync(join(PROJECT, 'README.md'), 'utf8');
/** The command line without npm, which takes longer than the command. */
const PARLEY_CLI = `${process.execPath} src/main.ts`;

/** Makes `curl` record its arguments before it runs, with a separator after each argument and request. */
const RECORDING = `curl() { printf '%s\\037' "$@" >>"$REQUESTS"; printf '\\036' >>"$REQUESTS"; command curl "$@"; }\n`;

const folder = mkdtempSync(join(tmpdir(), 'parley-documents-'));
let server: TestProcess;

beforeAll(async () => {
  chmodSync(folder, 0o755); // for the user that the embedded PostgreSQL runs as
  server = await startProcess('start', { DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'warn' });
  await server.awaitProbe('/readyz', 200, 60_000);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program in the project like a new user next to the running server. */
async function run(command: string, args: string[], environment: Record<string, string> = {}, input = '') {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, BASE_URL: server.baseUrl, ...environment };
  const child = spawn(command, args, { cwd: PROJECT, env: { DATA_DIR: join(folder, 'data'), ...env } });
  const ended: Ended = { code: -1, stdout: '', stderr: '' };
  child.stdout.on('data', chunk => (ended.stdout += chunk));
  child.stderr.on('data', chunk => (ended.stderr += chunk));
  child.stdin.end(input);
  ended.code = await new Promise(done => child.once('close', code => done(code ?? -1)));
  return ended;
}

/** Runs shell commands and returns their output with the requests that they made. */
async function runShell(script: string, name: string): Promise<Ended & { requests: string[] }> {
  const file = join(folder, name);
  const ended = await run('sh', ['-eu'], { REQUESTS: file }, `${RECORDING}${script}`);
  if (!existsSync(file)) throw new Error(`no request was made:\n${ended.stdout}\n${ended.stderr}`);
  const recorded = readFileSync(file, 'utf8').split('\x1e').slice(0, -1);
  return { ...ended, requests: recorded.map(words => describeRequest(words.split('\x1f'))) };
}

const withoutIds = (text: string): string =>
  text.replaceAll(/\b[a-z]+_[0-7][0-9a-hjkmnp-tv-z]{25}\b|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '{id}');

/** Method, path and body of a curl command, without values that differ between runs. */
function describeRequest(words: string[]): string {
  const after = (flag: string) => (words.includes(flag) ? words[words.indexOf(flag) + 1] : undefined);
  const body = after('-d');
  const url = words.find(word => word.startsWith('http')) ?? '';
  const method = after('-X') ?? (body === undefined ? 'GET' : 'POST');
  const content = body === undefined ? '' : ` ${JSON.stringify(JSON.parse(body))}`;
  return withoutIds(`${method} ${url.replace(server.baseUrl, '')}${content}`);
}

const runDemo = (environment: Record<string, string> = {}) =>
  run(process.execPath, ['docs/demo.ts'], { PARLEY_CLI, ...environment });

test('the quick start works verbatim, and the demo sends the same requests', async () => {
  const [readme, demo] = await Promise.all([
    runShell(shellBlocks('README.md', 'Quick start').join('\n'), 'readme'),
    runDemo(),
  ]);
  expect(readme.code, readme.stderr).toBe(0);
  expect(withoutIds(readme.stdout).replaceAll(/\s+/g, ' ').trim()).toBe(
    [
      'live',
      `[ { id: '{id}', revision: 1, status: 'accepted' } ]`,
      'stored',
      'Where do I find the export?',
      '2',
      'Under Settings, tab Data.',
      'How likely are you to recommend us?',
      'public-access-restricted',
    ].join(' '),
  );

  expect(demo.code, demo.stderr).toBe(0);
  expect(demo.stdout.trimEnd()).toMatch(/Every step went as it should\.$/);
  const commands = demo.stdout.split('\n').filter(line => line.startsWith('curl '));
  const statuses = commands.map(command => `${command} -o /dev/null -w '%{http_code} '`).join('\n');
  const pasted = await runShell(statuses, 'pasted');
  expect(pasted.requests).toEqual(readme.requests);
  // The demo has run before: its question is live, its card is gone, its answer is a duplicate.
  expect(pasted.stdout.trim()).toBe('201 409 200 202 200 201 200 201 200 200 200 403');
}, 300_000);

test('the demo fails and reports that no server responds', async () => {
  const { code, stderr } = await runDemo({ BASE_URL: `http://127.0.0.1:${await freePort()}` });
  expect(code).toBe(1);
  expect(stderr).toContain('Start one with `npm start`');
});

test('the demo fails and names the step with an unexpected reply', async () => {
  const impostor = createServer((_, response) => response.setHeader('Content-Type', 'application/json').end('{}'));
  await new Promise<void>(done => impostor.listen(0, '127.0.0.1', done));
  const { port } = impostor.address() as AddressInfo;
  const { code, stderr } = await runDemo({ BASE_URL: `http://127.0.0.1:${port}` });
  impostor.closeAllConnections();
  await new Promise(done => impostor.close(done));
  expect(code).toBe(1);
  expect(stderr).toContain('POST /v1/questions should return 201');
});

test("README's table of settings matches `node docs/settings-table.ts`", () => {
  expect(generatedPart(README, 'settings')).toBe(settingsTable());
});

test('config/env.example matches `npm run openapi`', () => {
  expect(readFileSync(join(PROJECT, 'config/env.example'), 'utf8')).toBe(envExample());
});

test('README starts with the two commands for new users', () => {
  expect(shellBlocks('README.md', 'Start')[0]).toBe('npm ci && npm start\n');
});

test('every dependency is explained in the decision on dependencies', () => {
  const manifest = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as Record<string, object>;
  const names = ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap(kind =>
    Object.keys(manifest[kind] ?? {}),
  );
  const decision = readFileSync(join(PROJECT, 'docs/decisions/0010-dependencies.md'), 'utf8');
  const named = [...decision.matchAll(/\*\*([^*]+)\*\*/g)].map(match => match[1]);
  expect(named.toSorted()).toEqual(names.toSorted());
});

test('every link in the documents has a target', () => {
  const folders = [
    '.',
    'docs',
    'docs/decisions',
    'docs/guides',
    'docs/runbooks',
    'helm',
    'clients/contract',
    'clients/javascript',
  ];
  const documents = folders.flatMap(name =>
    readdirSync(join(PROJECT, name)).flatMap(file => (file.endsWith('.md') ? [join(PROJECT, name, file)] : [])),
  );
  const broken = documents.flatMap(document =>
    [...readFileSync(document, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
      .map(match => resolve(document, '..', match[1] ?? ''))
      .filter(target => !existsSync(target)),
  );
  expect(documents.length).toBeGreaterThan(15);
  expect(broken).toEqual([]);
});

test('every metric is explained in docs/operating.md', async () => {
  const operating = readFileSync(join(PROJECT, 'docs/operating.md'), 'utf8');
  const series = [...(await createMetrics('test').render()).matchAll(/^# TYPE (\S+)/gm)].map(match => match[1] ?? '');
  const ours = series.filter(name => !/^(process|nodejs)_/.test(name));
  expect(ours.length).toBeGreaterThan(20);
  expect(ours.filter(name => !operating.includes(`\`${name}\``))).toEqual([]);
});
