/** Statements that fill the first tenant with the data of a large one. */

/** 5,000 conversations or any other number (`$1`), one a minute. */
export const SEED_CONVERSATIONS = `
insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, assignee_id, tags,
  source_type, last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread,
  team_unread, waiting_since, created_at, updated_at, team_updated_at, last_activity_at)
select tenants.id, gen_random_uuid(), 'many|' || at, true, 'Subject ' || at, 'open', 'none', null, '{vip,billing}',
  'user', 1, 0, 'This is message ' || at, 'user', 1, 1, 0, 0, active, active, active, active, active
from tenants, generate_series(1, $1::int) as at, lateral (select now() - at * interval '1 minute' as active) as clock`;

/** Messages 2 to `$2` of the conversation `$1`, from both sides. */
export const SEED_THREAD = `
with made as (
  insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, author_id, body, format,
    created_at, redacted)
  select tenant_id, gen_random_uuid(), id, at, 0, 'reply', case when at % 2 = 0 then 'user' else 'api' end, 'ux|1',
    'Message ' || at || repeat(' and so on', at % 30), 'text', now() - ($2::int - at) * interval '1 minute', false
  from conversations, generate_series(2, $2::int) as at where id = $1
)
update conversations set last_seq = $2, last_preview = 'Message ' || $2, last_activity_at = now(), updated_at = now(),
  team_updated_at = now() where id = $1`;
