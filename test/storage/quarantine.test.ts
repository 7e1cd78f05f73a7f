import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import type { AcceptedAnswer } from '../../src/domain/answers/answers.ts';
import { presentQuarantined, replayOf } from '../../src/domain/answers/ingestion.ts';
import { toTypeId } from '../../src/domain/ids.ts';
import { createSeals } from '../../src/platform/secrets.ts';
import { isolate } from '../../src/queue/isolation.ts';
import { type Flush, quarantineEncoded, recordAnswers, rehearse } from '../../src/storage/answers/recording.ts';
import { createDatabase } from '../support/database.ts';
import { anAcceptedAnswer, makeTenant, uuidOfKey } from '../support/make.ts';
import { recordingOf } from '../support/recording.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const { worker, flushOf, record, rowsOf, totalsOf, quarantineOf, cardRecordsOf } = recordingOf(database);

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

  test('with a former secret is quarantined 60 s after the overlap, unless the API already knew of the overlap', async () => {
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
