import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { updateConversation } from '../../src/storage/conversations/conversation-changes.ts';
import { type Author, type MessageContent, openWrite } from '../../src/storage/conversations/conversation-rows.ts';
import { insertConversation } from '../../src/storage/conversations/conversation-starts.ts';
import { changeMessage } from '../../src/storage/conversations/message-edits.ts';
import { type Added, insertMessage, markRead } from '../../src/storage/conversations/messages.ts';
import { insertTenant } from '../../src/storage/tenants/tenants.ts';
import { createDatabase } from '../support/database.ts';
import { findUnindexed } from '../support/words.ts';

const database = await createDatabase();
const storage = database.storage();
afterAll(() => database[Symbol.asyncDispose]());

const OWNER = { identity: 'user|42', verified: true };
const USER: Author = { type: 'user', id: 'user|42', name: null };
const TEAM: Author = { type: 'member', id: '0193a0e5-7b3c-7000-8000-000000000001', name: 'Ada' };
const A_WEEK_MS = 7 * 86_400_000;

const reply = (body: string): MessageContent => ({ body, format: 'text', kind: 'reply' });
const { id: tenantId } = await insertTenant(storage, 'Acme', new Date());
const tenant = storage.forTenant(tenantId);
const start = async () =>
  (await insertConversation(tenant, OWNER, USER, { subject: 'Help', message: 'one' })).conversation;

/** Executes a statement of the owner on a conversation. */
const alter = (sql: string, id: string) => database.query(`update conversations set ${sql} where id = $1`, [id]);

test('a write is visible as open before it reads the time', async () => {
  await tenant.transaction(async tx => {
    const isOpen = async () =>
      (await tx.query<{ open: boolean }>('select pg_current_xact_id_if_assigned() is not null as open'))[0]?.open;
    expect(await isOpen()).toBe(false);
    const now = await openWrite(tx);
    expect(await isOpen()).toBe(true);
    const [row] = await database.query<{ at: Date }>('select oldest_open_write() as at');
    expect(row?.at.getTime()).toBeLessThanOrEqual(now.getTime());
  });
});

/** Every kind of write, applied to a conversation of the user with one message. */
const WRITES: Record<string, (conversationId: string) => Promise<unknown>> = {
  'a conversation': start,
  'a reply of the user': id => insertMessage(tenant, id, OWNER, USER, reply('two')),
  'a reply of the team': id => insertMessage(tenant, id, undefined, TEAM, reply('two')),
  'a note': id => insertMessage(tenant, id, undefined, TEAM, { ...reply('two'), kind: 'note' }),
  'a follow-up conversation': async id => {
    await alter("status = 'resolved', resolved_at = now() - interval '31 days'", id);
    await insertMessage(tenant, id, OWNER, USER, reply('two'));
  },
  'an edited message': async id => {
    const { message } = (await insertMessage(tenant, id, OWNER, USER, reply('two'))) as Added;
    const where = { conversationId: id, messageId: message.id, owner: OWNER };
    await changeMessage(tenant, where, USER, { body: 'three', format: undefined });
  },
  'a changed subject': id => updateConversation(tenant, { id, owner: undefined }, TEAM, { subject: 'New' }, () => {}),
  'a read horizon': async id => {
    await insertMessage(tenant, id, undefined, TEAM, reply('two'));
    await markRead(tenant, id, OWNER, 'user', 2);
  },
};

describe('with the clock of the process a week ahead', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + A_WEEK_MS }));
  afterEach(() => void vi.useRealTimers());

  test.each(Object.keys(WRITES))('%s has the time of the database, and its words are indexed with it', async name => {
    const { id } = await start();
    const [before] = await database.query<{ at: Date }>('select clock_timestamp()::timestamptz(3) as at');
    await WRITES[name]?.(id);
    const rows = await database.query(
      `select from conversations where team_updated_at between $1 and clock_timestamp() and
         created_at <= clock_timestamp() and updated_at <= clock_timestamp()`,
      [before?.at],
    );
    expect(rows).toHaveLength(1);
    expect(await database.query('select from messages where created_at > clock_timestamp()')).toEqual([]);
    expect(await findUnindexed(database, tenantId)).toEqual([]);
  });
});
