import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { hasTool, installPython, runTool, TOOL_LIMIT_MS } from '../support/tools.ts';

const PROGRAMS = join(import.meta.dirname, 'foreign-tokens');

/** Signs a token for an identity with the three values that a tenant's backend has. */
type Sign = (identity: string, values: Record<string, string>) => Promise<string>;

/** A JWT library of another language: the required tool, and a function that prepares the signing program. */
interface Language {
  name: string;
  tool: [command: string, ...args: string[]];
  prepare(folder: string): Promise<Sign>;
}

const LANGUAGES: Language[] = [
  {
    name: 'PyJWT',
    tool: ['python3', '-m', 'pip', '--version'],
    async prepare(folder) {
      const program = join(PROGRAMS, 'python');
      await installPython(folder, `${program}/requirements.txt`);
      return (identity, values) =>
        runTool('python3', [join(program, 'sign.py'), identity], { environment: { ...values, PYTHONPATH: folder } });
    },
  },
  {
    name: 'golang-jwt',
    tool: ['go', 'version'],
    async prepare(folder) {
      const program = join(folder, 'sign');
      await runTool('go', ['build', '-buildvcs=false', '-o', program, '.'], { cwd: join(PROGRAMS, 'go') });
      return (identity, values) => runTool(program, [identity], { environment: values });
    },
  },
  {
    name: 'lcobucci/jwt (PHP)',
    tool: ['docker', 'version'],
    async prepare() {
      const image = 'parley-test-php-jwt';
      await runTool('docker', ['build', '--quiet', '--network', 'host', '--tag', image, join(PROGRAMS, 'php')]);
      const names = ['SERVICE_API_KEY_ID', 'SERVICE_API_KEY_SECRET', 'SERVICE_TENANT_ID'];
      const container = ['run', '--rm', '--network', 'none', ...names.flatMap(name => ['--env', name]), image];
      return (identity, values) => runTool('docker', [...container, identity], { environment: values });
    },
  },
];

const found = await Promise.all(
  LANGUAGES.map(({ name, tool }) => hasTool(tool, `the test that ${name}'s tokens are taken`)),
);

let api: TestApi;
let tenant: TestTenant;
let questionId: string;
beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
  questionId = (await publishQuestion(api, tenant)).id;
});
afterAll(() => api?.[Symbol.asyncDispose]());

async function readsCard(token: string): Promise<void> {
  const cards = await waitFor(async () => {
    const { status, body } = await api.request('GET', '/v1/cards', { as: token });
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data.length > 0 && body.data;
  });
  expect(cards[0]).toMatchObject({ question_id: questionId });
}

test('a token signed by jose reads a card', async () => {
  await readsCard(await tenant.sign('user|jose'));
});

for (const [index, { name, prepare }] of LANGUAGES.entries()) {
  if (!found[index]) continue;
  test.concurrent(
    `a token signed by ${name} reads a card as the identity it names`,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'parley-foreign-'));
      try {
        const sign = await prepare(folder);
        const values = {
          SERVICE_API_KEY_ID: tenant.key.id,
          SERVICE_API_KEY_SECRET: tenant.key.secret,
          SERVICE_TENANT_ID: tenant.id,
        };
        const token = await sign('user|Zoë 42', values);
        await readsCard(token);
        const begun = await api.request('POST', '/v1/conversations', { as: token, body: { message: 'Hello' } });
        const seen = await api.request('GET', `/v1/conversations/${begun.body.id}`, { as: tenant.key.apiKey });
        expect(seen.body.identity).toBe('user|Zoë 42');

        const forged = await sign('user|Zoë 42', { ...values, SERVICE_API_KEY_SECRET: 'x'.repeat(43) });
        const refused = await api.request('GET', '/v1/cards', { as: forged });
        expect([refused.status, refused.body.code]).toEqual([401, 'bad-signature']);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    TOOL_LIMIT_MS,
  );
}
