import fc from 'fast-check';
import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import { type AcceptedAnswer, type AnswerState, isAnswered, storedState } from '../../../src/domain/answers/answers.ts';
import { MAX_SCANNED } from '../../../src/domain/pages.ts';
import { listAnswers, tagAnswer } from '../../../src/storage/answers/answers.ts';
import { recordAnswers } from '../../../src/storage/answers/recording.ts';
import { expireAnswers } from '../../../src/storage/tenants/retention.ts';
import { waitFor } from '../../support/api.ts';
import { makeCountedCard, nines, partial, type Results } from '../../support/counted-card.ts';
import { createDatabase } from '../../support/database.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const worker = database.storage('parley_worker');
const other = database.storage('parley_worker');
const app = database.storage();

const record = (...answers: AcceptedAnswer[]) => recordAnswers(worker, [{ flush: v7(), answers }]);

/** Awaits an action for each item in sequence. */
async function oneByOne<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  for (const item of items) await act(item);
}

const makeCard = () => makeCountedCard(database);

describe('of the answers to one card', () => {
  test('one is counted, however many are sent in however many batches; the views of all are displays', async () => {
    const card = await makeCard();
    const answers = Array.from({ length: 300 }, () => card.answer({ comment: 'again' }));
    await record(...answers.slice(0, 100));
    await record(...answers.slice(100, 200));
    const lanes = [0, 1, 2, 3].map(lane => answers.slice(200 + lane * 25, 225 + lane * 25));
    await Promise.all(lanes.map(lane => oneByOne(lane, answer => record(answer))));
    expect(await card.counted()).toEqual([answers[0]?.id]);
    expect(await card.rows()).toHaveLength(300);
    const expected = { seen: 299, dismissed: 0, partial: 0, completed: 1, written: 1, scores: nines(1) };
    expect(await card.results()).toEqual(expected);
    await card.rebuild();
    expect(await card.results()).toEqual(expected);
  });

  test('the first `partial` is counted until there is a `completed`, which replaces it permanently', async () => {
    const card = await makeCard();
    const [first, second, third, fourth] = [card.answer(partial), card.answer(partial), card.answer(), card.answer()];
    await record(first);
    await record(second);
    expect(await card.counted()).toEqual([first.id]);
    expect(await card.results()).toMatchObject({ seen: 1, partial: 1, completed: 0 });
    await record(third);
    expect(await card.counted()).toEqual([third.id]);
    expect(await card.results()).toMatchObject({ seen: 2, partial: 0, completed: 1, scores: nines(1) });
    await record({ ...first, revision: 2, state: 'completed' }, fourth);
    expect(await card.counted()).toEqual([third.id]);
    expect(await card.results()).toMatchObject({ seen: 3, partial: 0, completed: 1, scores: nines(1) });
  });

  test('one whose value is removed again makes room for the next, in the same batch and later', async () => {
    const card = await makeCard();
    const [first, second, third] = [card.answer(partial), card.answer(partial), card.answer(partial)];
    const emptied = (answer: AcceptedAnswer, state: AnswerState) => ({ ...answer, revision: 2, state, values: {} });
    await record(first, emptied(first, 'seen'));
    expect(await card.counted()).toEqual([]);
    await record(second, third);
    expect(await card.counted()).toEqual([second.id]);
    await record(emptied(second, 'dismissed'));
    expect(await card.counted()).toEqual([third.id]);
    const expected = await card.results();
    expect(expected).toMatchObject({ seen: 1, dismissed: 1, partial: 1, completed: 0 });
    await card.rebuild();
    expect(await card.results()).toEqual(expected);
    await record({ ...first, revision: 3 });
    expect(await card.counted()).toEqual([third.id]);
  });

  test('the counted one is revised in its place', async () => {
    const card = await makeCard();
    const first = card.answer({ state: 'seen', values: {} });
    await record(first);
    await record({ ...first, ...partial, revision: 2 });
    await record(
      card.answer(partial),
      { ...first, revision: 3, state: 'completed', values: { main: 9 } },
      card.answer(),
    );
    expect(await card.counted()).toEqual([first.id]);
    expect(await card.results()).toMatchObject({ seen: 2, partial: 0, completed: 1, scores: nines(1) });
  });

  test('all are counted if they do not compete: by an API key, with `always`, of the previous version', async () => {
    const card = await makeCard();
    const { once_per_card: _, ...free } = card.answer();
    const own = card.answer();
    await record(...Array.from({ length: 5 }, () => ({ ...free, id: v7() })), own, card.answer());
    expect(await card.counted()).toHaveLength(6);
    expect(await card.results()).toMatchObject({ seen: 1, completed: 6, scores: nines(6) });
  });

  test('those of other users and other questions are counted too', async () => {
    const card = await makeCard();
    await record(
      card.answer(),
      card.answer({ identity: 'user|43' }),
      card.answer({ identity_verified: false }),
      card.answer({ question_id: v7() }),
    );
    expect(await card.counted()).toHaveLength(4);
  });

  test('the next is counted when the counted one is deleted: the first `completed`, or else the first `partial`', async () => {
    const card = await makeCard();
    const at = (minute: number, fields: Partial<AcceptedAnswer> = {}) =>
      card.answer({ received_at: `2026-11-20T12:0${minute}:00.000Z`, ...fields });
    const [first, second, third, fourth] = [at(1), at(2, partial), at(3), at(4)];
    for (const answer of [first, second, third, fourth]) await record(answer);
    for (const [gone, next] of [
      [second, first],
      [first, third],
      [third, fourth],
    ] as const) {
      await card.remove(gone.id);
      expect(await card.counted()).toEqual([next.id]);
      expect(await card.results()).toMatchObject({ partial: 0, completed: 1, scores: nines(1) });
    }
    await record(at(5, partial));
    await card.remove(fourth.id);
    expect(await card.results()).toMatchObject({ seen: 0, partial: 1, completed: 0 });
    const [last] = await card.counted();
    await card.remove(last as string);
    expect(await card.results()).toEqual({
      ...{ seen: 0, dismissed: 0, partial: 0, completed: 0, written: 0 },
      scores: nines(0),
    });
    const late = card.answer();
    await record(late);
    expect(await card.counted()).toEqual([late.id]);
  });

  test('the next is counted even if the user has more answers than are read at once', async () => {
    const card = await makeCard();
    const [first, second] = [card.answer(), card.answer()];
    await record(first);
    await record(second);
    await database.query(
      `insert into answers select (jsonb_populate_record(answers, jsonb_build_object('id', gen_random_uuid(),
         'question_id', gen_random_uuid()))).*
       from answers, generate_series(1, ${MAX_SCANNED}) where id = $1`,
      [second.id],
    );
    await card.remove(first.id);
    const { rows } = await listAnswers(card.tenant, { question_id: second.question_id }, 10, null);
    expect(rows).toMatchObject([{ id: second.id, counted: true }]);
  });

  test('an expired one stays counted, and no other replaces it', async () => {
    const card = await makeCard();
    const old = card.answer({ ...partial, received_at: '2026-01-01T12:00:00.000Z' });
    await record(old);
    await card.tenant.query('update tenants set retention_answers_days = 30 where id = $1', [card.tenant.tenantId]);
    expect(await expireAnswers(worker, card.tenant.tenantId, new Date())).toBe(1);
    await record(card.answer());
    await record(card.answer());
    expect(await card.counted()).toEqual([]);
    expect(await card.results()).toMatchObject({ seen: 2, partial: 1, completed: 0 });
    await card.rebuild();
    expect(await card.results()).toMatchObject({ seen: 2, partial: 1, completed: 0 });
  });

  test('one that is replaced by another, and the other, are found by incremental reads', async () => {
    const card = await makeCard();
    const [first, second] = [card.answer(partial), card.answer()];
    await record(first);
    const [stored] = await card.rows();
    await record(second);
    const changed = async (since: Date) => {
      const updated = { since, before: new Date(Date.now() + 60_000) };
      return (await listAnswers(card.tenant, { updated }, 100, null)).rows.map(({ id, counted }) => [id, counted]);
    };
    if (!stored) throw new Error('The answer was not stored.');
    const after = new Date(stored.updated_at.getTime() + 1);
    expect(await changed(after)).toEqual(expect.arrayContaining([[first.id, false], [second.id, true]])); // biome-ignore format: pairs
    const [row] = await database.query<{ at: Date }>('select clock_timestamp()::timestamptz(3) as at');
    await card.remove(second.id);
    expect(await changed(row?.at as Date)).toEqual([[first.id, true]]);
  });

  test('one that is labelled while it is replaced is found by incremental reads', async () => {
    const card = await makeCard();
    const first = card.answer(partial);
    await record(first);
    let storing: Promise<unknown> | undefined;
    const hold = app.forTenant(card.tenant.tenantId).transaction(async session => {
      await session.query('select from card_records where tenant_id = $1 for update', [card.tenant.tenantId]);
      storing = Promise.all([tagAnswer(card.tenant, first.id, ['a'], () => undefined), record(card.answer())]);
      await waitFor(
        async () =>
          (
            await database.query(
              "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
            )
          ).length === 2,
      );
    });
    await hold;
    await storing;
    const rows = await card.rows();
    const [labelled, winner] = [rows.find(({ id }) => id === first.id), rows.find(({ id }) => id !== first.id)];
    expect(labelled).toMatchObject({ counted: false, tags: ['a'] });
    expect(winner).toMatchObject({ counted: true });
  });
});

/** The contract's result for answers that are stored and deleted in sequence. */
class Model {
  readonly answers = new Map<string, AcceptedAnswer>();
  readonly deleted = new Set<string>();
  place: string | undefined;

  store(sync: AcceptedAnswer): void {
    const known = this.answers.get(sync.id);
    if (this.deleted.has(sync.id)) return;
    if (known && (known.state === 'completed' || sync.revision <= known.revision)) return;
    this.answers.set(sync.id, known ? { ...sync, received_at: known.received_at } : sync);
    if (!sync.once_per_card || !isAnswered(sync.state)) return;
    if (this.place === undefined || (sync.state === 'completed' && !this.isFinal)) this.put(sync.id, sync.state);
  }

  delete(id: string): void {
    if (!this.answers.delete(id)) return;
    this.deleted.add(id);
    if (this.place === id) this.passOn();
  }

  /** At the end of a batch: an answer that was emptied is not counted. */
  settle(): void {
    const holder = this.place === undefined ? undefined : this.answers.get(this.place);
    if (holder && !isAnswered(holder.state)) this.passOn();
  }

  private passOn(): void {
    const left = [...this.answers.values()]
      .filter(answer => answer.once_per_card)
      .sort((a, b) => (a.received_at + a.id < b.received_at + b.id ? -1 : 1));
    const next = left.find(({ state }) => state === 'completed') ?? left.find(({ state }) => state === 'partial');
    this.put(next?.id, next?.state);
  }

  /** Whether the counted answer was complete at that time. */
  private isFinal = false;

  private put(id: string | undefined, state: AnswerState | undefined): void {
    this.place = id;
    this.isFinal = state === 'completed';
  }

  isCounted(answer: AcceptedAnswer): boolean {
    return !answer.once_per_card || !isAnswered(answer.state) || this.place === answer.id;
  }

  results(): Results {
    const sum = { seen: 0, dismissed: 0, partial: 0, completed: 0, written: 0, scores: nines(0) };
    for (const answer of this.answers.values()) {
      const isCounted = this.isCounted(answer);
      sum[isCounted ? answer.state : 'seen']++;
      if (!isCounted) continue;
      if (answer.comment) sum.written++;
      const score = answer.values.main;
      if (isAnswered(answer.state) && typeof score === 'number') sum.scores[score] = (sum.scores[score] ?? 0) + 1;
    }
    return sum;
  }
}

describe('any syncs of one card, in any batches, with deletions between them', () => {
  const drawnSync = fc.record({
    of: fc.nat(4),
    revision: fc.integer({ min: 1, max: 4 }),
    state: fc.constantFrom<AnswerState>('seen', 'dismissed', 'partial', 'partial', 'completed'),
    score: fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined }),
    comment: fc.constantFrom(null, 'fine'),
    once_per_card: fc.constantFrom(true, true, true, undefined),
    day: fc.constantFrom('2026-10-31', '2026-11-01', '2026-11-30'),
  });
  const drawnStep = fc.oneof(
    { arbitrary: fc.array(drawnSync, { maxLength: 5 }), weight: 3 },
    { arbitrary: fc.nat(4), weight: 1 },
  );

  test('count as one by one, and a rebuild and `counted` agree', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(drawnStep, { maxLength: 8 }), async steps => {
        const card = await makeCard();
        const model = new Model();
        const ids = Array.from({ length: 5 }, () => v7());
        for (const step of steps) {
          if (typeof step === 'number') {
            const id = ids[step] as string;
            if (model.answers.has(id)) await card.remove(id);
            model.delete(id);
            continue;
          }
          const syncs = step.map(({ of, score, day, ...sync }) =>
            card.answer({
              ...sync,
              id: ids[of] as string,
              values: score === undefined ? {} : { main: score },
              received_at: `${day}T12:00:00.000Z`,
              content_hash: JSON.stringify([score, sync.state, sync.comment]),
            }),
          );
          await record(...syncs);
          for (const sync of syncs) model.store({ ...sync, state: storedState(sync) });
          model.settle();
        }
        const expected = model.results();
        const withScores = ({ scores, ...counters }: Results) => ({
          ...counters,
          scores: scores.length ? scores : nines(0),
        });
        expect(withScores(await card.results())).toEqual(expected);
        await card.rebuild();
        expect(withScores(await card.results())).toEqual(expected);
        const rows = (await card.rows()).map(({ id, counted }) => [id, counted]);
        expect(new Map(rows as [string, boolean][])).toEqual(
          new Map([...model.answers.values()].map(answer => [answer.id, model.isCounted(answer)])),
        );
      }),
      { numRuns: 40 },
    );
  });

  test('leave one counted when several workers store, revise and delete concurrently, and a rebuild agrees', async () => {
    for (let round = 0; round < 4; round++) {
      const card = await makeCard();
      const partials = Array.from({ length: 12 }, () => card.answer(partial));
      await record(...partials);
      const revised = partials.map((answer, number) => ({
        ...answer,
        revision: 2,
        state: number % 3 ? ('partial' as const) : ('completed' as const),
      }));
      const further = partials.map(() => [card.answer(), card.answer(partial)]);
      await Promise.all([
        ...[worker, other].flatMap((store, half) => {
          const isMine = (_: unknown, number: number) => number % 2 === half;
          return [revised.filter(isMine).map(answer => [answer]), further.filter(isMine)].map(batches =>
            oneByOne(batches, answers => recordAnswers(store, [{ flush: v7(), answers }])),
          );
        }),
        oneByOne(partials.slice(0, 6), ({ id }) => card.remove(id)),
      ]);
      expect(await card.counted()).toHaveLength(1);
      const results = await card.results();
      expect(results).toMatchObject({ partial: 0, completed: 1, seen: 29 });
      await card.rebuild();
      expect(await card.results()).toEqual(results);
    }
  });
});
