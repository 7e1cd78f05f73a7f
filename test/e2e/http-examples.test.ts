import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT, runDocumented } from '../support/documents.ts';
import { type Installation, startInstallation } from '../support/installation.ts';
import { runCommand } from '../support/process.ts';

const DOCUMENT = 'docs/http.md';
/** Printed after each example to separate the outputs. */
const END = '\x1e';

interface Example {
  script: string;
  /** The reply shown below it. */
  reply: { kind: string; text: string } | undefined;
}

/** The page's examples in order, each with the reply below it. */
function readExamples(): Example[] {
  const blocks = [...readFileSync(join(ROOT, DOCUMENT), 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(
    ([, kind = '', text = '']) => ({ kind, text }),
  );
  return blocks.flatMap(({ kind, text }, index) => {
    const next = blocks[index + 1];
    return kind === 'sh' ? [{ script: text, reply: next && next.kind !== 'sh' ? next : undefined }] : [];
  });
}

/** Differences between a shown and an actual reply. Every shown value must be present; `…` matches any text. */
function differences(shown: unknown, actual: unknown, at = ''): string[] {
  if (Array.isArray(shown)) {
    const items = Array.isArray(actual) ? actual : [];
    if (items.length !== shown.length) return [`${at}: ${items.length} items in place of ${shown.length}`];
    return shown.flatMap((each, index) => differences(each, items[index], `${at}/${index}`));
  }
  if (typeof shown === 'object' && shown !== null) {
    const members = typeof actual === 'object' && actual !== null ? (actual as Record<string, unknown>) : {};
    return Object.entries(shown).flatMap(([name, each]) => differences(each, members[name], `${at}/${name}`));
  }
  const pattern = String(shown).split('…').map(RegExp.escape).join('[^]*');
  const isEqual = typeof shown === 'string' && typeof actual === 'string' && RegExp(`^${pattern}$`).test(actual);
  return isEqual || shown === actual ? [] : [`${at}: ${JSON.stringify(actual)} in place of ${JSON.stringify(shown)}`];
}

/** The faults of an example's output. */
function check({ script, reply }: Example, output: string): string[] {
  if (!reply) return output.trim() === '' ? [] : [`a reply that is not shown: ${output}`];
  const found =
    reply.kind === 'json'
      ? differences(JSON.parse(reply.text), JSON.parse(output))
      : differences(reply.text.trim(), output.trim());
  return found.map(fault => `${script}${output}\n${fault}`);
}

interface Operation {
  operationId: string;
  security?: Record<string, unknown>[];
}

/** Method and path of each operation that accepts a credential other than a session, by its id. */
function operationsOfAppsAndServers(): Map<string, [method: string, path: RegExp]> {
  const { paths } = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const taken = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security?.some(kind => !('session' in kind) && Object.keys(kind).length > 0))
      .map(([method, { operationId }]): [string, [string, RegExp]] => {
        const pattern = path
          .split(/\{\w+\}/)
          .map(RegExp.escape)
          .join('[^/?" ]+');
        return [operationId, [method.toUpperCase(), RegExp(`\\$SERVICE_BASE_URL${pattern}["?]`)]];
      }),
  );
  return new Map(taken);
}

const methodOf = (command: string): string =>
  /-X (\w+)/.exec(command)?.[1] ?? (/\s-d '/.test(command) ? 'POST' : 'GET');

let installation: Installation;
let values: Record<string, string>;
beforeAll(async () => {
  installation = await startInstallation({ OUTBOUND_PROXY: 'http://127.0.0.1:9' }); // names of webhooks are not resolved
  const run = async (command: string) => {
    const { code, stdout, stderr } = await runCommand(command.split(' '), installation.environment);
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Record<string, string>;
  };
  const { id: tenant = '' } = await run('tenant create --name Acme');
  const key = await run(`api-key create --tenant ${tenant} --name backend`);
  const publicKey = await run(`api-key create --tenant ${tenant} --name app --public`);
  values = {
    SERVICE_BASE_URL: installation.baseUrl,
    SERVICE_TENANT_ID: tenant,
    SERVICE_API_KEY_ID: key.id ?? '',
    SERVICE_API_KEY_SECRET: key.secret ?? '',
    SERVICE_API_KEY: key.api_key ?? '',
    SERVICE_PUBLIC_KEY_ID: publicKey.id ?? '',
  };
}, 300_000);
afterAll(() => installation?.[Symbol.asyncDispose]());

test('every example of the page works verbatim and returns the shown reply', async () => {
  const examples = readExamples();
  const script = examples.map(each => `${each.script}\nprintf '${END}'\n`).join('');
  const folder = await mkdtemp(join(tmpdir(), 'parley-http-')); // as a reader has it, without this project's packages
  const outputs = (await runDocumented(`set -eu\ncd ${folder}\n${script}`, values)).split(END).slice(0, -1);
  await rm(folder, { recursive: true });
  expect(outputs).toHaveLength(examples.length);
  expect(examples.flatMap((example, index) => check(example, outputs[index] ?? ''))).toEqual([]);
}, 300_000);

test('every operation for apps and servers has an example', () => {
  const commands = readExamples().flatMap(({ script }) => script.split(/(?=\bcurl )/));
  const missing = [...operationsOfAppsAndServers()].filter(
    ([, [method, path]]) => !commands.some(command => methodOf(command) === method && path.test(command)),
  );
  expect(missing.map(([id]) => id)).toEqual([]);
});

test('a reply that differs from the shown one is detected', () => {
  expect(differences({ id: 'card_…', list: [{ a: 1 }] }, { id: 'card_1', list: [{ a: 1, b: 2 }], more: 1 })).toEqual(
    [],
  );
  expect(differences({ id: 'card_…' }, { id: 'question_1' })).toHaveLength(1);
  expect(differences({ a: null }, {})).toHaveLength(1);
  expect(differences({ list: [] }, { list: [1] })).toHaveLength(1);
});
