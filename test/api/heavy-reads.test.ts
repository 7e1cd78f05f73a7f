import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unusedFilters } from '../../src/api/http/heavy-reads.ts';
import type { Operation } from '../../src/api/operation.ts';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { toTsvector } from '../../src/storage/search/lexemes.ts';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { anAnswer, aQuestion, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';

const operationOf = (id: string): Operation => {
  const found = OPERATIONS.find(operation => operation.id === id);
  if (!found) throw new Error(`There is no operation ${id}.`);
  return found;
};

describe('a heavy read', () => {
  test('is every list and the results', () => {
    const takesCursor = ({ query }: Operation) => 'cursor' in ((query as { shape?: object } | undefined)?.shape ?? {});
    const lists = OPERATIONS.filter(takesCursor);
    expect(lists.length).toBeGreaterThan(8);
    expect(lists.filter(({ heavy }) => !heavy).map(({ id }) => id)).toEqual([]);
    expect(OPERATIONS.filter(({ heavy }) => heavy).map(({ id }) => id)).toEqual(
      expect.arrayContaining(['listAnswers', 'listConversations', 'listMessages', 'readResults']),
    );
  });

  test('is not intake, cards or any other request', () => {
    for (const id of ['recordAnswers', 'listCards', 'readAnswer', 'createConversation'])
      expect([id, operationOf(id).heavy]).toEqual([id, false]);
  });

  test('lists the filters that a request did not use', () => {
    const operation = operationOf('listAnswers');
    expect(unusedFilters(operation, { q: 'slow', limit: 10 })).toEqual(
      expect.arrayContaining(['question_id', 'state', 'updated_since']),
    );
    expect(unusedFilters(operation, { q: 'slow', state: 'completed' })).not.toContain('state');
    for (const name of ['q', 'limit', 'cursor']) expect(unusedFilters(operation, {})).not.toContain(name);
  });
});

describe('next to a tenant that searches continuously', () => {
  let api: TestApi;
  let noisy: TestTenant;
  let quiet: TestTenant;
  let quietQuestion: string;

  /** Makes every search of the noisy tenant run until its timeout: the filter `written` calls `written_text`. */
  const slowDown = async () => {
    await api.database.query('alter function written_text(text, jsonb) rename to written_text_at_once');
    await api.database.query(
      `create function written_text(comment text, answered jsonb) returns text language plpgsql as $$
       begin
         if comment = 'noisy' then perform pg_sleep(10); end if;
         return written_text_at_once(comment, answered);
       end $$;
       grant execute on function written_text(text, jsonb) to parley_app`,
    );
  };
  const search = () => api.request('GET', '/v1/answers?q=noisy&written=true', { as: noisy.key.apiKey });
  const countRunning = async () =>
    (
      await api.database.query(
        "select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep' and state = 'active'",
      )
    ).length;

  beforeAll(async () => {
    api = await createApi({ settings: { DATABASE_POOL: '10' } });
    noisy = await makeTenant(api, 'Noisy');
    quiet = await makeTenant(api, 'Quiet');
    quietQuestion = (await publishQuestion(api, quiet)).id;
    await api.database.query(
      `insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision,
         state, "values", comment, metadata, content_hash, received_at, stored_at, updated_at, tags)
       select $1, gen_random_uuid(), 'ada', true, gen_random_uuid(), gen_random_uuid(), 1, 1, 'completed', '{}', 'noisy',
         '{}', '', now(), now(), now(), '{}' from generate_series(1, 10)`,
      [noisy.uuid],
    );
    await api.database.query(
      'insert into answer_words select tenant_id, received_at, id, $2::tsvector from answers where tenant_id = $1',
      [noisy.uuid, toTsvector(noisy.uuid, 'noisy')],
    );
    await slowDown();
  });
  afterAll(() => api[Symbol.asyncDispose]());

  test('lists, results, writes and intake of another tenant are served, and excess searches are rejected', async () => {
    const searches = Array.from({ length: 100 }, search);
    await waitFor(async () => (await countRunning()) > 0);
    const as = quiet.key.apiKey;
    for (let round = 0; round < 10; round++) {
      const replies = await Promise.all([
        api.request('GET', '/v1/answers', { as }),
        api.request('GET', '/v1/answers?q=word', { as }),
        api.request('GET', `/v1/questions/${quietQuestion}/results`, { as }),
        api.request('POST', '/v1/questions', { as, body: aQuestion() }),
        api.request('POST', '/v1/answers', {
          as,
          body: { answers: [anAnswer({ question_id: quietQuestion, identity: 'ada' })] },
        }),
      ]);
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 201, 202]);
      expect(await countRunning()).toBeLessThanOrEqual(2);
    }
    const outcomes = await Promise.all(searches);
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([503]));
    const codes = Map.groupBy(outcomes, ({ body }) => body.code);
    expect([...codes.keys()].toSorted()).toEqual(['query-too-expensive', 'service-overloaded']);
    const stopped = codes.get('query-too-expensive')?.[0];
    expect(stopped?.body.narrow).toContain('question_id');
    expect(stopped?.headers.get('retry-after')).toBe('30');
    const overloaded = codes.get('service-overloaded') ?? [];
    expect(overloaded.length).toBeGreaterThanOrEqual(30); // 2 run, 64 wait for up to a second, the others do not
    for (const { headers } of overloaded) expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  });

  test('cancelled searches are counted, but not as database errors', async () => {
    const { values } = await api.metrics.queriesTooExpensive.get();
    expect(values).toEqual([{ labels: { route: '/v1/answers' }, value: expect.any(Number) }]);
    expect((await api.metrics.dbErrors.get()).values).toEqual([]);
  });
});
