import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SNIPPETS } from '../../dashboard/pages/snippets.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');

let api: TestApi;
let tenant: TestTenant;
let question: { id: string };
beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
  question = await publishQuestion(api, tenant);
});
afterAll(() => api[Symbol.asyncDispose]());

const snippet = (id: string): string => {
  const found = SNIPPETS.find(each => each.id === id);
  if (!found) throw new Error(`There is no snippet for ${id}.`);
  return found.code({ baseUrl: api.baseUrl, tenantId: tenant.id, keyId: tenant.key.id });
};

test('the snippet for curl signs a token and fetches the cards', async () => {
  const script = snippet('curl').replace('your API key secret', tenant.key.secret);
  const { stdout } = await run('bash', ['-c', script]);
  expect(JSON.parse(stdout).data[0].question_id).toBe(question.id);
});

test('the snippet for JavaScript fetches a card and sends an answer that is accepted', async () => {
  const folder = await mkdtemp(join(ROOT, 'node_modules/.snippet-')); // where `jose` is found
  try {
    const file = join(folder, 'snippet.mjs');
    await writeFile(file, snippet('javascript'));
    const env = { ...process.env, SERVICE_API_KEY_SECRET: tenant.key.secret };
    const { stdout } = await run(process.execPath, [file], { env });
    expect(stdout).toContain("status: 'accepted'");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('each snippet has the ids that it needs', () => {
  expect(SNIPPETS.map(({ id }) => id)).toEqual(['curl', 'javascript', 'python', 'php', 'swift']);
  for (const id of ['curl', 'javascript', 'python', 'php']) {
    expect(snippet(id)).toContain(tenant.id);
    expect(snippet(id)).toContain(tenant.key.id);
    expect(snippet(id)).toContain('svc-fpa;v=1');
  }
  for (const id of ['curl', 'javascript', 'python', 'swift']) expect(snippet(id)).toContain(api.baseUrl);
});
