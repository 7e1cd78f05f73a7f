import fc from 'fast-check';
import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type AcceptedAnswer,
  type AnswerState,
  compareSyncs,
  storedState,
} from '../../../src/domain/answers/answers.ts';
import { deleteAnswer } from '../../../src/storage/answers/answers.ts';
import { recordAnswers } from '../../../src/storage/answers/recording.ts';
import { createDatabase } from '../../support/database.ts';
import { anAcceptedAnswer } from '../../support/make.ts';
import { recordingOf } from '../../support/recording.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const { worker, app, flushOf, record, rowsOf, totalsOf, quarantineOf, cardRecordsOf } = recordingOf(database);

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
        const fields = texts.map(([main, device_model, comment]) => ({
          values: { main },
          metadata: { device_model },
          comment,
        }));
        await record(...fields.map(each => anAcceptedAnswer({ ...each, tenant_id })));
        expect(await rowsOf(tenant_id)).toMatchObject(fields);
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
    await record(anAcceptedAnswer({ ...base, state: 'dismissed', values: {}, received_at: at(5) }));
    await record(anAcceptedAnswer({ ...base, state: 'partial', received_at: at(3) }));
    await record(anAcceptedAnswer({ ...base, state: 'seen', values: {}, received_at: at(4) }));
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
            .map(({ id, revision, identity, comment, ...sync }) => ({
              ...{ id, revision, state: storedState(sync), identity, comment },
            }))
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
