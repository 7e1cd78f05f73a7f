import type { ConversationFilter } from '../src/storage/conversations/conversation-lists.ts';
import { uuidOf } from './skewed.ts';

/** Members of the large tenant. */
export const INBOX_MEMBERS = Array.from({ length: 10 }, (_, number) => uuidOf(`member ${number}`));

/** Tenants next to the large one, and the number of conversations of each. */
const OTHERS = { tenants: 10_000, conversations: 20 };
const neighbour = (number: number): string => uuidOf(`tenant ${number} next to it`);

/** One of the tenants with few conversations. */
export const NEIGHBOUR = neighbour(0);

/**
 * Inserts conversations of tenants, ten seconds apart. One in 20 is open, unread and due, as many are pending, and the
 * others are resolved. One in 50 has a mention, one in 10 a tag, and 10 belong to each user.
 */
const FILL = `
  insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, assignee_id, tags,
    source_type, last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread,
    team_unread, mentioned, waiting_since, reply_due_at, created_at, updated_at, team_updated_at, last_activity_at)
  select tenant, gen_random_uuid(), 'user|' || n % greatest($3::int / 10, 1), true, 'Subject ' || n,
    (array['open', 'pending', 'resolved'])[least(1 + n % 20, 3)],
    (array['none', 'low', 'medium', 'high', 'urgent'])[1 + n / 7 % 5],
    case when n % 3 = 0 then null else ($2::uuid[])[1 + n / 11 % 10] end,
    case when n % 10 = 0 then array['vip'] else '{}' end, 'user', 1, 0, repeat('x', 100), 'user', 1, 0, 0,
    (n % 20 = 0)::int, case when n % 50 = 0 then ($2::uuid[])[1 + n / 50 % 10:1 + n / 50 % 10] else '{}' end,
    case when n % 20 = 0 then at end, case when n % 20 = 0 then at + interval '1 hour' end, at, at, at, at
  from unnest($1::uuid[]) as tenant, generate_series(1, $3::int) as n,
    lateral (select timestamptz '2026-01-01' + n * interval '10 seconds' as at) as time`;

/** Fills the inbox of one tenant, next to 10,000 tenants with few conversations. */
export async function fillInbox(
  query: (sql: string, params?: unknown[]) => Promise<unknown>,
  tenantId: string,
  conversations: number,
): Promise<void> {
  await query(FILL, [[tenantId], INBOX_MEMBERS, conversations]);
  const others = Array.from({ length: OTHERS.tenants }, (_, number) => neighbour(number));
  await query(FILL, [others, INBOX_MEMBERS, OTHERS.conversations]);
  await query('vacuum analyze conversations');
}

const [MEMBER = ''] = INBOX_MEMBERS;
const team = { side: 'team' } as const;
const open = { ...team, status: 'open' } as const;

/** The views of a member of a team: the four that everybody has, and six saved ones. */
export const INBOX_VIEWS = new Map<string, ConversationFilter>([
  ['mine', { ...open, assignee: MEMBER }],
  ['unassigned', { ...open, assignee: 'none' }],
  ['all', open],
  ['mentions', { ...open, mentioned: { memberId: MEMBER, isMentioned: true } }],
  ['urgent', { ...open, priority: 'urgent' }],
  ['unread', { ...open, unread: true }],
  ['high and unassigned', { ...open, assignee: 'none', priority: 'high' }],
  ['overdue', { ...open, overdue: true }],
  ['mine, pending', { ...team, status: 'pending', assignee: MEMBER }],
  ['pending, by users', { ...team, status: 'pending', source: 'user' }],
]);
