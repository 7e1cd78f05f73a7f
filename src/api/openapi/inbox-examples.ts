import type { IdPrefix } from '../../domain/ids.ts';

type IdOf = (prefix: IdPrefix) => string;

/** Changes of conversations, macros and views. */
function changeExamples(idOf: IdOf, at: string, conversation: object): Record<string, unknown> {
  const macro = {
    name: 'Where the export is',
    shortcut: 'export',
    body: 'You find it under Reports. Your plan: {{identity.attributes.plan|see Billing}}.',
    kind: 'reply',
    changes: { add_tags: ['export'] },
  };
  const view = {
    name: 'Urgent and unassigned',
    filter: { status: 'open', priority: 'urgent', assignee: 'none' },
    sort: 'reply_due_at',
    shared: false,
  };
  return {
    ConversationInput: { subject: 'Invoice', message: 'Where do I find my invoice?', client_message_id: 'm-1' },
    ConversationPatch: { status: 'resolved', add_tags: ['billing'], was: { status: 'open' } },
    ConversationSeen: { status: 'open' },
    BulkUpdate: { ids: [idOf('conversation')], change: { status: 'resolved', add_tags: ['billing'] } },
    BulkResults: { results: [{ id: idOf('conversation'), status: 'changed' }] },
    ConversationMerge: { into: idOf('conversation') },
    MacroInput: macro,
    MacroPatch: { shortcut: 'export' },
    Macro: { id: idOf('macro'), ...macro, created_at: at, updated_at: at },
    MacroApplication: { after: { seq: 2, note_seq: 1 } },
    AppliedMacro: { conversation, message: null },
    ViewInput: view,
    ViewPatch: { shared: true },
    View: { id: idOf('view'), ...view, created_at: at, updated_at: at },
    ViewCounts: {
      views: {
        mine: { count: 4, more: false },
        unassigned: { count: 12, more: false },
        all: { count: 1000, more: true },
        mentions: { count: 0, more: false },
        [idOf('view')]: { count: 2, more: false },
      },
    },
  };
}

/** Returns examples of conversations, their messages, macros and views. */
export function inboxExamples(idOf: IdOf, at: string, later: string): Record<string, unknown> {
  const conversation = {
    id: idOf('conversation'),
    identity: 'user|42',
    identity_verified: true,
    subject: 'Invoice',
    status: 'open',
    snoozed_until: null,
    priority: 'none',
    assignee_id: null,
    tags: [],
    custom: { order_number: 'A-1001' },
    reply_due_at: later,
    source: { type: 'user' },
    last_message: { seq: 1, preview: 'Where do I find my invoice?', author_type: 'user', at: at },
    message_count: 1,
    unread_count: 1,
    waiting_since: at,
    first_reply_at: null,
    resolved_at: null,
    previous_id: null,
    merged_into_id: null,
    created_at: at,
    updated_at: at,
    last_activity_at: at,
  };
  return {
    ...changeExamples(idOf, at, conversation),
    Conversation: conversation,
    UnreadCount: { count: 3, more: false },
    MessageInput: { body: 'Under Settings, Billing.', client_message_id: 'm-2' },
    MessagePatch: { body: 'Under Settings → Billing.' },
    Message: {
      id: idOf('message'),
      conversation_id: idOf('conversation'),
      seq: 2,
      author: { type: 'member', id: idOf('member'), name: 'Ada' },
      kind: 'reply',
      body: 'Under Settings, Billing.',
      format: 'text',
      client_message_id: 'm-2',
      mentions: [],
      event: null,
      created_at: later,
      edited_at: null,
      redacted: false,
    },
    ReadHorizon: { seq: 2 },
  };
}
