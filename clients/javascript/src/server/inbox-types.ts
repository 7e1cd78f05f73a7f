import type { Conversation, Message, NewMessage } from '../types.ts';

export interface ConversationPatch {
  status?: Conversation['status'];
  /** Required with the status `snoozed`: 1 minute to 1 year ahead. */
  snoozed_until?: string;
  assignee_id?: string | null;
  /** Replaces all tags; not together with the next two. */
  tags?: string[];
  add_tags?: string[];
  remove_tags?: string[];
  priority?: NonNullable<Conversation['priority']>;
  subject?: string;
  /** Values of custom fields to set by key; null removes one. */
  custom?: CustomChange;
  /** Values that you have seen: if one has changed meanwhile, the change is refused with `conversation-changed`. */
  was?: ConversationSeen;
}

export type CustomChange = Record<string, string | number | boolean | null>;

/** One change of many conversations. */
export type BulkChange = Pick<
  ConversationPatch,
  'status' | 'snoozed_until' | 'assignee_id' | 'priority' | 'add_tags' | 'remove_tags' | 'custom'
>;

export interface BulkResult {
  id: string;
  status: 'changed' | 'unchanged' | 'not-found' | 'conflict';
  /** Only with `conflict`. */
  code?: 'invalid-transition' | 'too-many-tags' | 'custom-too-large' | (string & {});
}

export interface MacroChange {
  status?: Conversation['status'];
  /** Required with the status `snoozed`: seconds from when it is applied. */
  snooze_for_s?: number;
  assignee_id?: string | null;
  priority?: NonNullable<Conversation['priority']>;
  add_tags?: string[];
  remove_tags?: string[];
  custom?: CustomChange;
}

export interface NewMacro {
  name: string;
  shortcut?: string | null;
  /** May recall attributes of the user: `{{identity.attributes.plan|your plan}}`. */
  body?: string | null;
  kind?: 'reply' | 'note';
  changes?: MacroChange;
}

export interface Macro {
  id: string;
  name: string;
  shortcut: string | null;
  body: string | null;
  kind: 'reply' | 'note';
  changes: MacroChange;
  created_at: string;
  updated_at: string;
}

/** What the one who applies a macro has seen. */
export interface MacroApplication {
  /** The newest messages that you have seen. */
  after?: { seq: number; note_seq: number };
  /** Apply although somebody has written since. */
  force?: boolean;
}

export interface AppliedMacro {
  conversation: Conversation;
  /** Null for a macro without a body. */
  message: Message | null;
}

export interface ConversationSeen {
  status?: Conversation['status'];
  assignee_id?: string | null;
  priority?: NonNullable<Conversation['priority']>;
  subject?: string;
}

export type ServerMessage = NewMessage & {
  kind?: 'reply' | 'note';
  /** Members that a note mentions, `member_…`. */
  mentions?: string[];
  /** The newest messages that you have seen: if somebody has written since, the error is `conversation-moved`. */
  after?: { seq: number; note_seq: number };
  /** Write although somebody has written since. */
  force?: boolean;
};
