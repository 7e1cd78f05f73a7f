import fc from 'fast-check';
import { v7 } from 'uuid';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import type { AcceptedAnswer, AnswerState } from '../../../src/domain/answers/answers.ts';
import type { FollowUp } from '../../../src/domain/questions/follow-ups.ts';
import { deleteAnswer } from '../../../src/storage/answers/answers.ts';
import { IS_COUNTED } from '../../../src/storage/answers/counted-columns.ts';
import { recordAnswers } from '../../../src/storage/answers/recording.ts';
import { rebuildResults } from '../../../src/storage/answers/results.ts';
import type { Storage } from '../../../src/storage/database/orm.ts';
import { createDatabase } from '../../support/database.ts';
import { anAcceptedAnswer, storeQuestions } from '../../support/make.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const worker = database.storage('parley_worker');
const app = database.storage();

const record = (...answers: AcceptedAnswer[]) => recordAnswers(worker, [{ flush: v7(), answers }]);
const remove = (answer: AcceptedAnswer) => deleteAnswer(app.forTenant(answer.tenant_id), answer.id, () => undefined);

const aStep = (fields: Pick<FollowUp, 'key' | 'type' | 'config'> & Partial<FollowUp>): FollowUp => ({
  ...{ title: fields.key, description: '', required: false, show_if: null },
  ...fields,
});
const REASON = aStep({
  key: 'reason',
  type: 'text',
  config: { min_length: 0, max_length: 100, input: 'text' },
  show_if: { step: 'main', op: 'lte', value: 6 },
});
const PICK = aStep({
  key: 'pick',
  type: 'multi_choice',
  config: {
    options: ['a', 'b'].map(id => ({ id, label: id })),
    allow_other: true,
    shuffle: false,
  } as FollowUp['config'],
});
const AGAIN = aStep({
  key: 'again',
  type: 'thumbs',
  config: {},
  show_if: { step: 'pick', op: 'contains_any', value: ['a'] },
});
const THANKS = aStep({ key: 'thanks', type: 'statement', config: {} });

/** The follow-ups of each version, from 1 on: one is removed, two are added, and all are removed. */
const VERSIONS: FollowUp[][] = [[REASON, PICK], [PICK, AGAIN, THANKS], []];
/** A version that the database lacks. */
const ABSENT = VERSIONS.length + 1;

async function addVersion(tenantId: string, questionId: string, version: number, followUps: FollowUp[]) {
  await database.query(
    `insert into question_versions (tenant_id, question_id, version, type, title, description, config, follow_ups, created_at)
     values ($1, $2, $3, 'nps', 'x', '', '{}', $4, now())`,
    [tenantId, questionId, version, JSON.stringify(followUps)],
  );
}

async function makeQuestion() {
  const { tenant_id, questions } = await storeQuestions(database, app, 1, VERSIONS.length);
  const question_id = questions[0] as string;
  for (const [index, followUps] of VERSIONS.entries()) await addVersion(tenant_id, question_id, index + 1, followUps);
  return { tenant_id, question_id };
}

interface Row {
  partial: number;
  completed: number;
  skipped: number;
  left: number;
  written: number;
  scores: number[];
  choices: Record<string, number>;
}

const isSomething = ({ scores, choices, ...counters }: Row): boolean =>
  [...Object.values(counters), ...scores, ...Object.values(choices)].some(number => number !== 0);

const withoutZeros = (row: Row): Row => ({
  ...row,
  choices: Object.fromEntries(Object.entries(row.choices).filter(([, number]) => number !== 0)),
});

const toTable = (rows: [string, Row][]) =>
  Object.fromEntries(rows.filter(([, row]) => isSomething(row)).map(([key, row]) => [key, withoutZeros(row)]));

/** The content of the table of results. */
async function kept(tenantId: string) {
  const rows = await database.query<Row & { key: string }>(
    `select day || ' v' || question_version || ' ' || identity_verified || ' ' || step as key,
       partial, completed, skipped, "left", written, scores, choices
     from question_step_results where tenant_id = $1`,
    [tenantId],
  );
  return toTable(rows.map(({ key, ...row }) => [key, row]));
}

interface StoredAnswer {
  day: string;
  question_version: number;
  identity_verified: boolean;
  state: AnswerState;
  values: Record<string, unknown>;
}

const picksOf = ({ pick }: StoredAnswer['values']): string[] => (pick as { option_ids?: string[] })?.option_ids ?? [];

/** The follow-ups that an answer shows, written here for `VERSIONS`. */
function shownOf({ question_version, values }: StoredAnswer): string[] {
  const { main } = values;
  if (question_version === 1) return typeof main === 'number' && main <= 6 ? ['reason', 'pick'] : ['pick'];
  if (question_version === 2) return picksOf(values).includes('a') ? ['pick', 'again', 'thanks'] : ['pick', 'thanks'];
  return [];
}

function addTo(row: Row, answer: StoredAnswer, step: string): void {
  const value = answer.values[step];
  row[answer.state as 'partial' | 'completed']++;
  if (step === 'reason' && value !== '') row.written++;
  if (step === 'pick' && (value as { other_text?: string }).other_text) row.written++;
  if (step === 'pick') for (const id of picksOf(answer.values)) row.choices[id] = (row.choices[id] ?? 0) + 1;
  if (step === 'again') (row.scores[Number(value)] as number)++;
}

/** A full count of the stored answers, computed here one by one. */
async function counted(tenantId: string) {
  const answers = await database.query<StoredAnswer>(
    `select (received_at at time zone 'UTC')::date::text as day, question_version, identity_verified, state, values
     from answers where tenant_id = $1 and state in ('partial', 'completed') and ${IS_COUNTED}`,
    [tenantId],
  );
  const rows = new Map<string, Row>();
  for (const answer of answers) {
    const shown = shownOf(answer);
    const reached = shown.findLastIndex(step => step in answer.values);
    const endsAtQuestion = answer.state === 'partial' && reached === -1 && !('main' in answer.values);
    if (endsAtQuestion) continue;
    for (const [index, step] of shown.entries()) {
      if (answer.state === 'partial' && index > reached + 1) break;
      const key = `${answer.day} v${answer.question_version} ${answer.identity_verified} ${step}`;
      const row = rows.get(key) ?? {
        ...{ partial: 0, completed: 0, skipped: 0, left: 0, written: 0 },
        ...{ scores: new Array<number>(11).fill(0), choices: {} },
      };
      rows.set(key, row);
      const isPassed = index <= reached || answer.state === 'completed';
      if (step in answer.values || (step === 'thanks' && isPassed)) addTo(row, answer, step);
      else if (isPassed) row.skipped++;
      else row.left++;
    }
  }
  return toTable([...rows]);
}

const drawnValues = fc.record(
  {
    main: fc.nat(10),
    reason: fc.constantFrom('too slow', ''),
    pick: fc.oneof(
      fc.record({ option_ids: fc.uniqueArray(fc.constantFrom('a', 'b')) }),
      fc.record({ option_ids: fc.constant(['a', 'other']), other_text: fc.constantFrom('mine', '') }),
    ),
    again: fc.boolean(),
  },
  { requiredKeys: [] },
);

const drawnSync = fc.record({
  of: fc.nat(4),
  revision: fc.integer({ min: 1, max: 4 }),
  question_version: fc.integer({ min: 1, max: ABSENT }),
  state: fc.constantFrom<AnswerState>('seen', 'dismissed', 'partial', 'partial', 'completed'),
  values: drawnValues,
  day: fc.constantFrom('2026-10-31', '2026-11-01'),
  once_per_card: fc.boolean(),
});

/** A batch of syncs, or the deletion of an answer. */
const drawnChange = fc.oneof(
  { arbitrary: fc.array(drawnSync, { minLength: 1, maxLength: 5 }), weight: 4 },
  { arbitrary: fc.nat(4), weight: 1 },
);

describe('results of follow-ups', () => {
  test('equal a full count after any syncs, revisions and deletions, with a rebuild running', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(drawnChange, { minLength: 1, maxLength: 6 }), async changes => {
        const { tenant_id, question_id } = await makeQuestion();
        const ids = Array.from({ length: 5 }, () => v7());
        const apply = async () => {
          for (const change of changes) {
            if (typeof change === 'number') {
              const gone = remove(anAcceptedAnswer({ tenant_id, id: ids[change] as string }));
              await gone.catch(error => expect(error).toMatchObject({ code: 'resource-not-found' })); // not stored yet
              continue;
            }
            const syncs = change.map(({ of, day, ...sync }) => ({
              ...sync,
              ...{ tenant_id, question_id, id: ids[of] as string, identity: `user|${of % 2}` },
              ...{ identity_verified: of < 4, received_at: `${day}T23:30:00.000Z` },
            }));
            await record(...syncs.map(anAcceptedAnswer));
          }
        };
        let isOver = false;
        const applying = apply().finally(() => {
          isOver = true;
        });
        do await rebuildResults(app, tenant_id);
        while (!isOver);
        await applying;
        const full = await counted(tenant_id);
        expect(await kept(tenant_id)).toEqual(full);
        expect((await rebuildResults(app, tenant_id)).corrected).toBe(0);
      }),
      { numRuns: 25 },
    );
  });
});

describe('a version that the database lacks', () => {
  afterEach(() => vi.restoreAllMocks());

  /** The worker's storage, with a count of its reads of versions. */
  function countReads() {
    let reads = 0;
    const counting: Storage = {
      ...worker,
      transaction: work =>
        worker.transaction(tx =>
          work({
            ...tx,
            query: (sql, params) => {
              if (sql.includes('join question_versions')) reads++;
              return tx.query(sql, params);
            },
          }),
        ),
    };
    return { counting, reads: () => reads };
  }

  test('is looked up once in ten seconds, and counted after it appeared', async () => {
    const now = performance.now.bind(performance);
    let ahead = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
    const { tenant_id, question_id } = await makeQuestion();
    const { counting, reads } = countReads();
    const store = () =>
      recordAnswers(counting, [
        {
          flush: v7(),
          answers: [
            anAcceptedAnswer({
              tenant_id,
              question_id,
              question_version: ABSENT,
              values: { main: 1, pick: { option_ids: ['b'] } },
            }),
          ],
        },
      ]);
    for (let batch = 0; batch < 5; batch++) await store();
    expect(reads()).toBe(1);
    expect(await kept(tenant_id)).toEqual({});

    await addVersion(tenant_id, question_id, ABSENT, [PICK]);
    ahead = 11_000;
    for (let batch = 0; batch < 5; batch++) await store();
    expect(reads()).toBe(2);
    expect(Object.values(await kept(tenant_id))).toMatchObject([{ completed: 5, choices: { b: 5 } }]);
    await rebuildResults(app, tenant_id);
    expect(Object.values(await kept(tenant_id))).toMatchObject([{ completed: 10, choices: { b: 10 } }]);
  });
});
