import fc from 'fast-check';
import { Client } from 'pg';
import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import { type AcceptedAnswer, type AnswerState, compareSyncs } from '../../src/domain/answers.ts';
import { toTypeId } from '../../src/domain/ids.ts';
import { presentQuarantined, replayOf } from '../../src/domain/ingestion.ts';
import { createSeals } from '../../src/platform/secrets.ts';
import { isolate } from '../../src/queue/isolation.ts';
import { deleteAnswer } from '../../src/storage/answers.ts';
import { findIngestionTotals, listQuarantined } from '../../src/storage/ingestion.ts';
import { type Flush, quarantineEncoded, recordAnswers, rehearse } from '../../src/storage/recording.ts';
import { waitFor } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { anAcceptedAnswer, makeTenant, uuidOfKey } from '../support/make.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const worker = database.storage('parley_worker');
const app = database.storage();

const flushOf = (...answers: AcceptedAnswer[]): Flush => ({ flush: v7(), answers });
const record = (...answers: AcceptedAnswer[]) => recordAnswers(worker, [flushOf(...answers)]);

interface Stored {
  id: string;
  tenant_id: string;
  identity: string;
  revision: number;
  state: AnswerState;
  comment: string | null;
  content_hash: string;
}

const rowsOf = (tenantId: string) =>
  database.query<Stored>('select * from answers where tenant_id = $1 order by id', [tenantId]);
const totalsOf = async (tenantId: string) => (await findIngestionTotals(app.forTenant(tenantId), [])).totals;
const quarantineOf = async (tenantId: string) => (await listQuarantined(app.forTenant(tenantId), 100, null)).rows;
const cardRecordsOf = (tenantId: string) =>
  database.query<{ identity: string; shown_at: Date; dismissed_at: Date | null; answered_at: Date | null }>(
    'select * from card_records where tenant_id = $1 order by identity',
    [tenantId],
  );

describe('a flush', () => {
  test('delivered twice changes neither rows nor totals', async () => {
    const tenant_id = v7();
    const flush = flushOf(anAcceptedAnswer({ tenant_id }), anAcceptedAnswer({ tenant_id }));
    expect(await recordAnswers(worker, [flush])).toEqual({ stored: 2, repeated: 0, quarantined: 0 });
    const before = [await rowsOf(tenant_id), await totalsOf(tenant_id), await cardRecordsOf(tenant_id)];
    expect(await recordAnswers(worker, [flush])).toEqual({ stored: 0, repeated: 0, quarantined: 0 });
    expect([await rowsOf(tenant_id), await totalsOf(tenant_id), await cardRecordsOf(tenant_id)]).toEqual(before);
  });

  test('delivered twice in one batch, or to two workers at once, counts once', async () => {
    const tenant_id = v7();
    const twice = flushOf(anAcceptedAnswer({ tenant_id }));
    await recordAnswers(worker, [twice, structuredClone(twice)]);
    const atOnce = flushOf(...Array.from({ length: 50 }, () => anAcceptedAnswer({ tenant_id })));
    await Promise.all([recordAnswers(worker, [atOnce]), recordAnswers(worker, [structuredClone(atOnce)])]);
    expect(await totalsOf(tenant_id)).toEqual({ stored: 51, repeated: 0, quarantined: 0, rejected: 0 });
    expect(await rowsOf(tenant_id)).toHaveLength(51);
  });

  test('keeps every character of values, metadata and comments', async () => {
    const text = fc.string({ unit: 'binary' }).map(drawn => `"${drawn.replaceAll('\u0000', '')}\\\n{,}`);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(text, text, text), { minLength: 1 }), async texts => {
        const tenant_id = v7();
        const said = texts.map(([main, device_model, comment]) => ({
          values: { main },
          metadata: { device_model },
          comment,
        }));
        await record(...said.map(what => anAcceptedAnswer({ ...what, tenant_id })));
        expect(await rowsOf(tenant_id)).toMatchObject(said);
      }),
      { numRuns: 30 },
    );
  });

  test('of answers that others store concurrently in another order ends without a deadlock', async () => {
    const tenant_id = v7();
    const answers = Array.from({ length: 100 }, (_, index) =>
      anAcceptedAnswer({ tenant_id, identity: `user|${index % 7}` }),
    );
    await Promise.all([
      record(...answers),
      record(...answers.toReversed()),
      record(...answers.slice(50), ...answers.slice(0, 50)),
    ]);
    expect(await totalsOf(tenant_id)).toMatchObject({ stored: 100, repeated: 200, quarantined: 0 });
  });

  test('separates the same answer id of two tenants, with all other data', async () => {
    const id = v7();
    const [a, b] = [v7(), v7()];
    await record(
      anAcceptedAnswer({ id, tenant_id: a, identity: 'a', comment: "a's" }),
      anAcceptedAnswer({ id, tenant_id: b, identity: 'b', comment: "b's" }),
      anAcceptedAnswer({ id, tenant_id: b, identity: 'b', comment: 'later', revision: 2, content_hash: 'second' }),
      anAcceptedAnswer({ tenant_id: b, identity: 'b' }),
    );
    expect(await rowsOf(a)).toMatchObject([{ id, identity: 'a', comment: "a's", revision: 1 }]);
    expect(await rowsOf(b)).toMatchObject([{ id, identity: 'b', comment: "b's", revision: 1 }, { identity: 'b' }]);
    expect(await totalsOf(a)).toMatchObject({ stored: 1, repeated: 0 });
    expect(await totalsOf(b)).toMatchObject({ stored: 2, repeated: 1 });
    expect((await cardRecordsOf(a)).map(row => row.identity)).toEqual(['a']);
    expect((await cardRecordsOf(b)).map(row => row.identity)).toEqual(['b']);
    await deleteAnswer(app.forTenant(a), id, () => undefined);
    expect(await rowsOf(a)).toEqual([]);
    expect(await rowsOf(b)).toHaveLength(2);
  });

  test("only moves a card's record forward", async () => {
    const base = { tenant_id: v7(), identity_verified: true, card_id: v7(), question_id: v7() };
    const at = (minute: number) => `2026-11-21T07:0${minute}:00.000Z`;
    await record(anAcceptedAnswer({ ...base, state: 'dismissed', received_at: at(5) }));
    await record(anAcceptedAnswer({ ...base, state: 'partial', received_at: at(3) }));
    await record(anAcceptedAnswer({ ...base, state: 'seen', received_at: at(4) }));
    expect(await cardRecordsOf(base.tenant_id)).toMatchObject([
      { shown_at: new Date(at(5)), dismissed_at: new Date(at(5)), answered_at: new Date(at(3)) },
    ]);
  });

  test("corrects the device's display time by its clock, at most to the receipt", async () => {
    const base = { tenant_id: v7(), received_at: '2026-11-21T07:00:00.000Z' };
    const hour = 3_600_000;
    await record(
      anAcceptedAnswer({ ...base, identity: '1', displayed_at: '2026-11-21T07:30:00.000Z', clock_skew_ms: hour }),
      anAcceptedAnswer({ ...base, identity: '2', displayed_at: '2026-11-21T09:00:00.000Z', clock_skew_ms: hour }),
      anAcceptedAnswer({ ...base, identity: '3', displayed_at: '2026-11-21T05:00:00.000Z', clock_skew_ms: null }),
    );
    expect((await cardRecordsOf(base.tenant_id)).map(row => row.shown_at.toISOString())).toEqual([
      '2026-11-21T06:30:00.000Z',
      '2026-11-21T07:00:00.000Z',
      '2026-11-21T07:00:00.000Z',
    ]);
  });

  test('of a device with absurd clocks is stored all the same', async () => {
    const skews = [Date.parse('9999-12-31T23:59:59Z'), Date.parse('0001-01-01T00:00:00Z')].map(ms => ms - Date.now());
    const displayed = ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.000Z'];
    const tenant_id = v7();
    await record(
      ...skews.flatMap(clock_skew_ms =>
        displayed.map(displayed_at => anAcceptedAnswer({ tenant_id, displayed_at, clock_skew_ms })),
      ),
    );
    expect(await rowsOf(tenant_id)).toHaveLength(4);
  });
});

describe('syncs of one id', () => {
  /** The result of sequential syncs by the rules of the contract. */
  function outcomeOf(syncs: AcceptedAnswer[]) {
    const known = new Map<string, AcceptedAnswer>();
    const counts = { stored: 0, repeated: 0, quarantined: 0 };
    for (const sync of syncs) {
      const before = known.get(sync.id);
      const comparison = before ? compareSyncs(before, sync) : 'newer';
      if (comparison === 'newer') known.set(sync.id, sync);
      counts[comparison === 'newer' ? 'stored' : comparison === 'revision-conflict' ? 'quarantined' : 'repeated']++;
    }
    return { known, counts };
  }

  const drawnSync = fc.record({
    of: fc.nat(2),
    revision: fc.integer({ min: 1, max: 4 }),
    content_hash: fc.constantFrom('x', 'x', 'x', 'y'),
    state: fc.constantFrom<AnswerState>('seen', 'dismissed', 'partial', 'partial', 'completed'),
    identity: fc.constantFrom('user|42', 'user|42', 'user|42', 'user|42', 'user|43'),
  });

  test('have the same result in every order and batch as one by one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(fc.array(drawnSync, { maxLength: 4 }), { maxLength: 3 })), async drawn => {
        const tenant_id = v7();
        const ids = [v7(), v7(), v7()];
        const batches = drawn.map(flushes =>
          flushes.map(flush =>
            flushOf(
              ...flush.map(({ of, ...sync }) =>
                anAcceptedAnswer({ ...sync, tenant_id, id: ids[of] as string, comment: sync.content_hash }),
              ),
            ),
          ),
        );
        for (const batch of batches) await recordAnswers(worker, batch);
        const { known, counts } = outcomeOf(batches.flat().flatMap(flush => flush.answers));
        const rows = await rowsOf(tenant_id);
        expect(
          rows.map(({ id, revision, state, identity, comment }) => ({ id, revision, state, identity, comment })),
        ).toEqual(
          [...known.values()]
            .map(({ id, revision, state, identity, comment }) => ({ id, revision, state, identity, comment }))
            .sort((a, b) => (a.id < b.id ? -1 : 1)),
        );
        expect(await totalsOf(tenant_id)).toEqual({ ...counts, rejected: 0 });
        expect(await quarantineOf(tenant_id)).toHaveLength(counts.quarantined);
      }),
      { numRuns: 60 },
    );
  });

  test('leave the highest revision, in any order', async () => {
    const orders = [0, 1, 2, 3].reduce<number[][]>(
      (found, next) => found.flatMap(order => [0, 1, 2, 3].map(at => order.toSpliced(at, 0, next)).slice(0, next + 1)),
      [[]],
    );
    expect(new Set(orders.map(String)).size).toBe(24);
    const tenant_id = v7();
    for (const order of orders) {
      const id = v7();
      for (const revision of order)
        await record(
          anAcceptedAnswer({ tenant_id, id, state: 'partial', revision: revision + 1, comment: `${revision}` }),
        );
    }
    const rows = await rowsOf(tenant_id);
    expect(rows).toHaveLength(24);
    for (const row of rows) expect(row).toMatchObject({ revision: 4, comment: '3' });
  });

  test("keep the team's tags and the time of the first receipt", async () => {
    const tenant_id = v7();
    const first = anAcceptedAnswer({ tenant_id, state: 'partial', received_at: '2026-11-21T07:00:00.000Z' });
    await record(first);
    await database.query("update answers set tags = '{vip}' where id = $1", [first.id]);
    await record({ ...first, revision: 2, state: 'completed', received_at: '2026-11-21T08:00:00.000Z' });
    expect(await rowsOf(tenant_id)).toMatchObject([
      { revision: 2, tags: ['vip'], received_at: new Date('2026-11-21T07:00:00.000Z') },
    ]);
  });
});

describe('a conflict', () => {
  test.each([
    ['other content under the same revision', { content_hash: 'other' }],
    ['another identity', { identity: 'user|43', revision: 2 }],
    ['the claimed identity of the same name', { identity_verified: false, revision: 2 }],
    ['another card', { card_id: 'c0ffee00-0000-8000-8000-00000000000f', revision: 2 }],
    ['another question', { question_id: 'c0ffee00-0000-7000-8000-00000000000f', revision: 2 }],
  ] as const)('by %s goes to the quarantine and changes nothing stored', async (_, fields) => {
    const first = anAcceptedAnswer({ state: 'partial' });
    await record(first);
    const before = await rowsOf(first.tenant_id);
    const second = { ...first, ...fields };
    expect(await record(second)).toEqual({ stored: 0, repeated: 0, quarantined: 1 });
    expect(await rowsOf(first.tenant_id)).toEqual(before);
    const [entry] = await quarantineOf(first.tenant_id);
    expect(entry).toMatchObject({ answer_id: first.id, reason: 'revision-conflict' });
    expect(JSON.parse(entry?.payload ?? '')).toEqual(second);
    expect(await totalsOf(first.tenant_id)).toMatchObject({ stored: 1, quarantined: 1 });
  });

  test('that is replayed without an obstacle moves from the quarantine to the answers', async () => {
    const first = anAcceptedAnswer();
    const second = { ...first, identity: 'user|43' };
    await record(first, second);
    const [entry] = await quarantineOf(first.tenant_id);
    const replay = { ...second, replay_of: entry?.id as string };
    expect(await record(replay)).toEqual({ stored: 0, repeated: 0, quarantined: 1 });
    expect(await quarantineOf(first.tenant_id)).toHaveLength(1);
    expect(await totalsOf(first.tenant_id)).toMatchObject({ stored: 1, repeated: 0, quarantined: 1 });

    await database.query('delete from answers where id = $1', [first.id]);
    await record(replay, { ...replay }); // requested twice and carried by one flush
    expect(await rowsOf(first.tenant_id)).toMatchObject([{ id: first.id, identity: 'user|43' }]);
    expect(await quarantineOf(first.tenant_id)).toEqual([]);
    expect(await totalsOf(first.tenant_id)).toMatchObject({ stored: 2, repeated: 0, quarantined: 0 });

    await record(replay);
    expect(await totalsOf(first.tenant_id)).toMatchObject({ stored: 2, repeated: 0, quarantined: 0 });
  });
});

describe('an answer that the database rejects', () => {
  test.each([
    ['U+0000 in text', { comment: 'a\u0000b' }],
    ['U+0000 in a value', { values: { main: 'a\u0000b' } }],
    ['a lone surrogate in a value', { values: { main: '\ud800' } }],
    ['a time that PostgreSQL lacks', { answered_at: '0000-01-01T00:00:00.000Z' }],
  ] as const)('for %s fails its rehearsal, which keeps nothing of the others', async (_, fields) => {
    const tenant_id = v7();
    const good = anAcceptedAnswer({ tenant_id });
    await expect(rehearse(worker, [good, anAcceptedAnswer({ tenant_id, ...fields })])).rejects.toThrow();
    await rehearse(worker, [good]);
    expect(await rowsOf(tenant_id)).toEqual([]);
    expect(await cardRecordsOf(tenant_id)).toEqual([]);
  });

  test('is in the quarantine as accepted, with the reason of the database', async () => {
    const bad = anAcceptedAnswer({ comment: 'a\u0000b' });
    const good = anAcceptedAnswer({ tenant_id: bad.tenant_id });
    await recordAnswers(worker, [flushOf(bad, good)], new Map([[bad, 'invalid byte sequence']]));
    expect((await rowsOf(bad.tenant_id)).map(row => row.id)).toEqual([good.id]);
    const [entry] = await quarantineOf(bad.tenant_id);
    expect(entry).toMatchObject({ answer_id: bad.id, reason: 'unstorable', detail: 'invalid byte sequence' });
    expect(JSON.parse(entry?.payload ?? '')).toEqual(bad);
    expect(await totalsOf(bad.tenant_id)).toMatchObject({ stored: 1, quarantined: 1 });
  });
});

describe('a deleted answer', () => {
  test('stays deleted, whatever is sent later with its id', async () => {
    const answer = anAcceptedAnswer({ state: 'partial' });
    await record(answer);
    await deleteAnswer(app.forTenant(answer.tenant_id), answer.id, () => undefined);
    for (const revision of [1, 2, 3])
      expect(await record({ ...answer, revision })).toEqual({ stored: 0, repeated: 1, quarantined: 0 });
    expect(await record({ ...answer, identity: 'user|43' })).toEqual({ stored: 0, repeated: 1, quarantined: 0 });
    expect(await rowsOf(answer.tenant_id)).toEqual([]);
  });

  test('stays deleted when a newer revision waits for the lock of the deletion', async () => {
    const answer = anAcceptedAnswer({ state: 'partial' });
    await record(answer);
    const deletion = new Client({ connectionString: database.url });
    await deletion.connect();
    await deletion.query('begin');
    await deletion.query('delete from answers where id = $1', [answer.id]);
    await deletion.query('insert into deleted_answers values ($1, $2, now())', [answer.tenant_id, answer.id]);
    const recording = record({ ...answer, revision: 2 });
    await waitFor(async () => {
      const [waiting] = await database.query<{ count: string }>(
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return Number(waiting?.count) > 0;
    });
    await deletion.query('commit');
    await deletion.end();
    await recording;
    expect(await rowsOf(answer.tenant_id)).toEqual([]);
    expect(await totalsOf(answer.tenant_id)).toMatchObject({ quarantined: 0 });
  });

  test('stays deleted when revisions race with deletions', async () => {
    const answers = Array.from({ length: 30 }, () => anAcceptedAnswer({ state: 'partial' }));
    await record(...answers);
    await Promise.all(
      answers.flatMap(answer => [
        record({ ...answer, revision: 2 }),
        deleteAnswer(app.forTenant(answer.tenant_id), answer.id, () => undefined),
      ]),
    );
    const left = await database.query('select id from answers where id = any($1)', [answers.map(({ id }) => id)]);
    expect(left).toEqual([]);
  });
});

describe('a flush that is recorded in parts', () => {
  const make = (count: number) => {
    const tenant_id = v7();
    const whole = flushOf(...Array.from({ length: count }, () => anAcceptedAnswer({ tenant_id })));
    const sealed = isolate({ v: 1, ...whole });
    const parts = sealed.map(({ flush, part_of }, index): Flush => {
      const answer = whole.answers[index] as AcceptedAnswer;
      return { flush, part_of, answers: [answer] };
    });
    return { tenant_id, whole, sealed, parts };
  };

  test('counts each answer once, for any order and repetition of parts and whole', async () => {
    const { tenant_id, whole, sealed, parts } = make(3);
    const [one, two, three] = parts as [Flush, Flush, Flush];
    expect(await recordAnswers(worker, [one])).toEqual({ stored: 1, repeated: 0, quarantined: 0 });
    expect(await recordAnswers(worker, [whole])).toEqual({ stored: 0, repeated: 0, quarantined: 0 });
    await recordAnswers(worker, [one]);
    await Promise.all([
      recordAnswers(worker, [two]),
      recordAnswers(worker, [two]),
      recordAnswers(worker, [three, one]),
    ]);
    for (const answer of sealed) await quarantineEncoded(worker, answer, 'too late');
    expect(await totalsOf(tenant_id)).toMatchObject({ stored: 3, repeated: 0, quarantined: 0 });
    expect(await quarantineOf(tenant_id)).toEqual([]);
  });

  test('has no effect if it was recorded whole before', async () => {
    const { tenant_id, whole, sealed, parts } = make(2);
    await recordAnswers(worker, [whole]);
    for (const part of parts) await recordAnswers(worker, [part]);
    for (const answer of sealed) await quarantineEncoded(worker, answer, 'too late');
    expect(await totalsOf(tenant_id)).toMatchObject({ stored: 2, repeated: 0, quarantined: 0 });
  });

  test.each([1, 2, 3, 4, 5])('counts each answer once while whole and parts race (%i)', async () => {
    const { tenant_id, whole, parts } = make(4);
    await Promise.all([whole, ...parts, whole].map(flush => recordAnswers(worker, [flush])));
    for (const part of parts) await recordAnswers(worker, [part]);
    expect(await totalsOf(tenant_id)).toMatchObject({ stored: 4, repeated: 0, quarantined: 0 });
  });

  test('quarantines an abandoned answer unchanged, once, with the reason', async () => {
    const tenant_id = v7();
    const awkward = anAcceptedAnswer({ tenant_id, comment: 'a\u0000b \ud800 Grüße 🙂 \\u0000' });
    const [sealed] = isolate({ v: 1, ...flushOf(awkward) });
    if (!sealed) throw new Error('an answer makes a part');
    const twice = [0, 1].map(() => quarantineEncoded(worker, sealed, 'it died\u0000 of it'));
    expect((await Promise.all(twice)).map(counts => counts.quarantined).sort()).toEqual([0, 1]);
    const entries = await quarantineOf(tenant_id);
    expect(entries).toMatchObject([{ reason: 'unprocessable', detail: 'it died of it', answer_id: awkward.id }]);
    expect(JSON.parse(entries[0]?.payload ?? '')).toEqual(awkward);
    expect(await totalsOf(tenant_id)).toMatchObject({ stored: 0, quarantined: 1 });
  });

  test('leaves an abandoned replay in the quarantine, counted once', async () => {
    const { tenant_id, sealed } = make(1);
    await quarantineEncoded(worker, sealed[0] as never, 'first');
    const [entry] = await quarantineOf(tenant_id);
    const replay = { ...(JSON.parse(entry?.payload ?? '') as AcceptedAnswer), replay_of: entry?.id as string };
    const [again] = isolate({ v: 1, ...flushOf(replay) });
    await quarantineEncoded(worker, again as never, 'again');
    expect(await quarantineOf(tenant_id)).toEqual([entry]);
    expect(await totalsOf(tenant_id)).toMatchObject({ stored: 0, quarantined: 1 });
  });
});

describe('an answer with its key', () => {
  const REVOKED_AT = new Date(Date.now() - 3_600_000);
  const at = (seconds: number) => new Date(REVOKED_AT.getTime() + seconds * 1000).toISOString();

  /** A tenant with a key that has these column values. */
  const keyWith = async (times: Record<string, Date | null>) => {
    const tenant = await makeTenant({ database, seals: createSeals({ current: 'k'.repeat(44), others: [] }) });
    const key_id = uuidOfKey(tenant.key);
    for (const [column, time] of Object.entries(times))
      await database.query(`update api_keys set ${column} = $2 where id = $1`, [key_id, time]);
    return { tenant_id: tenant.uuid, key_id };
  };
  const reasonsOf = async (tenantId: string) => (await quarantineOf(tenantId)).map(({ reason }) => reason);

  test.each(['revoked_at', 'expires_at'])(
    'is stored up to 60 s after %s, later it goes to the quarantine',
    async end => {
      const key = await keyWith({ [end]: REVOKED_AT });
      const answers = [-5, 59, 60, 61].map(seconds => anAcceptedAnswer({ ...key, received_at: at(seconds) }));
      expect(await record(...answers)).toEqual({ stored: 3, repeated: 0, quarantined: 1 });
      const late = answers[3] as AcceptedAnswer;
      expect(await quarantineOf(key.tenant_id)).toMatchObject([{ reason: 'key-revoked', answer_id: late.id }]);
      expect((await rowsOf(key.tenant_id)).map(({ id }) => id)).toEqual(answers.slice(0, 3).map(({ id }) => id));
      expect(await totalsOf(key.tenant_id)).toMatchObject({ stored: 3, quarantined: 1 });
    },
  );

  test('of a key that did not end, or of the previous version without a key, is stored', async () => {
    const open = await keyWith({});
    const later = await keyWith({ expires_at: new Date(Date.now() + 3_600_000) });
    const { tenant_id } = await keyWith({ revoked_at: REVOKED_AT });
    const received_at = new Date().toISOString();
    const answers = [open, later, { tenant_id }].map(key => anAcceptedAnswer({ ...key, received_at }));
    expect(await record(...answers)).toEqual({ stored: 3, repeated: 0, quarantined: 0 });
  });

  test('with a former secret is quarantined 60 s after the overlap, unless the API had the new one', async () => {
    const key = await keyWith({ previous_valid_until: REVOKED_AT });
    const received_at = at(61);
    const unaware = anAcceptedAnswer({ ...key, received_at });
    const outdated = anAcceptedAnswer({ ...key, received_at, key_overlap_until: at(-3600) });
    const aware = anAcceptedAnswer({ ...key, received_at, key_overlap_until: at(0) });
    const early = anAcceptedAnswer({ ...key, received_at: at(60) });
    expect(await record(unaware, outdated, aware, early)).toEqual({ stored: 2, repeated: 0, quarantined: 2 });
    expect(await reasonsOf(key.tenant_id)).toEqual(['key-revoked', 'key-revoked']);
    expect((await rowsOf(key.tenant_id)).map(({ id }) => id).sort()).toEqual([aware.id, early.id].sort());
  });

  test("is stored when it is replayed, on the operator's authority", async () => {
    const key = await keyWith({ revoked_at: REVOKED_AT });
    await record(anAcceptedAnswer({ ...key, received_at: at(61) }));
    const [entry] = await quarantineOf(key.tenant_id);
    expect(presentQuarantined(entry as never).payload.key_id).toBe(toTypeId('key', key.key_id));
    const replay = replayOf(entry as never);
    expect(await record(replay)).toEqual({ stored: 1, repeated: 0, quarantined: 0 });
    expect(await quarantineOf(key.tenant_id)).toEqual([]);
    expect(await totalsOf(key.tenant_id)).toEqual({ stored: 1, repeated: 0, quarantined: 0, rejected: 0 });
  });

  test('is quarantined once, even with other faults', async () => {
    const key = await keyWith({ revoked_at: REVOKED_AT });
    const answer = anAcceptedAnswer({ ...key, received_at: at(61) });
    const counts = await recordAnswers(worker, [flushOf(answer)], new Map([[answer, 'not storable']]));
    expect(counts).toEqual({ stored: 0, repeated: 0, quarantined: 1 });
    expect(await reasonsOf(key.tenant_id)).toEqual(['key-revoked']);
  });
});
