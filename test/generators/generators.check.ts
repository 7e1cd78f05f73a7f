import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, createWorker, type TestApi } from '../support/api.ts';
import { makeTenant, publishQuestion } from '../support/make.ts';
import { GENERATORS, isChosen } from './generators.ts';
import { serveTomorrow } from './tomorrow.ts';
import { BUILT, prepareToolchains } from './toolchains.ts';

const toolchains = await prepareToolchains();

type Cell = 'yes' | 'no' | 'SKIPPED' | '–';
const table = new Map<string, Record<'generates' | 'compiles' | 'flow', Cell>>(
  GENERATORS.map(({ name }) => [name, { generates: 'SKIPPED', compiles: 'SKIPPED', flow: 'SKIPPED' }]),
);

/** A question without the default in any member that a patch could erase. */
const WITH_EVERY_MEMBER = {
  name: 'Loyalty',
  description: 'On a scale from 0 to 10',
  config: { labels: { low: 'Not likely', high: 'Very likely' } },
  follow_ups: [{ key: 'reason', type: 'text', title: 'Why?', show_if: { step: 'main', op: 'lte', value: 6 } }],
  translations: {
    de: {
      title: 'Wie wahrscheinlich?',
      description: 'Von 0 bis 10',
      config: { labels: { low: 'Unwahrscheinlich', high: 'Wahrscheinlich' } },
      follow_ups: { reason: { title: 'Warum?' } },
      thanks: { title: 'Danke!' },
    },
  },
  audience: { none: [{ platform: { op: 'in', value: ['ios'] } }] },
  schedule: { end_at: new Date(Date.now() + 86_400_000).toISOString() },
  frequency: { repeat: 'always', max_displays: 50, snooze_after_dismiss_days: 3, ignore_cooldown: true },
  response_limit: { count: 1000, per: 'month' },
  allow_public: true,
  thanks: { title: 'Thank you!' },
  placement: 'modal',
};

/** Runs a step and enters its result into the table. */
async function record<T>(name: string, step: 'generates' | 'compiles' | 'flow', run: () => Promise<T>): Promise<T> {
  const row = table.get(name) as Record<string, Cell>;
  row[step] = 'no';
  const result = await run();
  row[step] = 'yes';
  return result;
}

describe.each(GENERATORS)('$name', ({ name, language, needs, generate, compile, flow }) => {
  const isHere = isChosen(language) && needs.every(toolchain => toolchains[toolchain]);
  let api: TestApi;
  let limited: TestApi;
  let worker: Awaited<ReturnType<typeof createWorker>>;
  let tomorrow: Awaited<ReturnType<typeof serveTomorrow>>;

  beforeAll(async () => {
    if (!isHere || !flow) return;
    api = await createApi();
    worker = await createWorker(api);
    limited = await createApi({ sharing: api, settings: { RATE_LIMITS: 'on', RATE_API_KEY: '2' } });
    tomorrow = await serveTomorrow();
  });
  afterAll(async () => {
    for (const opened of [worker, limited, api, tomorrow]) await opened?.[Symbol.asyncDispose]();
  });

  test.runIf(isHere)('generates code', async () => {
    const { stdout, stderr } = await record(name, 'generates', generate);
    expect(`${stdout}${stderr}`).not.toMatch(/Exception in thread|FATAL/);
  });

  test.runIf(isHere)('generates code that compiles', async () => {
    await record(name, 'compiles', compile);
  });

  test.runIf(isHere && flow)('runs the main flow, and reads the replies of a later version', async () => {
    const tenant = await makeTenant(api);
    const before = await publishQuestion(api, tenant, WITH_EVERY_MEMBER);
    const ran = await record(name, 'flow', async () =>
      flow?.({
        PARLEY_URL: api.baseUrl,
        PARLEY_KEY: tenant.key.apiKey,
        PARLEY_TOKEN: await tenant.sign('user|42'),
        PARLEY_LIMITED_URL: limited.baseUrl,
        PARLEY_TOMORROW_URL: tomorrow.url,
        PARLEY_QUESTION: before.id as string,
      }),
    );
    const { changes, ...seen } = JSON.parse(stripVTControlCharacters(ran?.stdout ?? ''));
    expect(seen).toEqual({
      created: 'draft',
      published: 'live',
      receipts: ['accepted'],
      answer: 'completed',
      completed: 1,
      conversations: 1,
      stale: 412,
      retry: true,
      tomorrow: ['ranking', 'snoozed', 'quota-exhausted'],
    });
    const condition = 6;
    expect(changes).toEqual({ me: 'user|42', condition, priority: 5, message: 'reply', conversation: 'resolved' });
    const { body: after } = await api.request('GET', `/v1/questions/${before.id}`, { as: tenant.key.apiKey });
    expect(after).toEqual({ ...before, priority: 5, updated_at: expect.any(String) });
    if (language !== 'go') return;
    const { body } = await api.request('GET', '/v1/answers', { as: tenant.key.apiKey });
    expect(body.data[0].metadata).toMatchObject({ account: 123456789 }); // 123456790 from a client with 32-bit numbers
  });
});

afterAll(async () => {
  for (const { name, flow } of GENERATORS) if (!flow) Object.assign(table.get(name) ?? {}, { flow: '–' });
  const lines = [...table].map(
    ([name, { generates, compiles, flow }]) => `| ${name} | ${generates} | ${compiles} | ${flow} |`,
  );
  const head = ['| Generator | Generates | Compiles | Runs the flow |', '|---|---|---|---|'];
  await writeFile(join(BUILT, 'table.md'), [...head, ...lines, ''].join('\n'));
});
