/** The columns that the list of conversations reads. */
export const COLUMNS = `id, identity, identity_verified, subject, status, priority, assignee_id, tags, source_type, last_seq,
  last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread, team_unread, waiting_since,
  first_reply_at, resolved_at, previous_id, created_at, updated_at, team_updated_at, last_activity_at`;

/**
 * The floor of a list: a prepared row comparison on the matching index, run as the owner, to whom no policy applies.
 */
export const RAW_KEYSET = {
  name: 'raw_keyset',
  text: `select ${COLUMNS} from conversations where tenant_id = $1 and (last_activity_at, id) < ($2, $3)
    order by last_activity_at desc, id desc limit 11`,
};
