/** What goes over the wire, under the names that it has there. Every time is RFC 3339 in UTC. */

/** A token for one user: what the tenant's backend, or Parley for a public key, answers (specification 2). */
export interface Credential {
  access_token: string;
}

export type QuestionType =
  | 'nps'
  | 'csat'
  | 'ces'
  | 'rating'
  | 'thumbs'
  | 'single_choice'
  | 'multi_choice'
  | 'text'
  | 'date'
  | 'consent'
  | 'statement';

/** What a question type is set to; which members there are follows from the type. */
export interface QuestionConfig {
  scale?: number;
  style?: 'number' | 'smiley' | 'star';
  labels?: { low?: string; high?: string };
  options?: { id: string; label: string }[];
  allow_other?: boolean;
  shuffle?: boolean;
  min?: number;
  max?: number;
  min_length?: number;
  max_length?: number;
  input?: 'text' | 'email' | 'url' | 'number';
  url?: string;
}

/** One input of a card; the question itself is the step `main`. */
export interface CardStep {
  key: string;
  type: QuestionType;
  title: string;
  description: string;
  config: QuestionConfig;
  required: boolean;
  show_if: unknown;
}

/** A question as one user gets to see it. */
export interface Card {
  id: string;
  question_id: string;
  question_version: number;
  kind: 'question' | 'reply';
  steps: CardStep[];
  locale: string;
  priority: number;
  expires_at: string | null;
  reply: unknown;
}

export interface CardQuery {
  /** BCP 47. */
  locale?: string;
  platform?: string;
  app_version?: string;
  /** 1 to 20. */
  limit?: number;
}

export type AnswerState = 'seen' | 'dismissed' | 'partial' | 'completed';
export type AnswerValue =
  | number
  | boolean
  | string
  | { option_id?: string; option_ids?: string[]; other_text?: string };

/** The record of one card view, whole: each sync carries everything, and the highest revision wins. */
export interface NewAnswer {
  /** A UUID that the client makes (`newAnswerId`). */
  id: string;
  revision: number;
  /** With an API key alone: whose answer it is. */
  identity?: string;
  card_id?: string;
  question_id: string;
  question_version: number;
  state: AnswerState;
  /** By step. */
  values?: Record<string, AnswerValue>;
  comment?: string | null;
  displayed_at?: string | null;
  answered_at?: string | null;
  duration_ms?: number | null;
  metadata?: Record<string, string | number | boolean>;
}

/** What became of one item of a sync. */
export interface Receipt {
  id: string | null;
  revision: number | null;
  status: 'accepted' | 'duplicate' | 'superseded' | 'rejected';
  code?: string;
  detail?: string;
  pointer?: string;
}

export interface Answer extends Required<Omit<NewAnswer, 'identity'>> {
  identity: string;
  identity_verified: boolean;
  received_at: string;
  stored_at: string;
  updated_at: string;
  clock_skew_ms: number | null;
  tags: string[];
  /** False while another answer to the same card is counted in the results. Absent from servers before 0.2. */
  counted?: boolean;
  status: 'stored';
}

/** What a public access token may know of an answer. */
export interface AnswerStatus {
  id: string;
  state: AnswerState;
  status: 'stored';
}

export type ConversationStatus = 'open' | 'pending' | 'resolved';
type AuthorType = 'user' | 'member' | 'api' | 'system';

export interface Conversation {
  id: string;
  identity: string;
  identity_verified: boolean;
  subject: string;
  status: ConversationStatus;
  /** For the team alone, as are the next two. */
  priority?: 'none' | 'low' | 'medium' | 'high' | 'urgent';
  assignee_id?: string | null;
  tags?: string[];
  source: { type: 'user' | 'api' | 'member' };
  last_message: { seq: number; preview: string; author_type: AuthorType; at: string };
  message_count: number;
  /** Of the caller's side. */
  unread_count: number;
  waiting_since: string | null;
  first_reply_at: string | null;
  resolved_at: string | null;
  previous_id: string | null;
  created_at: string;
  updated_at: string;
  last_activity_at: string;
}

export interface ConversationQuery {
  status?: ConversationStatus;
  unread?: boolean;
  updated_since?: string;
  /** The size of a page, 1 to 100; 10 where absent. */
  limit?: number;
  cursor?: string;
}

export interface NewConversation {
  subject?: string;
  message: string;
  /** Made by the client where absent; the same one again gives the first conversation. */
  client_message_id?: string;
}

export interface Message {
  id: string;
  conversation_id: string;
  seq: number;
  author: { type: AuthorType; id: string | null; name: string | null };
  kind: 'reply' | 'note' | 'event';
  body: string;
  format: 'text' | 'markdown';
  client_message_id: string | null;
  created_at: string;
  edited_at: string | null;
  redacted: boolean;
}

export interface MessageQuery {
  /** Only what follows the reply of this number. */
  after_seq?: number;
  limit?: number;
  cursor?: string;
}

export interface NewMessage {
  body: string;
  format?: 'text' | 'markdown';
  /** Made by the client where absent; the same one again gives the first message. */
  client_message_id?: string;
}

/** Whom an access token speaks for. */
/** Something known of a user, such as a plan or a number of seats. */
export type Attribute = string | number | boolean;
/** What is known of a user, by name. */
export type Attributes = Record<string, Attribute>;
/** A change of attributes: null removes one; one that is not named stays. */
export type AttributesPatch = Record<string, Attribute | null>;

export interface Me {
  credential: 'access-token' | 'public-access-token';
  tenant_id: string;
  identity: string;
  identity_verified: boolean;
  expires_at: string;
}
