import { v7 } from 'uuid';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AcceptedAnswer } from '../../../src/domain/answers/answers.ts';
import { DAY_MS } from '../../../src/domain/durations.ts';
import { deleteAnswer, listAnswers } from '../../../src/storage/answers/answers.ts';
import { recordAnswers } from '../../../src/storage/answers/recording.ts';
import { updateConversation } from '../../../src/storage/conversations/conversation-changes.ts';
import { listConversations } from '../../../src/storage/conversations/conversation-lists.ts';
import type { Author } from '../../../src/storage/conversations/conversation-rows.ts';
import { insertConversation } from '../../../src/storage/conversations/conversation-starts.ts';
import { deleteConversation } from '../../../src/storage/conversations/conversations.ts';
import { changeMessage } from '../../../src/storage/conversations/message-edits.ts';
import { type Added, insertMessage } from '../../../src/storage/conversations/messages.ts';
import type { TenantStorage } from '../../../src/storage/database/orm.ts';
import { toTsvector, UNMARKED_TEXTS } from '../../../src/storage/search/lexemes.ts';
import { eraseDeletedTenant } from '../../../src/storage/upkeep/deleted-tenants.ts';
import { createDatabase } from '../../support/database.ts';
import { anAcceptedAnswer } from '../../support/make.ts';
import { findUnindexed } from '../../support/words.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const app = database.storage();
const worker = database.storage('parley_worker');
const TEAM: Author = { type: 'api', id: v7(), name: null };
const WEEK_MS = 7 * DAY_MS;
const ADA = { identity: 'ada', verified: true };

let tenant: TenantStorage;
afterEach(() => void vi.useRealTimers());
beforeEach(() => {
  tenant = app.forTenant(v7());
});

/** A later time of receipt than that of the first sync: the words stay at the first. */
const later = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

/** Stores an answer with a comment as the worker does. */
async function store(comment: string | null, more: Partial<AcceptedAnswer> = {}): Promise<AcceptedAnswer> {
  const answer = anAcceptedAnswer({ tenant_id: tenant.tenantId, comment, ...more });
  await recordAnswers(worker, [{ flush: v7(), answers: [answer] }]);
  return answer;
}

const searchAnswers = async (q: string, whose = tenant): Promise<string[]> =>
  (await listAnswers(whose, { q }, 100, null)).rows.map(row => row.comment ?? '');
const start = async (subject: string, message: string): Promise<string> =>
  (await insertConversation(tenant, ADA, TEAM, { subject, message })).conversation.id;
const searchConversations = async (q: string, whose = tenant): Promise<string[]> =>
  (await listConversations(whose, { side: 'team', q }, 100, null)).rows.map(({ id }) => id);
const countWords = async (table: 'answer_words' | 'message_words'): Promise<number> =>
  (await database.query(`select from ${table} where tenant_id = $1`, [tenant.tenantId])).length;
const reply = (body: string) => ({ body, format: 'text', kind: 'reply' }) as const;

describe('answers', () => {
  test('are found by words and prefixes in any order, without case and accents', async () => {
    await store('Der Export für Müller fehlt');
    await store('Der Import klappt');
    expect(await searchAnswers('mueller EXP')).toEqual(['Der Export für Müller fehlt']);
    expect(await searchAnswers('der')).toHaveLength(2);
    expect(await searchAnswers('port')).toEqual([]);
    expect(await searchAnswers('???')).toEqual([]);
  });

  test('are found only if they have every word of a long search, also the last and shortest', async () => {
    const words = Array.from('abcdefghijklmnopqrstuvwxy', (letter, index) => letter + 'x'.repeat(25 - index));
    for (const missing of [0, 12, 24]) await store(words.toSpliced(missing, 1).join(' '));
    const complete = words.toReversed().join(' ');
    await store(complete);
    expect(await searchAnswers(words.join(' '))).toEqual([complete]);
  });

  test('are found in whichever week they were indexed, also without its mark', async () => {
    const endings = new Set<string>();
    const now = Date.now();
    for (const weeks of [-30, -2, -1, 0]) {
      vi.setSystemTime(now + weeks * WEEK_MS);
      for (let texts = 0; texts < UNMARKED_TEXTS; texts++) toTsvector(tenant.tenantId, 'another');
      const { id } = await store('needle');
      const [row] = await database.query<{ words: string }>('select words::text from answer_words where id = $1', [id]);
      endings.add(/^'.{4}needle(?<mark>[A-Z]{2})'$/.exec(row?.words ?? '')?.groups?.mark ?? '');
    }
    vi.useRealTimers();
    expect([...endings].filter(ending => ending !== '')).toHaveLength(4);
    await database.query(
      `update answer_words set words = array_to_tsvector(array(select regexp_replace(word, '[A-Z]{2}$', '') from unnest(tsvector_to_array(words)) as word))
       where id in (select id from answer_words where tenant_id = $1 order by received_at limit 1)`,
      [tenant.tenantId],
    );
    for (const q of ['needle', 'nee', 'NEEDLE']) expect(await searchAnswers(q)).toHaveLength(4);
    for (const mark of endings) expect(await searchAnswers(`needle${mark}`)).toEqual([]);
  });

  test('are found by a text answer and by the words of "other"', async () => {
    await store(null, { values: { main: 'in a text' } });
    await store(null, { values: { main: { option_ids: ['a'], other_text: 'in other words' } } });
    expect(await searchAnswers('text')).toHaveLength(1);
    expect(await searchAnswers('other')).toHaveLength(1);
  });

  test('are found by the words of their last revision only', async () => {
    const first = await store('hello', { state: 'partial' });
    await store('goodbye', { ...first, comment: 'goodbye', revision: 2, content_hash: 'b', received_at: later(1) });
    expect([await searchAnswers('hello'), await searchAnswers('goodbye')]).toEqual([[], ['goodbye']]);
    expect(await countWords('answer_words')).toBe(1);
    await store(null, { ...first, comment: null, revision: 3, content_hash: 'c', received_at: later(2) });
    expect(await countWords('answer_words')).toBe(0);
  });

  test('that occur several times in one batch have the words of the last', async () => {
    const first = anAcceptedAnswer({ tenant_id: tenant.tenantId, comment: 'one', state: 'partial' });
    const second = { ...first, comment: 'two', revision: 2, content_hash: 'b', received_at: later(1) };
    const third = { ...first, comment: null, revision: 3, content_hash: 'c', received_at: later(2) };
    await recordAnswers(worker, [{ flush: v7(), answers: [first, second] }]);
    expect([await searchAnswers('one'), await searchAnswers('two')]).toEqual([[], ['two']]);
    await recordAnswers(worker, [{ flush: v7(), answers: [third, { ...third, comment: 'four', revision: 4 }] }]);
    expect([await searchAnswers('two'), await searchAnswers('four')]).toEqual([[], ['four']]);
    expect(await countWords('answer_words')).toBe(1);
  });

  test('leave no word behind when they are deleted by the team or by retention', async () => {
    const { id } = await store('deleted');
    await store('expired', { received_at: new Date(0).toISOString() });
    await deleteAnswer(tenant, id, () => undefined);
    expect(await countWords('answer_words')).toBe(1);
    await database.query(
      "insert into tenants (id, name, retention_answers_days, created_at) values ($1, 'x', 30, now())",
      [tenant.tenantId],
    );
    await worker.query('select expire_answers($1, 100, now())', [tenant.tenantId]);
    expect(await countWords('answer_words')).toBe(0);
  });
});

describe('conversations', () => {
  test('are found by words of the subject, or of one message or note', async () => {
    const id = await start('Export kaputt', 'Bitte um Hilfe');
    await insertMessage(tenant, id, undefined, TEAM, { body: 'wartet auf Müller', format: 'text', kind: 'note' });
    for (const q of ['kaputt export', 'hilf bitte', 'mueller'])
      expect([q, await searchConversations(q)]).toEqual([q, [id]]);
    expect(await searchConversations('export hilfe')).toEqual([]);
  });

  test('are found by the current texts of messages and subject', async () => {
    const id = await start('before', 'first');
    const { message } = (await insertMessage(tenant, id, undefined, TEAM, reply('typo'))) as Added;
    await changeMessage(tenant, { conversationId: id, messageId: message.id, owner: undefined }, TEAM, {
      body: 'corrected',
      format: undefined,
    });
    await updateConversation(tenant, { id, owner: undefined }, TEAM, { subject: 'after' }, () => undefined);
    for (const gone of ['before', 'typo']) expect(await searchConversations(gone)).toEqual([]);
    for (const there of ['after', 'corrected', 'first']) expect(await searchConversations(there)).toEqual([id]);
    await changeMessage(tenant, { conversationId: id, messageId: message.id, owner: undefined }, TEAM, 'redact');
    expect(await searchConversations('corrected')).toEqual([]);
  });

  test('are not found by events', async () => {
    const id = await start('', 'hello');
    await updateConversation(tenant, { id, owner: undefined }, TEAM, { status: 'resolved' }, () => undefined);
    expect(await searchConversations('resolved')).toEqual([]);
  });

  test('leave no word behind when they are deleted', async () => {
    const id = await start('subject', 'message');
    expect(await countWords('message_words')).toBe(2);
    await deleteConversation(tenant, id, () => undefined);
    expect(await countWords('message_words')).toBe(0);
  });
});

test('words of another tenant are not found, even if both have the same tag, nor without a tenant', async () => {
  await store('needle');
  await start('', 'needle');
  const own = await database.query<{ words: string }>('select words::text from answer_words where tenant_id = $1', [
    tenant.tenantId,
  ]);
  const stranger = app.forTenant(v7());
  const terms = [[`${own[0]?.words}:*`]];
  expect(await tenant.query('select found from search_answers($1, null, null, 10, 10)', terms)).toHaveLength(1);
  expect(await tenant.query('select search_messages($1, 10, 10)', terms)).toHaveLength(1);
  for (const other of [stranger, app]) {
    expect(await other.query('select found from search_answers($1, null, null, 10, 10)', terms)).toEqual([]);
    expect(await other.query('select search_messages($1, 10, 10)', terms)).toEqual([]);
  }
  expect([await searchAnswers('needle', stranger), await searchConversations('needle', stranger)]).toEqual([[], []]);
});

test('a deleted tenant leaves no word behind', async () => {
  await store('some words');
  await start('and', 'more');
  await database.query('insert into deleted_tenants values ($1, now())', [tenant.tenantId]);
  for await (const _ of eraseDeletedTenant(worker, tenant.tenantId));
  expect([await countWords('answer_words'), await countWords('message_words')]).toEqual([0, 0]);
});

test('the words of every text are written with it', async () => {
  const { id: answer } = await store('some words');
  const id = await start('about', 'it');
  await updateConversation(tenant, { id, owner: undefined }, TEAM, { subject: 'again' }, () => undefined);
  expect(await findUnindexed(database, tenant.tenantId)).toEqual([]);
  expect([await searchConversations('again'), await searchConversations('about')]).toEqual([[id], []]);
  await database.query('delete from answer_words where id = $1', [answer]);
  expect(await findUnindexed(database, tenant.tenantId)).toEqual([{ kind: 'answer', id: answer }]);
});
