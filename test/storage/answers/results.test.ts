import fc from 'fast-check';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AcceptedAnswer, AnswerState } from '../../../src/domain/answers/answers.ts';
import { type Counts, count, noCounts } from '../../../src/domain/answers/counts.ts';
import { deleteAnswer } from '../../../src/storage/answers/answers.ts';
import { recordAnswers } from '../../../src/storage/answers/recording.ts';
import { listDayCounts, listTenantIds, rebuildResults, summarizeCounts } from '../../../src/storage/answers/results.ts';
import type { Storage } from '../../../src/storage/database/orm.ts';
import { createDatabase } from '../../support/database.ts';
import { anAcceptedAnswer, storeQuestions } from '../../support/make.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const worker = database.storage('parley_worker');
const app = database.storage();

/** Pairs that race at a time: as many as each role has connections. */
const RACING = 5;

const record = (...answers: AcceptedAnswer[]) => recordAnswers(worker, [{ flush: v7(), answers }]);
const remove = (answer: AcceptedAnswer) => deleteAnswer(app.forTenant(answer.tenant_id), answer.id, () => undefined);

const makeQuestions = (number: number) => storeQuestions(database, app, number);

/** Counts by question, version and so on, without zero rows. */
type Table = Record<string, Counts>;

interface ResultRow extends Omit<Counts, 'choices'> {
  question_id: string;
  day: string;
  question_version: number;
  identity_verified: boolean;
  choices: Record<string, number>;
}

const isSomething = ({ scores, choices, ...counters }: Counts): boolean =>
  [...Object.values(counters), ...scores, ...choices.values()].some(number => number !== 0);

const withoutZeros = (counts: Counts): Counts => ({
  ...counts,
  choices: new Map([...counts.choices].filter(([, number]) => number !== 0).sort()),
});

const keyOf = (row: Pick<ResultRow, 'question_id' | 'day' | 'question_version' | 'identity_verified'>): string =>
  `${row.question_id} ${row.day} v${row.question_version} ${row.identity_verified}`;

const toTable = (rows: [string, Counts][]): Table =>
  Object.fromEntries(
    rows
      .filter(([, counts]) => isSomething(counts))
      .map(([key, counts]): [string, Counts] => [key, withoutZeros(counts)]),
  );

/** The content of the table of results. */
async function kept(tenantId: string): Promise<Table> {
  const rows = await database.query<ResultRow>(
    `select question_id, day::text as day, question_version, identity_verified, seen, dismissed, partial, completed,
       written, scores, choices from question_results where tenant_id = $1`,
    [tenantId],
  );
  return toTable(
    rows.map(row => {
      const { question_id: _, day: __, question_version: ___, identity_verified: ____, choices, ...counts } = row;
      return [keyOf(row), { ...counts, choices: new Map(Object.entries(choices)) }];
    }),
  );
}

type StoredAnswer = Pick<
  AcceptedAnswer,
  'question_id' | 'question_version' | 'identity_verified' | 'state' | 'values' | 'comment'
> & { received_at: Date };

/** A full count of the stored answers, computed here one by one. */
async function counted(tenantId: string): Promise<Table> {
  const answers = await database.query<StoredAnswer>('select * from answers where tenant_id = $1', [tenantId]);
  const sums = new Map<string, Counts>();
  for (const { received_at, values, comment, ...answer } of answers) {
    const day = received_at.toISOString().slice(0, 10);
    const key = keyOf({ ...answer, day });
    const sum = sums.get(key) ?? noCounts();
    const main = values.main as { other_text?: string } | string | undefined;
    const words = [comment, typeof main === 'string' ? main : main?.other_text];
    count(sum, { ...answer, day, value: main, written: words.some(Boolean) }, 1);
    sums.set(key, sum);
  }
  return toTable([...sums]);
}

const rebuild = async (tenantId: string) => (await rebuildResults(app, tenantId)).questions;

describe('the results', () => {
  test('count an answer on the UTC day of its first receipt, however late its last revision is', async () => {
    const { tenant_id } = await makeQuestions(0);
    const first = anAcceptedAnswer({ tenant_id, state: 'seen', values: {}, received_at: '2026-11-20T23:59:59.999Z' });
    await record(first);
    await record({
      ...first,
      revision: 2,
      state: 'completed',
      values: { main: 7 },
      received_at: '2026-11-21T00:00:00.000Z',
    });
    const rows = await listDayCounts(app.forTenant(tenant_id), first.question_id, {});
    expect(rows).toEqual([
      {
        ...noCounts(),
        day: '2026-11-20',
        question_version: 1,
        completed: 1,
        scores: [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
      },
    ]);
  });

  test('move an answer to the version of its last revision', async () => {
    const { tenant_id } = await makeQuestions(0);
    const first = anAcceptedAnswer({ tenant_id, state: 'partial', comment: 'hm' });
    await record(first);
    await record({ ...first, revision: 2, state: 'completed', question_version: 2, comment: null });
    const [none, one] = (await listDayCounts(app.forTenant(tenant_id), first.question_id, {})).sort(
      (a, b) => a.question_version - b.question_version,
    );
    expect(none).toMatchObject({ ...noCounts(), question_version: 1 });
    expect(one).toMatchObject({ question_version: 2, completed: 1, partial: 0, written: 0 });
  });

  test('count no repeat, no conflict, no answer in the quarantine, and no canary', async () => {
    const { tenant_id } = await makeQuestions(0);
    const answer = anAcceptedAnswer({ tenant_id });
    const bad = anAcceptedAnswer({ tenant_id });
    await record(answer, answer);
    await record(answer, { ...answer, identity: 'user|43', revision: 2 });
    await recordAnswers(worker, [{ flush: v7(), answers: [bad] }], new Map([[bad, 'refused']]));
    await record(anAcceptedAnswer({ tenant_id: '00000000-0000-8000-8000-000000000001' }));
    const rows = await listDayCounts(app.forTenant(tenant_id), answer.question_id, {});
    expect(rows).toMatchObject([{ completed: 1 }]);
    expect(await database.query("select from question_results where tenant_id::text like '00000000%'")).toEqual([]);
  });

  test('no longer count a deleted answer, nor later ones with its id', async () => {
    const { tenant_id } = await makeQuestions(0);
    const answer = anAcceptedAnswer({ tenant_id, state: 'partial', values: { main: { option_ids: ['a', 'b'] } } });
    await record(answer, anAcceptedAnswer({ tenant_id }));
    await remove(answer);
    await record({ ...answer, revision: 2 });
    expect(await kept(tenant_id)).toEqual(await counted(tenant_id));
    expect(Object.values(await kept(tenant_id))).toMatchObject([{ partial: 0, completed: 1, choices: new Map() }]);
  });

  test('are correct when revisions race with deletions', async () => {
    const { tenant_id } = await makeQuestions(0);
    const answers = Array.from({ length: 20 }, () => anAcceptedAnswer({ tenant_id, state: 'partial' }));
    await record(...answers);
    for (let first = 0; first < answers.length; first += RACING) {
      const racing = answers.slice(first, first + RACING);
      await Promise.all(racing.flatMap(answer => [record({ ...answer, revision: 2 }), remove(answer)]));
    }
    expect(await kept(tenant_id)).toEqual({});
    expect(await counted(tenant_id)).toEqual({});
  });

  test('are counted concurrently, in any order, without a deadlock', async () => {
    const { tenant_id } = await makeQuestions(0);
    const questions = Array.from({ length: 20 }, () => v7());
    const batches = Array.from({ length: 12 }, (_, batch) =>
      questions.map(question_id => anAcceptedAnswer({ tenant_id, question_id, values: { main: batch % 11 } })),
    );
    await Promise.all(batches.map((answers, batch) => record(...(batch % 2 ? answers.toReversed() : answers))));
    expect(Object.keys(await kept(tenant_id))).toHaveLength(20);
    expect(await kept(tenant_id)).toEqual(await counted(tenant_id));
  });

  test('are summed for several questions in one statement, the last seven days separately', async () => {
    const { tenant_id } = await makeQuestions(0);
    const [asked, silent, other] = [v7(), v7(), v7()];
    const at = (day: string, fields: Partial<AcceptedAnswer> = {}) =>
      anAcceptedAnswer({ tenant_id, question_id: asked, received_at: `${day}T12:00:00.000Z`, ...fields });
    await record(
      at('2026-11-14'),
      at('2026-11-15', { values: { main: 3 } }),
      at('2026-11-21', { state: 'partial', question_version: 2 }),
      at('2026-11-21', { state: 'seen', values: {} }),
      at('2026-11-21', { question_id: other }),
    );
    const now = new Date('2026-11-21T23:59:59.000Z');
    const sums = await summarizeCounts(app.forTenant(tenant_id), [asked, silent], now);
    expect([...sums.keys()]).toEqual([asked]);
    expect(sums.get(asked)).toEqual({
      ...noCounts(),
      ...{ seen: 1, partial: 1, completed: 2, answered_7_days: 2 },
      scores: [0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0],
    });
  });
});

describe('any syncs, in any batches, with deletions between them', () => {
  const drawnValue = fc.oneof(
    fc.constantFrom<unknown>(0, 1, 9, 10, true, false, 'words', '', 11, -1, 2.5),
    fc.record({ option_id: fc.constantFrom('a', 'b', 'other', '__proto__') }),
    fc.record({ option_ids: fc.array(fc.constantFrom('a', 'b', 'c', 'other'), { maxLength: 4 }) }),
    fc.record({ option_ids: fc.constantFrom(['a'], []), other_text: fc.constantFrom('x', '') }),
  );
  const drawnSync = fc.record({
    of: fc.nat(4),
    question: fc.nat(1),
    revision: fc.integer({ min: 1, max: 4 }),
    question_version: fc.integer({ min: 1, max: 2 }),
    state: fc.constantFrom<AnswerState>('seen', 'dismissed', 'partial', 'partial', 'completed'),
    value: fc.option(drawnValue, { nil: undefined, freq: 5 }),
    comment: fc.constantFrom(null, null, '', 'fine'),
    day: fc.constantFrom('2026-10-31', '2026-11-01', '2026-11-30'),
    isVerified: fc.boolean(),
  });
  const drawnStep = fc.oneof(
    { arbitrary: fc.array(drawnSync, { maxLength: 5 }), weight: 4 },
    { arbitrary: fc.nat(4), weight: 1 },
  );

  test('leave results equal to a full count, and a rebuild agrees', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(drawnStep, { maxLength: 6 }), async steps => {
        const { tenant_id, questions } = await makeQuestions(2);
        const ids = Array.from({ length: 5 }, () => v7());
        for (const step of steps) {
          if (typeof step === 'number') {
            const gone = remove(anAcceptedAnswer({ tenant_id, id: ids[step] as string }));
            await gone.catch(error => expect(error).toMatchObject({ code: 'resource-not-found' })); // not stored yet
            continue;
          }
          await record(
            ...step.map(({ of, question, value, day, isVerified, ...sync }) =>
              anAcceptedAnswer({
                ...sync,
                tenant_id,
                id: ids[of] as string,
                question_id: questions[question] as string,
                identity_verified: isVerified,
                values: value === undefined ? {} : { main: value },
                received_at: `${day}T23:30:00.000Z`,
              }),
            ),
          );
        }
        const full = await counted(tenant_id);
        expect(await kept(tenant_id)).toEqual(full);
        expect(await rebuild(tenant_id)).toBe(2);
        expect(await kept(tenant_id)).toEqual(full);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a rebuild', () => {
  let tenant_id: string;
  let question_id: string;
  beforeAll(async () => {
    const made = await makeQuestions(1);
    [tenant_id, question_id] = [made.tenant_id, made.questions[0] as string];
  });

  test('corrects lost and surplus counts', async () => {
    await record(anAcceptedAnswer({ tenant_id, question_id, received_at: '2026-01-31T12:00:00.000Z' }));
    await record(anAcceptedAnswer({ tenant_id, question_id, received_at: '2026-11-21T12:00:00.000Z' }));
    const full = await counted(tenant_id);
    await database.query("delete from question_results where day = '2026-11-21' and tenant_id = $1", [tenant_id]);
    await database.query(
      `insert into question_results select tenant_id, question_id, '2027-05-05', 7, false, 3, 3, 3, 3, 3, scores, '{"x": 3}'
       from question_results where tenant_id = $1`,
      [tenant_id],
    );
    expect(await kept(tenant_id)).not.toEqual(full);
    await rebuild(tenant_id);
    expect(await kept(tenant_id)).toEqual(full);
  });

  test('does not wait for open transactions, and counts their later commits once', async () => {
    const made = await makeQuestions(1);
    const question = made.questions[0] as string;
    const sync = () => anAcceptedAnswer({ tenant_id: made.tenant_id, question_id: question });
    await record(sync());
    await database.query('update question_results set completed = 5 where question_id = $1', [question]);
    const [counting, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held: Storage = {
      ...worker,
      transaction: work =>
        worker.transaction(async session => {
          const result = await work(session);
          counting.resolve();
          await mayCommit.promise;
          return result;
        }),
    };
    // A new row for another version is inserted and locked, and its answer is not committed.
    const writing = recordAnswers(held, [{ flush: v7(), answers: [{ ...sync(), question_version: 2 }] }]);
    await counting.promise;
    expect(await rebuildResults(app, made.tenant_id)).toEqual({ questions: 1, corrected: 1 });
    mayCommit.resolve();
    await writing;
    expect(Object.values(await kept(made.tenant_id)).map(({ completed }) => completed)).toEqual([1, 1]);
    expect(await kept(made.tenant_id)).toEqual(await counted(made.tenant_id));
  });

  test('reports its progress, and finds no differences the second time', async () => {
    const made = await makeQuestions(2);
    const days = ['2026-01-31', '2026-02-01', '2026-11-21'];
    await record(
      ...days.map(day =>
        anAcceptedAnswer({
          tenant_id: made.tenant_id,
          question_id: made.questions[1] as string,
          received_at: `${day}T12:00:00.000Z`,
        }),
      ),
    );
    await database.query('delete from question_results where tenant_id = $1', [made.tenant_id]);
    const reports: string[] = [];
    const run = () => rebuildResults(app, made.tenant_id, one => reports.push(`${one.days.done}/${one.days.of}`));
    expect(await run()).toEqual({ questions: 2, corrected: 3 });
    expect(reports).toEqual(['1/3', '2/3', '3/3']);
    expect(await run()).toEqual({ questions: 2, corrected: 0 });
  });

  test('is correct while answers arrive, are revised and deleted', async () => {
    const answers = Array.from({ length: 200 }, (_, index) =>
      anAcceptedAnswer({ tenant_id, question_id, state: 'partial', values: { main: index % 11 } }),
    );
    let isOver = false;
    const arrive = async () => {
      for (let at = 0; at < answers.length; at += 10) {
        const some = answers.slice(at, at + 10);
        const revised = some.map(answer => ({ ...answer, revision: 2, values: { main: 1 } }));
        await record(...some);
        await Promise.all([record(...revised), remove(some[0] as AcceptedAnswer)]);
      }
    };
    const arriving = arrive().finally(() => {
      isOver = true;
    });
    let rebuilds = 0;
    for (; !isOver; rebuilds++) await rebuild(tenant_id);
    await arriving;
    expect(rebuilds).toBeGreaterThan(3);
    expect(await kept(tenant_id)).toEqual(await counted(tenant_id));
  });

  test('changes no other tenant, and the rebuild of all covers every tenant', async () => {
    const other = await makeQuestions(1);
    await record(anAcceptedAnswer({ tenant_id: other.tenant_id, question_id: other.questions[0] as string }));
    await database.query('update question_results set seen = 99 where tenant_id = $1', [other.tenant_id]);
    await rebuild(tenant_id);
    expect(Object.values(await kept(other.tenant_id))).toMatchObject([{ seen: 99 }]);
    expect(await listTenantIds(app)).toEqual(expect.arrayContaining([tenant_id, other.tenant_id]));
    await rebuild(other.tenant_id);
    expect(await kept(other.tenant_id)).toEqual(await counted(other.tenant_id));
  });
});
