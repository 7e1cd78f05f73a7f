import { request } from 'node:http';
import fc from 'fast-check';
import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { claimToken, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});

const OPTIONS = [
  { id: 'a', label: 'A' },
  { id: 'b', label: 'B' },
];

let tenant: TestTenant;
let questionIds: string[];
let credentials: string[];
/** By index of the credential, then of the question. */
let cardIds: string[][];

beforeAll(async () => {
  tenant = await makeTenant(api);
  const make = (type: string, config: object = {}) =>
    publishQuestion(api, tenant, { type, config, allow_public: true, frequency: { ignore_cooldown: true } });
  const questions = [
    await make('nps'),
    await make('text'),
    await make('thumbs'),
    await make('multi_choice', { options: OPTIONS, allow_other: true }),
    await make('statement'),
  ];
  questionIds = questions.map(({ id }) => id);
  credentials = [tenant.key.apiKey, await tenant.sign('user|42'), await claimToken(api, tenant, 'user|42')];
  cardIds = await Promise.all(credentials.map((credential, index) => (index === 0 ? [] : cardsOf(credential))));
});

/** The ids of a token's cards, by index of their question, once all are listed. */
const cardsOf = (token: string): Promise<string[]> =>
  waitFor(async () => {
    const cards: { id: string; question_id: string }[] = (await api.request('GET', '/v1/cards', { as: token })).body
      .data;
    const ids = questionIds.map(id => cards.find(card => card.question_id === id)?.id ?? '');
    return !ids.includes('') ? ids : undefined;
  }) as Promise<string[]>;

/** Sends a body of any bytes over plain HTTP, because `fetch` corrects malformed text. */
const post = (credential: string, body: string | Buffer): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const sent = request(
      `${api.baseUrl}/v1/answers`,
      {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${credential}`,
          'Content-Type': 'application/json',
          'Content-Length': bytes.length,
        },
      },
      reply => {
        const chunks: Buffer[] = [];
        reply.on('data', chunk => chunks.push(chunk));
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
        reply.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(bytes);
  });

/* JSON is written as text here, because `JSON.stringify` never produces some of it. */

const EVIL_STRINGS = [
  '',
  '__proto__',
  'constructor',
  'toString',
  'main',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff x',
  '\u202e\u2066',
  '\ufeff',
  'e\u0301',
  "'; drop table answers; --",
  '{{identity.attributes.plan}}',
  '<script>alert(1)</script>',
  '=cmd()',
  '%00',
  '\\',
  '\\u0000',
  'NaN',
  '🙂'.repeat(2500),
  'x'.repeat(5000),
  'x'.repeat(5001),
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59-23:59',
  '2026-11-21T07:00:00.123456789Z',
];
const EVIL_NUMBERS = [
  ...['1e400', '-1e400', '-0', '0.1', '1e-400', '5e-324', '1e308', '2147483647', '2147483648', '9007199254740993'],
  ...['99999999999999999999999999', '-1', '0', '1', '2', '10', '11', '1.0', '1e0'],
];

const jsonString = fc.oneof(
  fc.constantFrom(...EVIL_STRINGS),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 }).map(units => String.fromCharCode(...units)),
);
const stringText = jsonString.map(text => JSON.stringify(text));
const numberText = fc.oneof(
  fc.constantFrom(...EVIL_NUMBERS),
  fc.double().map(number => String(number)),
);
const deep = fc
  .tuple(fc.constantFrom('[', '{"a":'), fc.constantFrom(3, 15, 18, 19, 20, 21, 22, 1000, 5000))
  .map(([open, depth]) => `${open.repeat(depth)}1${(open === '[' ? ']' : '}').repeat(depth)}`);
const objectText = (value: fc.Arbitrary<string>) =>
  fc
    .array(fc.tuple(stringText, value), { maxLength: 4 })
    .map(entries => `{${entries.map(([key, text]) => `${key}:${text}`).join(',')}}`);
const { anyText } = fc.letrec<{ anyText: string }>(tie => ({
  anyText: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { arbitrary: fc.constantFrom('null', 'true', 'false'), weight: 2 },
    { arbitrary: numberText, weight: 3 },
    { arbitrary: stringText, weight: 3 },
    { arbitrary: objectText(tie('anyText')), weight: 1 },
    { arbitrary: fc.array(tie('anyText'), { maxLength: 4 }).map(items => `[${items.join(',')}]`), weight: 1 },
  ),
}));

/** A valid value for each question, by index. */
const VALUES = ['9', '"text"', 'true', '{"option_ids":["a","other"],"other_text":"x"}', 'null'];
const FIELDS = [
  ...['id', 'revision', 'identity', 'card_id', 'question_id', 'question_version', 'state', 'values', 'comment'],
  ...['displayed_at', 'answered_at', 'duration_ms', 'metadata', '__proto__', 'tenant_id', 'tags'],
];

/** A valid answer with up to three wrong fields. `addressed` fills in `@who`. */
const nearlyRight = fc
  .record({
    question: fc.nat(4),
    revision: fc.constantFrom('1', '2'),
    state: fc.constantFrom('seen', 'dismissed', 'partial', 'completed'),
    value: fc.oneof(
      { arbitrary: fc.constant(undefined), weight: 4 },
      { arbitrary: fc.constantFrom(...VALUES), weight: 1 },
    ),
    wrong: fc.array(
      fc.tuple(fc.constantFrom(...FIELDS), fc.oneof({ arbitrary: anyText, weight: 9 }, { arbitrary: deep, weight: 1 })),
      { maxLength: 3 },
    ),
    inner: fc.oneof(
      { arbitrary: fc.constant(undefined), weight: 3 },
      { arbitrary: fc.tuple(fc.constantFrom('values', 'metadata'), objectText(anyText)), weight: 1 },
    ),
  })
  .map(({ question, revision, state, value = VALUES[question], wrong, inner }) => {
    const fields: [string, string][] = [
      ['id', JSON.stringify(v7())],
      ['revision', revision],
      [`@who${question}`, '0'],
      ['question_id', JSON.stringify(questionIds[question])],
      ['question_version', '1'],
      ['state', JSON.stringify(state)],
      ['values', state === 'completed' && question !== 4 ? `{"main":${value}}` : '{}'],
      ...(inner ? [inner] : []),
      ...wrong, // a repeated name is legal JSON: the last one counts
    ];
    return `{${fields.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
  });

/** The body as sent with this credential: with an API key it names the user, with a token the card. */
const addressed = (sent: string | Buffer, credential: number): string | Buffer =>
  typeof sent === 'string'
    ? sent.replaceAll(/"@who(\d)":0/g, (_, question) =>
        credential === 0 ? '"identity":"user|42"' : `"card_id":"${cardIds[credential]?.[Number(question)]}"`,
      )
    : sent;

const itemText = fc.oneof({ arbitrary: nearlyRight, weight: 8 }, { arbitrary: anyText, weight: 1 });
const envelope = fc
  .record({
    items: fc.array(itemText, { minLength: 1, maxLength: 5 }),
    clientTime: fc.oneof(
      { arbitrary: fc.constantFrom(null, '"2026-11-21T07:00:00Z"', '"0001-01-01T00:00:00Z"'), weight: 9 },
      { arbitrary: anyText, weight: 1 },
    ),
    extra: fc.oneof(
      { arbitrary: fc.constant(null), weight: 15 },
      { arbitrary: fc.tuple(stringText, anyText), weight: 1 },
    ),
  })
  .map(({ items, clientTime, extra }) => {
    const fields = [
      `"answers":[${items.join(',')}]`,
      ...(clientTime === null ? [] : [`"client_time":${clientTime}`]),
      ...(extra ? [extra.join(':')] : []),
    ];
    return `{${fields.join(',')}}`;
  });

const body: fc.Arbitrary<string | Buffer> = fc.oneof(
  { arbitrary: envelope, weight: 8 },
  { arbitrary: anyText, weight: 1 },
  { arbitrary: deep, weight: 1 },
  { arbitrary: fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)), weight: 1 },
  // a truncated body, or one with a missing byte
  {
    arbitrary: fc.tuple(envelope, fc.nat(), fc.boolean()).map(([text, at, cut]) => {
      const bytes = Buffer.from(text);
      const index = at % bytes.length;
      return cut ? bytes.subarray(0, index) : Buffer.concat([bytes.subarray(0, index), bytes.subarray(index + 1)]);
    }),
    weight: 1,
  },
);

const STATUSES = [202, 400, 413, 415, 422];
const RUNS = 300;
const BODIES_A_RUN = 10;

test('any request gets a verdict and no 5xx, and accepted answers are stored', async () => {
  const accepted = new Set<string>();
  const seen: Record<number, number> = {};
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(2), body), { minLength: BODIES_A_RUN, maxLength: BODIES_A_RUN }),
      async drawn => {
        const requests = drawn.map(([credential, sent]) => [credential, addressed(sent, credential)] as const);
        const replies = await Promise.all(
          requests.map(([credential, sent]) => post(credentials[credential] as string, sent)),
        );
        for (const [index, { status, text }] of replies.entries()) {
          seen[status] = (seen[status] ?? 0) + 1;
          if (!STATUSES.includes(status)) throw new Error(`${status} ${text} for ${requests[index]?.[1]}`);
          if (status !== 202) continue;
          const { results } = JSON.parse(text) as { results: { id: string; status: string }[] };
          expect(results.length).toBe(JSON.parse(String(requests[index]?.[1])).answers.length);
          for (const receipt of results) if (receipt.status === 'accepted') accepted.add(receipt.id.toLowerCase());
        }
      },
    ),
    { numRuns: RUNS, interruptAfterTimeLimit: 45_000, markInterruptAsFailure: true, endOnFailure: true },
  );
  for (const status of [202, 400, 422]) expect(seen[status]).toBeGreaterThan(100);
  expect(accepted.size).toBeGreaterThan(100);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();

  const figures = await waitFor(async () => {
    const { body } = await api.request('GET', '/v1/ingestion', { as: tenant.key.apiKey });
    return body.queued === 0 && body.stored > 0 && body;
  });
  expect(figures).toMatchObject({ quarantined: 0, stored: accepted.size, repeated: 0 });
  const rows = await api.database.query<{ id: string }>('select id from answers');
  expect(new Set(rows.map(({ id }) => id))).toEqual(accepted);
}, 300_000);
