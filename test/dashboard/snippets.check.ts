import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SNIPPETS } from '../../dashboard/components/snippets/snippets.ts';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { hasTool, installPython, runTool, TOOL_LIMIT_MS } from '../support/tools.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const LIBRARIES = join(import.meta.dirname, 'snippets');
const PHP_IMAGE = 'parley-test-php-snippet';

const hasCurl = await hasTool(['curl', '--version'], 'the test of the snippet for curl');
const hasPython = await hasTool(['python3', '-m', 'pip', '--version'], 'the test of the snippet for Python');
const hasDocker = await hasTool(['docker', 'version'], 'the test of the snippet for PHP');

let api: TestApi;
let tenant: TestTenant;
let question: { id: string };
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

/** A tenant whose user has the card that the snippets fetch. */
async function begin(): Promise<void> {
  tenant = await makeTenant(api);
  question = await publishQuestion(api, tenant);
  const as = await tenant.sign('user|42');
  await waitFor(async () => (await api.request('GET', '/v1/cards', { as })).body.data.length === 1);
}

const snippet = (id: string): string => {
  const found = SNIPPETS.find(each => each.id === id);
  if (!found) throw new Error(`There is no snippet for ${id}.`);
  return found.code({ baseUrl: api.baseUrl, tenantId: tenant.id, keyId: tenant.key.id });
};
const environment = () => ({ SERVICE_API_KEY_SECRET: tenant.key.secret });

/** Runs a snippet in a temporary folder below `folder`, in which its libraries are installed. */
async function runIn(folder: string, work: (folder: string) => Promise<string>): Promise<string> {
  const own = await mkdtemp(join(folder, '.snippet-'));
  try {
    return await work(own);
  } finally {
    await rm(own, { recursive: true });
  }
}

/** The number of accepted answers of the tenant. */
const accepted = async () => (await api.request('GET', '/v1/ingestion', { as: tenant.key.apiKey })).body.accepted;

describe('as shown, with the secret filled in', () => {
  test.runIf(hasCurl)('the snippet for curl signs a token and fetches the cards', async () => {
    await begin();
    const printed = await runTool('bash', ['-c', snippet('curl').replace('your API key secret', tenant.key.secret)]);
    expect(JSON.parse(printed).data[0].question_id).toBe(question.id);
  });

  test('the snippet for JavaScript fetches a card and sends an answer that is accepted', async () => {
    await begin();
    const printed = await runIn(join(ROOT, 'node_modules'), async folder => {
      const file = join(folder, 'snippet.mjs');
      await writeFile(file, snippet('javascript'));
      return runTool(process.execPath, [file], { environment: environment() });
    });
    expect(printed).toContain("status: 'accepted'");
    await waitFor(async () => (await accepted()) === 1);
  });

  test.runIf(hasPython)(
    'the snippet for Python fetches a card and sends an answer that is accepted',
    async () => {
      await begin();
      const printed = await runIn(tmpdir(), async folder => {
        await installPython(folder, join(LIBRARIES, 'requirements.txt'));
        return runTool('python3', ['-c', snippet('python')], {
          environment: { ...environment(), PYTHONPATH: folder },
        });
      });
      expect(printed).toContain("'status': 'accepted'");
      await waitFor(async () => (await accepted()) === 1);
    },
    TOOL_LIMIT_MS,
  );

  test.runIf(hasDocker)(
    'the snippet for PHP creates a token that fetches the cards',
    async () => {
      await begin();
      await runTool('docker', ['build', '--quiet', '--network', 'host', '--tag', PHP_IMAGE, LIBRARIES]);
      const printed = await runTool(
        'docker',
        [...'run --rm --interactive --network none --env SERVICE_API_KEY_SECRET'.split(' '), PHP_IMAGE],
        { environment: environment(), input: snippet('php') },
      );
      const { access_token: as } = JSON.parse(printed);
      const cards = await api.request('GET', '/v1/cards', { as });
      expect(cards).toMatchObject({ status: 200, body: { data: [{ question_id: question.id }] } });
      const me = await api.request('GET', '/v1/me', { as });
      expect(me.body).toMatchObject({ credential: 'access-token', identity: 'user|42' });
    },
    TOOL_LIMIT_MS,
  );
});

test('each snippet contains the required ids', async () => {
  await begin();
  expect(SNIPPETS.map(({ id }) => id)).toEqual(['curl', 'javascript', 'python', 'php', 'swift']);
  for (const id of ['curl', 'javascript', 'python', 'php']) {
    expect(snippet(id)).toContain(tenant.id);
    expect(snippet(id)).toContain(tenant.key.id);
    expect(snippet(id)).toContain('svc-fpa;v=1');
  }
  for (const id of ['curl', 'javascript', 'python', 'swift']) expect(snippet(id)).toContain(api.baseUrl);
});
