import type { List } from '../pages.ts';
import type {
  Answer,
  Attributes,
  AttributesPatch,
  Conversation,
  ConversationQuery,
  Message,
  MessageQuery,
  NewAnswer,
  NewConversation,
  NewMessage,
  QuestionConfig,
  QuestionType,
  Receipt,
} from '../types.ts';

/** What a request carries beside its path and body. */
export interface RequestOptions {
  /** The entity tag that the resource must still have (`etagOf`); `precondition-failed` otherwise. */
  ifMatch?: string;
  /** With POST: the same key again gives the first reply, for 24 hours. Made by the client where absent. */
  idempotencyKey?: string;
}

/** With operations on one identity: the verified one of that name, or the claimed one. */
export interface IdentityOptions extends RequestOptions {
  verified?: boolean;
}

interface PageQuery {
  /** The size of a page, 1 to 100; 10 where absent. */
  limit?: number;
  cursor?: string;
}

export interface AnswerQuery extends PageQuery {
  question_id?: string;
  state?: Answer['state'];
  identity?: string;
  verified?: boolean;
  version?: number;
  tag?: string;
  written?: true;
  q?: string;
  updated_since?: string;
}

export interface ServerConversationQuery extends ConversationQuery {
  identity?: string;
  verified?: boolean;
  assignee?: string;
  tag?: string;
  priority?: NonNullable<Conversation['priority']>;
  source?: Conversation['source']['type'];
  q?: string;
  sort?: string;
}

export interface ConversationPatch {
  status?: Conversation['status'];
  assignee_id?: string | null;
  tags?: string[];
  priority?: NonNullable<Conversation['priority']>;
  subject?: string;
}

export type QuestionStatus = 'draft' | 'live' | 'paused' | 'closed' | 'archived';

export interface Frequency {
  repeat: 'once' | 'until_answered' | 'always';
  snooze_after_dismiss_days: number;
  ignore_cooldown: boolean;
}

export interface NewQuestion {
  type: QuestionType;
  title: string;
  name?: string;
  description?: string;
  config?: QuestionConfig;
  frequency?: Partial<Frequency>;
  allow_public?: boolean;
  priority?: number;
}

export interface Question extends Required<Omit<NewQuestion, 'frequency'>> {
  id: string;
  status: QuestionStatus;
  version: number;
  frequency: Frequency;
  created_at: string;
  updated_at: string;
  published_at: string | null;
  closed_at: string | null;
}

export interface QuestionQuery extends PageQuery {
  status?: QuestionStatus;
  type?: QuestionType;
  q?: string;
  include?: 'results';
}

export interface QuestionVersion extends Pick<Question, 'type' | 'title' | 'description' | 'config'> {
  question_id: string;
  version: number;
  created_at: string;
  changes: { pointer: string; before: unknown; after: unknown }[];
}

export interface Figures {
  displays: number;
  answered: number;
  response_rate: number | null;
  score: {
    measure: 'nps' | 'csat' | 'mean' | 'positive';
    value: number | null;
    answers: number;
    interval: { low: number; high: number } | null;
  } | null;
}

interface DetailedFigures extends Figures {
  values: { value: number | boolean | string; label?: string; count: number; share: number | null }[];
}

export interface Results extends DetailedFigures {
  question_id: string;
  type: QuestionType;
  from: string | null;
  to: string | null;
  group_by: 'day' | 'week' | 'month';
  version: number | null;
  verified: boolean | null;
  seen: number;
  dismissed: number;
  partial: number;
  completed: number;
  written: number;
  over_time: ({ start: string } & DetailedFigures)[];
  versions: ({ version: number } & DetailedFigures)[];
}

export interface ResultsQuery {
  from?: string;
  to?: string;
  group_by?: Results['group_by'];
  version?: number;
  verified?: boolean;
}

export interface NewIdentity {
  attributes?: Attributes;
  locale?: string | null;
  platform?: string | null;
  app_version?: string | null;
}

export interface IdentityPatch extends Omit<NewIdentity, 'attributes'> {
  attributes?: AttributesPatch;
}

export interface IdentityProfile {
  identity: string;
  verified: boolean;
  attributes: Attributes;
  locale: string | null;
  platform: string | null;
  app_version: string | null;
  first_seen_at: string | null;
  last_seen_at: string | null;
  answer_count: number;
  conversation_count: number;
  status: 'active';
}

/** What is wrong with a token, or that nothing is. */
export interface Inspection {
  valid: boolean;
  code: string | null;
  detail: string;
  header: Record<string, unknown> | null;
  claims: Record<string, unknown> | null;
  key_kind: 'server' | 'public' | null;
}

export interface Ingestion {
  oldest_queued_age_ms: number | null;
  queued: number;
  accepted: number;
  stored: number;
  repeated: number;
  quarantined: number;
  rejected: number;
  first_card_at: string | null;
}

export interface QuarantinedAnswer {
  id: string;
  answer_id: string;
  reason: string;
  detail: string;
  payload: Record<string, unknown>;
  quarantined_at: string;
}

type ServerAnswer = NewAnswer & { identity: string };
type ServerMessage = NewMessage & { kind?: 'reply' | 'note' };

/**
 * Every operation of an API key: the parts of its path, then its query or body, then `options`.
 *
 * Each rejects with a `ParleyError`, is repeated where that is safe, and needs the scope that the API's documents name.
 */
export interface Operations {
  /** Records answers for users, at most 100: one receipt an item, in order. Accepted means stored for good, soon. */
  recordAnswers(sync: { answers: ServerAnswer[] }): Promise<{ results: Receipt[] }>;
  /** Newest received first; with `updated_since` in the order of change. */
  listAnswers(query?: AnswerQuery): List<Answer>;
  readAnswer(id: string): Promise<Answer>;
  patchAnswer(id: string, patch: { tags: string[] }, options?: RequestOptions): Promise<Answer>;
  /** Its id stays taken. */
  deleteAnswer(id: string, options?: RequestOptions): Promise<void>;
  /** Says what is wrong with a token of one of your own keys. */
  inspectToken(body: { token: string }): Promise<Inspection>;
  /** Newest activity first. */
  listConversations(query?: ServerConversationQuery): List<Conversation>;
  createConversation(body: NewConversation & { identity: string }, options?: RequestOptions): Promise<Conversation>;
  readConversation(id: string): Promise<Conversation>;
  patchConversation(id: string, patch: ConversationPatch, options?: RequestOptions): Promise<Conversation>;
  deleteConversation(id: string, options?: RequestOptions): Promise<void>;
  /** Oldest first, with the team's notes. */
  listMessages(id: string, query?: MessageQuery): List<Message>;
  createMessage(id: string, message: ServerMessage, options?: RequestOptions): Promise<Message>;
  patchMessage(
    id: string,
    messageId: string,
    patch: Pick<NewMessage, 'body' | 'format'>,
    options?: RequestOptions,
  ): Promise<Message>;
  redactMessage(id: string, messageId: string): Promise<void>;
  /** Moves the team's read horizon. */
  markConversationRead(id: string, horizon: { seq: number }): Promise<void>;
  /** Newest first. */
  listQuestions(query?: QuestionQuery): List<Question & { results?: Figures & { answered_7_days: number } }>;
  /** A draft. */
  createQuestion(question: NewQuestion, options?: RequestOptions): Promise<Question>;
  readQuestion(id: string): Promise<Question>;
  patchQuestion(id: string, patch: Partial<NewQuestion>, options?: RequestOptions): Promise<Question>;
  /** A draft alone. */
  deleteQuestion(id: string, options?: RequestOptions): Promise<void>;
  cloneQuestion(id: string, options?: RequestOptions): Promise<Question>;
  /** Newest first. */
  listQuestionVersions(id: string, query?: PageQuery): List<QuestionVersion>;
  publishQuestion(id: string, options?: RequestOptions): Promise<Question>;
  pauseQuestion(id: string, options?: RequestOptions): Promise<Question>;
  resumeQuestion(id: string, options?: RequestOptions): Promise<Question>;
  closeQuestion(id: string, options?: RequestOptions): Promise<Question>;
  archiveQuestion(id: string, options?: RequestOptions): Promise<Question>;
  readResults(id: string, query?: ResultsQuery): Promise<Results>;
  /** In the order of their names. */
  listIdentities(query?: PageQuery & { verified?: boolean; q?: string }): List<IdentityProfile>;
  readIdentity(identity: string, query?: { verified?: boolean }): Promise<IdentityProfile>;
  putIdentity(identity: string, body: NewIdentity, options?: IdentityOptions): Promise<IdentityProfile>;
  patchIdentity(identity: string, patch: IdentityPatch, options?: IdentityOptions): Promise<IdentityProfile>;
  readIngestion(): Promise<Ingestion>;
  /** Newest first. */
  listQuarantine(query?: PageQuery): List<QuarantinedAnswer>;
  replayQuarantined(id: string, options?: RequestOptions): Promise<QuarantinedAnswer>;
  discardQuarantined(id: string): Promise<void>;
}
