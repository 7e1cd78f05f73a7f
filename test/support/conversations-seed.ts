/**
 * Returns a statement that inserts $1 open conversations with one message each into the only tenant. Latest activity first
 * is the order of their numbers: the identities are `user|1`, `user|2` and so on. The message of number `needle` ends with
 * this word. Their words are not indexed.
 */
export const seedConversations = (needle = 0): string => `
with tenant as (select id from tenants), made as (
  insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, assignee_id, tags,
    source_type, last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread,
    team_unread, created_at, updated_at, team_updated_at, last_activity_at)
  select tenant.id, gen_random_uuid(), 'user|' || at, true, '', 'open', 'none', null, '{}', 'user', 1, 0,
    'This is message ' || at, 'user', 1, 1, 0, 0, active, active, active, active
  from tenant, generate_series(1, $1::int) as at, lateral (select now() - at * interval '1 second' as active) as clock
  returning tenant_id, id, identity, last_preview, created_at
)
insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, author_id, body, format,
  created_at, redacted)
select tenant_id, gen_random_uuid(), id, 1, 0, 'reply', 'user', identity,
  last_preview || case when identity = 'user|${needle}' then ' needle' else '' end, 'text', created_at, false
from made`;
