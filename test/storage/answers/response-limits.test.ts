import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import type { AcceptedAnswer } from '../../../src/domain/answers/answers.ts';
import { periodOf } from '../../../src/domain/answers/periods.ts';
import { deleteAnswer, listAnswers } from '../../../src/storage/answers/answers.ts';
import { recordAnswers } from '../../../src/storage/answers/recording.ts';
import { rebuildResults } from '../../../src/storage/answers/results.ts';
import { updateQuestion } from '../../../src/storage/questions/questions.ts';
import { createDatabase } from '../../support/database.ts';
import { anAcceptedAnswer, storeQuestions } from '../../support/make.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const worker = database.storage('parley_worker');
const other = database.storage('parley_worker');
const app = database.storage();

const record = (answers: AcceptedAnswer[], storage = worker) => recordAnswers(storage, [{ flush: v7(), answers }]);

interface Limit {
  count: number;
  per: 'total' | 'day' | 'week' | 'month';
}

/** A tenant with a live question. */
async function makeQuestion(limit: Limit | null, timezone = 'UTC') {
  const { tenant_id, questions } = await storeQuestions(database, app, 1);
  const question_id = questions[0] as string;
  const tenant = app.forTenant(tenant_id);
  const setLimit = (to: Limit | null) =>
    database.query(`update questions set response_limit = $2, status = 'live' where id = $1`, [
      question_id,
      to && JSON.stringify(to),
    ]);
  await database.query('update tenants set timezone = $2 where id = $1', [tenant_id, timezone]);
  await setLimit(limit);
  let people = 0;
  const rows = async () => (await listAnswers(tenant, {}, 10_000, null)).rows;
  return {
    tenant_id,
    question_id,
    setLimit,
    /** As the team changes it. */
    changeLimit: (to: Limit | null) =>
      updateQuestion(tenant, question_id, new Date(), question => {
        question.response_limit = to;
      }),
    rows,
    /** A completed answer of another person each. */
    answer: (fields: Partial<AcceptedAnswer> = {}) =>
      anAcceptedAnswer({ tenant_id, question_id, identity: `user|${++people}`, once_per_card: true, ...fields }),
    remove: (id: string) => deleteAnswer(tenant, id, () => undefined),
    /** The answers, and those that are counted, beyond the limit, and in the results. */
    async sums() {
      const all = (await rows()).filter(({ state }) => state === 'completed');
      const [row] = await database.query<{
        completed: number;
        displays: number;
        status: string;
        full_until: Date | null;
      }>(
        `select status, full_until, coalesce(sum(completed), 0)::int as completed,
           coalesce(sum(seen + dismissed + partial + completed), 0)::int as displays
         from questions left join question_results r on r.tenant_id = questions.tenant_id and r.question_id = questions.id
         where questions.id = $1 group by 1, 2`,
        [question_id],
      );
      return {
        stored: all.length,
        counted: all.filter(({ counted }) => counted).length,
        over: all.filter(({ over_quota }) => over_quota).length,
        ...row,
        full_until: row?.full_until?.toISOString() ?? null,
      };
    },
    /** The number of wrong rows in the results. */
    rebuild: async () => (await rebuildResults(app, tenant_id)).corrected,
  };
}

type Question = Awaited<ReturnType<typeof makeQuestion>>;
const many = (question: Question, number: number, fields: Partial<AcceptedAnswer> = {}) =>
  Array.from({ length: number }, () => question.answer(fields));

const FULL = { status: 'closed', full_until: null };
const OPEN = { status: 'live', full_until: null };

test.each(['total', 'day'] as const)(
  'a limit per %s counts the answers since an earlier one was removed',
  async per => {
    const question = await makeQuestion({ count: 10, per });
    await record(many(question, 3));
    await question.changeLimit(null);
    await record(many(question, 4));
    await question.changeLimit({ count: 9, per });
    await record(many(question, 5));
    expect(await question.sums()).toMatchObject({ counted: 9, over: 3, completed: 9 });
  },
);

describe('a total', () => {
  test('is exact when a thousand completions are stored at once by two workers', async () => {
    const question = await makeQuestion({ count: 100, per: 'total' });
    const answers = many(question, 1000);
    const store = async (lane: number) => {
      for (let first = lane * 20; first < 1000; first += 6 * 20)
        await record(answers.slice(first, first + 20), lane % 2 ? worker : other);
    };
    await Promise.all(Array.from({ length: 6 }, (_, lane) => store(lane)));
    const sums = { stored: 1000, counted: 100, over: 900, completed: 100, displays: 1000 };
    expect(await question.sums()).toEqual({ ...sums, ...FULL });
    expect(await question.rebuild()).toBe(0);
    expect(await question.sums()).toEqual({ ...sums, ...FULL });
  });

  test('closes the question once, with the answer that takes the last place', async () => {
    const question = await makeQuestion({ count: 2, per: 'total' });
    await record([question.answer()]);
    expect(await question.sums()).toMatchObject({ counted: 1, ...OPEN });
    await record([question.answer()]);
    expect(await question.sums()).toMatchObject({ counted: 2, over: 0, ...FULL });
    const closedAt = () =>
      database.query('select closed_at, updated_at from questions where id = $1', [question.question_id]);
    const [first] = await closedAt();
    await record(many(question, 3));
    expect(await question.sums()).toMatchObject({ counted: 2, over: 3, ...FULL });
    expect(await closedAt()).toEqual([first]);
  });

  test('counts the answers from before the limit was set', async () => {
    const question = await makeQuestion(null);
    await record(many(question, 5));
    expect(await question.sums()).toMatchObject({ counted: 5, over: 0, ...OPEN });
    await question.setLimit({ count: 7, per: 'total' });
    await record(many(question, 5));
    expect(await question.sums()).toMatchObject({ counted: 7, over: 3, completed: 7, ...FULL });
  });

  test('is not freed by a deletion, also if the answer beyond the limit is deleted', async () => {
    const question = await makeQuestion({ count: 2, per: 'total' });
    const answers = many(question, 3);
    for (const answer of answers) await record([answer]);
    const [first, , third] = answers as [AcceptedAnswer, AcceptedAnswer, AcceptedAnswer];
    await question.remove(first.id);
    await record([question.answer()]);
    expect(await question.sums()).toMatchObject({ stored: 3, counted: 1, over: 2, completed: 1, displays: 3 });
    await record([question.answer({ identity: third.identity })]); // not counted: `third` has the card
    await question.remove(third.id);
    expect(await question.sums()).toMatchObject({ counted: 1, over: 1, completed: 1, displays: 3 });
    expect(await question.rebuild()).toBe(0);
  });

  test('is taken by completed answers that are counted only', async () => {
    const question = await makeQuestion({ count: 2, per: 'total' });
    const whose = { identity: 'user|same' };
    const [first, second] = [question.answer(whose), question.answer(whose)];
    await record([question.answer({ state: 'seen', values: {} }), question.answer({ state: 'partial' })]);
    await record([{ ...first, state: 'partial', revision: 1 }]);
    await record([{ ...first, revision: 2, content_hash: 'completed' }, second]);
    await record([second]);
    expect(await question.sums()).toMatchObject({ stored: 2, counted: 1, over: 0, completed: 1, ...OPEN });
    await record([question.answer()]);
    expect(await question.sums()).toMatchObject({ counted: 2, over: 0, ...FULL });
    const late = question.answer();
    await record([{ ...late, state: 'partial', revision: 1 }]);
    await record([{ ...late, revision: 2, content_hash: 'completed' }]);
    expect(await question.sums()).toMatchObject({ counted: 2, over: 1, completed: 2 });
    expect(await question.rebuild()).toBe(0);
  });

  test('of a question whose answers are all counted', async () => {
    const question = await makeQuestion({ count: 3, per: 'total' });
    await record(many(question, 5, { once_per_card: false, identity: 'user|same' }));
    expect(await question.sums()).toMatchObject({ stored: 5, counted: 3, over: 2, completed: 3, displays: 5, ...FULL });
    expect(await question.rebuild()).toBe(0);
  });

  test('is changed by a new limit, and does not reopen', async () => {
    const question = await makeQuestion({ count: 5, per: 'total' });
    await record(many(question, 3));
    await question.setLimit({ count: 2, per: 'total' });
    await record([question.answer()]);
    expect(await question.sums()).toMatchObject({ counted: 3, over: 1, ...FULL });
    await question.setLimit({ count: 10, per: 'total' });
    await record(many(question, 2));
    expect(await question.sums()).toMatchObject({ counted: 5, over: 1, ...OPEN });
  });

  test('of two questions in one batch, in any order', async () => {
    const [one, two] = [
      await makeQuestion({ count: 10, per: 'total' }),
      await makeQuestion({ count: 20, per: 'total' }),
    ];
    const answers = [...many(one, 30), ...many(two, 30)];
    await Promise.all(
      [answers.slice(0, 40), answers.slice(40)].flatMap(part => [record(part), record(part.toReversed(), other)]),
    );
    expect(await one.sums()).toMatchObject({ stored: 30, counted: 10, ...FULL });
    expect(await two.sums()).toMatchObject({ stored: 30, counted: 20, ...FULL });
  });

  test('delivered twice takes no further place', async () => {
    const question = await makeQuestion({ count: 10, per: 'total' });
    const flush = { flush: v7(), answers: many(question, 6) };
    await Promise.all([recordAnswers(worker, [flush]), recordAnswers(other, [structuredClone(flush)])]);
    await record(flush.answers);
    expect(await question.sums()).toMatchObject({ stored: 6, counted: 6, over: 0, ...OPEN });
  });
});

describe('a period', () => {
  const at = (received_at: string) => ({ received_at });

  test('begins and ends by the clock of the tenant, also on the days when it is changed', async () => {
    // Lord Howe moves its clock by half an hour: on 5 April 2026 from 2:00 (+11) to 1:30 (+10:30).
    const question = await makeQuestion({ count: 2, per: 'day' }, 'Australia/Lord_Howe');
    await record(many(question, 3, at('2026-04-04T12:59:59.000Z'))); // 23:59:59 on the 4th
    expect(await question.sums()).toMatchObject({
      counted: 2,
      over: 1,
      status: 'live',
      full_until: '2026-04-04T13:00:00.000Z',
    });
    await record(many(question, 3, at('2026-04-04T13:00:00.000Z'))); // 0:00 on the 5th
    expect(await question.sums()).toMatchObject({
      counted: 4,
      over: 2,
      status: 'live',
      full_until: '2026-04-05T13:30:00.000Z',
    });
    await record(many(question, 1, at('2026-04-05T13:29:59.000Z')));
    expect(await question.sums()).toMatchObject({ counted: 4, over: 3 });
    await record(many(question, 1, at('2026-04-05T13:30:00.000Z')));
    expect(await question.sums()).toMatchObject({ counted: 5, over: 3, completed: 5, displays: 8 });
    expect(await question.rebuild()).toBe(0);
  });

  test.each([
    ['CET', '2026-06-30T22:00:00.000Z', '2026-07-01T22:00:00.000Z'], // PostgreSQL alone reads it as +1 in summer, too
    ['SST', '2026-06-30T13:00:00.000Z', '2026-07-01T13:00:00.000Z'],
    ['+05:00', '2026-06-30T19:00:00.000Z', '2026-07-01T19:00:00.000Z'],
    ['-03:30', '2026-07-01T03:30:00.000Z', '2026-07-02T03:30:00.000Z'],
  ])('begins and ends by the clock of %s, which PostgreSQL reads in another way', async (zone, begins, ends) => {
    const question = await makeQuestion(null, zone);
    const justBefore = (time: string) => at(new Date(Date.parse(time) - 1).toISOString());
    await record([question.answer(justBefore(begins)), question.answer(at(begins)), question.answer(justBefore(ends))]);
    await question.setLimit({ count: 3, per: 'day' });
    await record([question.answer(at(begins))]);
    expect(await question.sums()).toMatchObject({ counted: 4, over: 0, full_until: ends });
    await record([question.answer(justBefore(ends)), question.answer(at(ends))]);
    expect(await question.sums()).toMatchObject({ counted: 5, over: 1, full_until: ends });
  });

  test('of an answer that is stored late is that of its receipt', async () => {
    const question = await makeQuestion({ count: 1, per: 'week' });
    await record([question.answer(at('2026-11-25T10:00:00.000Z'))]);
    await record([question.answer(at('2026-11-22T10:00:00.000Z')), question.answer(at('2026-11-29T23:59:59.000Z'))]);
    expect(await question.sums()).toMatchObject({ counted: 2, over: 1, full_until: '2026-11-30T00:00:00.000Z' });
  });

  test('counts the answers from before the limit was set, and another period those of its own', async () => {
    const question = await makeQuestion(null);
    await record(many(question, 3, at('2026-11-02T10:00:00.000Z')));
    await record(many(question, 2, at('2026-11-25T10:00:00.000Z')));
    await question.setLimit({ count: 3, per: 'day' });
    await record(many(question, 2, at('2026-11-25T11:00:00.000Z')));
    expect(await question.sums()).toMatchObject({ counted: 6, over: 1, full_until: '2026-11-26T00:00:00.000Z' });
    await question.setLimit({ count: 7, per: 'month' });
    expect(await question.sums()).toMatchObject({ full_until: null });
    await record(many(question, 2, at('2026-11-25T12:00:00.000Z')));
    expect(await question.sums()).toMatchObject({ counted: 7, over: 2, full_until: '2026-12-01T00:00:00.000Z' });
  });

  test.each([
    ['day', '2026-03-29T00:30:00.000Z', 'Europe/Vienna', '2026-03-29'],
    ['day', '2026-03-28T23:00:00.000Z', 'Europe/Vienna', '2026-03-29'],
    ['day', '2026-03-28T22:59:59.999Z', 'Europe/Vienna', '2026-03-28'],
    ['week', '2026-03-29T21:59:59.999Z', 'Europe/Vienna', '2026-03-23'],
    ['week', '2026-03-29T22:00:00.000Z', 'Europe/Vienna', '2026-03-30'],
    ['week', '2026-01-01T12:00:00.000Z', 'UTC', '2025-12-29'],
    ['month', '2026-12-31T10:00:00.000Z', 'Pacific/Kiritimati', '2027-01-01'],
    ['total', '2026-12-31T10:00:00.000Z', 'UTC', 'total'],
  ] as const)('the %s of %s in %s begins on %s', (per, time, timezone, start) => {
    expect(periodOf(per, new Date(time), timezone)).toBe(start);
  });
});

test('a batch without a limited question sends no further statement', async () => {
  const [limited, plain] = [await makeQuestion({ count: 10, per: 'total' }), await makeQuestion(null)];
  const statements = async (question: Question) => {
    const texts: string[] = [];
    const spied = Object.assign(Object.create(worker), {
      transaction: (work: (tx: object) => Promise<unknown>) =>
        worker.transaction(tx =>
          work({
            ...tx,
            query: (text: string, params?: unknown[]) => {
              texts.push(text);
              return tx.query(text, params);
            },
          }),
        ),
    }) as typeof worker;
    await record([question.answer()], spied);
    return texts.filter(text => /response_quotas|note_full_limit/.test(text)).length;
  };
  expect(await statements(plain)).toBe(0);
  expect(await statements(limited)).toBeGreaterThan(0);
});
