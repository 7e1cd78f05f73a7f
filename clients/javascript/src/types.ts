/** Types of the API, with its names. Times are RFC 3339 in UTC. */

/** Token response of the tenant's backend or, for a public key, of Parley (specification 2). */
export interface Credential {
  access_token: string;
  /** Remaining lifetime in seconds, which does not depend on the device's clock. */
  expires_in?: number;
  /** False if the user is only claimed (`publicTokens`); such users are different from verified ones of that name. */
  verified?: boolean;
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

/** Config of a question; its members depend on the type. */
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

/** How a condition compares the value of a step. */
export type Operator =
  | 'answered'
  | 'not_answered'
  | 'eq'
  | 'ne'
  | 'lt'
  | 'lte'
  | 'gt'
  | 'gte'
  | 'in'
  | 'contains_any'
  | 'contains_all';

/** Compares the value of an earlier step with a value, the id of an option, or a list of these. */
export interface Condition {
  step: string;
  op: Operator;
  /** A list for `in`, `contains_any` and `contains_all`; absent for `answered` and `not_answered`. */
  value?: Operand | Operand[];
}
export type Operand = number | boolean | string;

/** When a step is shown: if one condition holds, or all or any of several. */
export type ShowIf = Condition | { all: Condition[] } | { any: Condition[] };

/** One input of a card; the question is the step `main`. */
export interface CardStep {
  key: string;
  type: QuestionType;
  title: string;
  description: string;
  config: QuestionConfig;
  required: boolean;
  /** null: always shown. */
  show_if: ShowIf | null;
}

/** Text shown after the answer. `link.url` starts with `https://` or `http://`. */
export interface Thanks {
  title: string;
  body?: string | null;
  link?: { label: string; url: string } | null;
}

export type Placement =
  | 'inline'
  | 'popover-top-left'
  | 'popover-top-center'
  | 'popover-top-right'
  | 'popover-bottom-left'
  | 'popover-bottom-center'
  | 'popover-bottom-right'
  | 'modal'
  | 'button';

/** The tenant's appearance of cards; null: the view's default. */
export interface Appearance {
  /** `auto` follows the visitor's system, `page` the background of the page. */
  theme: 'auto' | 'light' | 'dark' | 'page';
  /** Colors as `#rrggbb`. */
  accent: string | null;
  background: string | null;
  text: string | null;
  /** Pixels, 0 to 24. */
  radius: number | null;
  font: 'inherit' | 'system';
  placement: Placement;
}

/** How a trigger compares a property of an event, or the URL of the page. */
export type TriggerOperator =
  | 'eq'
  | 'ne'
  | 'in'
  | 'not_in'
  | 'lt'
  | 'lte'
  | 'gt'
  | 'gte'
  | 'contains'
  | 'starts_with'
  | 'ends_with'
  | 'set'
  | 'not_set';

/** Compares a property of an event. */
export interface PropertyCondition {
  property: string;
  op: TriggerOperator;
  /** A list for `in` and `not_in`; absent for `set` and `not_set`. */
  value?: Operand | Operand[];
}

/** Occurrence on the device that shows a card: an event, a click, or, with `url` only, a page view. */
export interface Trigger {
  event: string | null;
  /** CSS selector. */
  click: string | null;
  /** All of them must hold for the event. */
  where: PropertyCondition[];
  /** Only on pages with this URL. */
  url: { op: 'eq' | 'contains' | 'starts_with' | 'ends_with'; value: string } | null;
  /** The card is shown the n-th time. */
  count: number;
  /** Seconds between the last event and the card. */
  delay_s: number;
  /** Events that cancel the card during the delay. */
  cancel_on: string[];
}

/** A question as shown to one user. */
export interface Card {
  id: string;
  question_id: string;
  question_version: number;
  kind: 'question' | 'reply';
  steps: CardStep[];
  locale: string;
  /** null or absent: shown at once. Servers send others only to `parley-feedback/triggers`. */
  trigger?: Trigger | null;
  /** Whether the tenant's cooldown applies: show one such card per fetch. Absent from servers before 0.3. */
  in_cooldown?: boolean;
  priority: number;
  expires_at: string | null;
  /** null or absent: the view's own text. Absent from servers before 0.3. */
  thanks?: Thanks | null;
  /** null or absent: the tenant's. Absent from servers before 0.3. */
  placement?: Placement | null;
  reply: unknown;
}

export interface CardQuery {
  /** BCP 47. */
  locale?: string;
  platform?: string;
  app_version?: string;
  /** 1 to 20. */
  limit?: number;
  /** Also lists cards with a trigger; set by `parley-feedback/triggers`. */
  triggers?: boolean;
}

export type AnswerState = 'seen' | 'dismissed' | 'partial' | 'completed';
export type AnswerValue =
  | number
  | boolean
  | string
  | { option_id?: string; option_ids?: string[]; other_text?: string };

/** Complete record of one card view. Each sync sends the whole record; the highest revision wins. */
export interface NewAnswer {
  /** Client-generated UUID (`newId`). */
  id: string;
  revision: number;
  /** With an API key only: the user who answered. */
  identity?: string;
  card_id?: string;
  question_id: string;
  question_version: number;
  state: AnswerState;
  /** Values by step key. */
  values?: Record<string, AnswerValue>;
  comment?: string | null;
  displayed_at?: string | null;
  answered_at?: string | null;
  duration_ms?: number | null;
  metadata?: Record<string, string | number | boolean>;
}

/** Result of one item of a sync. */
export interface Receipt {
  id: string | null;
  revision: number | null;
  status: 'accepted' | 'duplicate' | 'superseded' | 'rejected';
  code?: string;
  detail?: string;
  pointer?: string;
}

/** An answer as its user reads it. */
export interface Answer extends Required<Omit<NewAnswer, 'identity'>> {
  identity: string;
  identity_verified: boolean;
  received_at: string;
  stored_at: string;
  clock_skew_ms: number | null;
  /** False beyond the limit of the question, and if another answer to the same card is counted in the results. Absent from servers before 0.2. */
  counted?: boolean;
  /** Whether it was completed beyond the limit of its question. Absent from servers before 0.3. */
  over_quota?: boolean;
  status: 'stored';
}

/** The fields of an answer visible to a public access token. */
export interface AnswerStatus {
  id: string;
  state: AnswerState;
  status: 'stored';
}

/** Only the team sees `snoozed`; its users see `open` or `pending`. */
export type ConversationStatus = 'open' | 'pending' | 'snoozed' | 'resolved';
type AuthorType = 'user' | 'member' | 'api' | 'system';

export interface Conversation {
  id: string;
  identity: string;
  identity_verified: boolean;
  subject: string;
  status: ConversationStatus;
  /** Team only, like the next five. Absent with servers before 0.3. */
  snoozed_until?: string | null;
  priority?: 'none' | 'low' | 'medium' | 'high' | 'urgent';
  assignee_id?: string | null;
  tags?: string[];
  /** Values of custom fields by key. Absent with servers before 0.3, like the next. */
  custom?: Record<string, string | number | boolean>;
  /** Time by which the waiting user should have a reply. */
  reply_due_at?: string | null;
  source: { type: 'user' | 'api' | 'member' };
  last_message: { seq: number; preview: string; author_type: AuthorType; at: string };
  message_count: number;
  /** From the caller's point of view. */
  unread_count: number;
  waiting_since: string | null;
  first_reply_at: string | null;
  resolved_at: string | null;
  previous_id: string | null;
  /** Absent with servers before 0.3. */
  merged_into_id?: string | null;
  created_at: string;
  updated_at: string;
  last_activity_at: string;
}

/** One value of a filter, or several, any of which may match. */
export type OneOrMore<Value> = Value | readonly Value[];

export interface ConversationQuery {
  status?: OneOrMore<ConversationStatus>;
  unread?: boolean;
  updated_since?: string;
  /** With `updated_since`: pages also have `deleted`, the ids of conversations that were deleted since. */
  deleted?: boolean;
  /** Page size, 1 to 100; defaults to 10. */
  limit?: number;
  cursor?: string;
}

export interface NewConversation {
  subject?: string;
  message: string;
  /** Generated by default; a repeated id returns the first conversation. */
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
  /** Members that a note mentions. Absent with servers before 0.3. */
  mentions?: string[];
  /** Only in events, which only the team sees. Absent with servers before 0.2. */
  event?: MessageEvent | null;
  created_at: string;
  edited_at: string | null;
  redacted: boolean;
}

/** A change of a conversation: values, not names. Members are given by id. */
export interface MessageEvent {
  field:
    | 'status'
    | 'snoozed_until'
    | 'assignee_id'
    | 'priority'
    | 'tags'
    | 'subject'
    | 'custom'
    | 'merged_into_id'
    | (string & {});
  from: unknown;
  to: unknown;
  reason: {
    type: 'member' | 'user' | 'timer' | 'macro' | 'merge' | 'rule' | (string & {});
    id: string | null;
    /** Only of an assignment rule that found no member. */
    code?: 'members-away' | 'members-full' | (string & {});
  };
}

export interface MessageQuery {
  /** Only messages after the reply with this sequence number. */
  after_seq?: number;
  /** Team only, with `after_seq`: only notes and events after this one. */
  after_note_seq?: number;
  /** `desc`: newest first. Defaults to `asc`. */
  order?: 'asc' | 'desc';
  limit?: number;
  cursor?: string;
}

export interface NewMessage {
  body: string;
  format?: 'text' | 'markdown';
  /** Generated by default; a repeated id returns the first message. */
  client_message_id?: string;
}

/** An attribute value, such as a plan or a number of seats. */
export type Attribute = string | number | boolean;
/** Attributes of a user by name. */
export type Attributes = Record<string, Attribute>;
/** Attribute changes: null removes an attribute; omitted ones are unchanged. */
export type AttributesPatch = Record<string, Attribute | null>;

/** The user an access token was issued for. */
export interface Me {
  credential: 'access-token' | 'public-access-token';
  tenant_id: string;
  identity: string;
  identity_verified: boolean;
  expires_at: string;
}
