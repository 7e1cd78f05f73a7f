import type { CallOptions } from '../call.ts';
import type { List } from '../pages.ts';
import type { Conversation, Message, MessageQuery, NewConversation, NewMessage, Receipt } from '../types.ts';
import type { CardDecisions, CardDecisionsQuery, Reach, ReachRequest } from './decision-types.ts';
import type { EventQuery, Feed } from './feed.ts';
import type {
  AppliedMacro,
  BulkChange,
  BulkResult,
  ConversationPatch,
  Macro,
  MacroApplication,
  NewMacro,
  ServerMessage,
} from './inbox-types.ts';
import type { ProfileChange, ProfileChangeQuery } from './profile-types.ts';
import type {
  Answer,
  AnswerQuery,
  Figures,
  IdentityAttribute,
  IdentityItem,
  IdentityOptions,
  IdentityPatch,
  IdentityProfile,
  IdentityResult,
  Ingestion,
  Inspection,
  NewIdentity,
  NewQuestion,
  PageQuery,
  QuarantinedAnswer,
  Question,
  QuestionQuery,
  QuestionTemplate,
  QuestionVersion,
  RequestOptions,
  Results,
  ResultsQuery,
  ServerAnswer,
  ServerConversationQuery,
} from './types.ts';
import type {
  Delivery,
  DeliveryQuery,
  NewWebhook,
  Webhook,
  WebhookPatch,
  WebhookReplay,
  WebhookWithSecret,
} from './webhook-types.ts';

/** Answers. */
export interface AnswersOperations {
  /**
   * Records up to 100 answers; returns one receipt per item, in order. Accepted answers are durable and stored shortly after. If
   * something on the way, such as a firewall, refuses them, they are sent in smaller requests; an answer that is refused in a
   * request of its own is `rejected` with `refused`: send it again later.
   */
  record(sync: { answers: ServerAnswer[] }, options?: RequestOptions): Promise<{ results: Receipt[] }>;
  /** Latest received first; with `updated_since` in order of change. */
  list(query?: AnswerQuery, options?: CallOptions): List<Answer>;
  read(id: string, options?: CallOptions): Promise<Answer>;
  update(id: string, patch: { tags: string[] }, options?: RequestOptions): Promise<Answer>;
  /** The id cannot be reused. */
  delete(id: string, options?: RequestOptions): Promise<void>;
}

/** Conversations with users. */
export interface ConversationsOperations {
  /** Latest activity first. */
  list(query?: ServerConversationQuery, options?: CallOptions): List<Conversation>;
  create(body: NewConversation & { identity: string }, options?: RequestOptions): Promise<Conversation>;
  read(id: string, options?: CallOptions): Promise<Conversation>;
  update(id: string, patch: ConversationPatch, options?: RequestOptions): Promise<Conversation>;
  delete(id: string, options?: RequestOptions): Promise<void>;
  /** Moves the team's read horizon. */
  markRead(id: string, horizon: { seq: number }, options?: RequestOptions): Promise<void>;
  /** Makes one change of up to 100 conversations. Each has its own result, in order. */
  updateMany(
    update: { ids: string[]; change: BulkChange },
    options?: RequestOptions,
  ): Promise<{ results: BulkResult[] }>;
  /** Resolves a conversation; later messages are written to the other one, of the same user. */
  merge(id: string, into: { into: string }, options?: RequestOptions): Promise<Conversation>;
  /**
   * Writes the text of a macro and makes its changes. With `after`, a macro with a text does nothing if somebody has
   * written since: the error is `conversation-moved`.
   */
  applyMacro(
    id: string,
    macroId: string,
    application?: MacroApplication,
    options?: RequestOptions,
  ): Promise<AppliedMacro>;
}

/** Saved replies and changes of conversations. */
export interface MacrosOperations {
  /** Oldest first. */
  list(query?: PageQuery, options?: CallOptions): List<Macro>;
  create(macro: NewMacro, options?: RequestOptions): Promise<Macro>;
  read(id: string, options?: CallOptions): Promise<Macro>;
  update(id: string, patch: Partial<NewMacro>, options?: RequestOptions): Promise<Macro>;
  delete(id: string, options?: RequestOptions): Promise<void>;
}

/** The events of the tenant. */
export interface EventsOperations {
  /** In order, without gaps, for 30 days. Fails with `events-expired` if `after` is older. */
  read(query?: EventQuery, options?: CallOptions): Feed;
}

/** Users and their attributes. */
export interface IdentitiesOperations {
  /** Ordered by name. */
  list(query?: PageQuery & { verified?: boolean; q?: string }, options?: CallOptions): List<IdentityProfile>;
  read(identity: string, query?: { verified?: boolean }, options?: CallOptions): Promise<IdentityProfile>;
  put(identity: string, body: NewIdentity, options?: IdentityOptions): Promise<IdentityProfile>;
  update(identity: string, patch: IdentityPatch, options?: IdentityOptions): Promise<IdentityProfile>;
  /** Creates or updates up to 100 users. Each has its own result, in order. */
  save(batch: { identities: IdentityItem[] }, options?: RequestOptions): Promise<{ results: IdentityResult[] }>;
  /** The last 50 changes of a profile within 90 days, latest first. */
  listChanges(identity: string, query?: ProfileChangeQuery, options?: CallOptions): List<ProfileChange>;
  /** Names, types and most frequent values of the attributes in use. */
  readAttributes(options?: CallOptions): Promise<{ data: IdentityAttribute[] }>;
  /** Which cards a user sees, and why not the others. */
  readCardDecisions(identity: string, query?: CardDecisionsQuery, options?: CallOptions): Promise<CardDecisions>;
}

/** Counters of the ingestion. */
export interface IngestionOperations {
  read(options?: CallOptions): Promise<Ingestion>;
}

/** Messages of conversations, including internal notes. */
export interface MessagesOperations {
  /** Oldest first, including internal notes. */
  list(id: string, query?: MessageQuery, options?: CallOptions): List<Message>;
  create(id: string, message: ServerMessage, options?: RequestOptions): Promise<Message>;
  read(id: string, messageId: string, options?: CallOptions): Promise<Message>;
  update(
    id: string,
    messageId: string,
    patch: Pick<NewMessage, 'body' | 'format'>,
    options?: RequestOptions,
  ): Promise<Message>;
  redact(id: string, messageId: string, options?: RequestOptions): Promise<void>;
}

/** Answers that could not be stored. */
export interface QuarantineOperations {
  /** Newest first. */
  list(query?: PageQuery, options?: CallOptions): List<QuarantinedAnswer>;
  read(id: string, options?: CallOptions): Promise<QuarantinedAnswer>;
  replay(id: string, options?: RequestOptions): Promise<QuarantinedAnswer>;
  discard(id: string, options?: RequestOptions): Promise<void>;
}

/** Questions, their versions and results. */
export interface QuestionsOperations {
  /** Newest first. */
  list(
    query?: QuestionQuery,
    options?: CallOptions,
  ): List<Question & { results?: Figures & { answered_7_days: number } }>;
  /** Creates a draft. */
  create(question: NewQuestion, options?: RequestOptions): Promise<Question>;
  read(id: string, options?: CallOptions): Promise<Question>;
  update(id: string, patch: Partial<NewQuestion>, options?: RequestOptions): Promise<Question>;
  /** Drafts only. */
  delete(id: string, options?: RequestOptions): Promise<void>;
  clone(id: string, options?: RequestOptions): Promise<Question>;
  /** Newest first. */
  listVersions(id: string, query?: PageQuery, options?: CallOptions): List<QuestionVersion>;
  publish(id: string, options?: RequestOptions): Promise<Question>;
  pause(id: string, options?: RequestOptions): Promise<Question>;
  resume(id: string, options?: RequestOptions): Promise<Question>;
  close(id: string, options?: RequestOptions): Promise<Question>;
  archive(id: string, options?: RequestOptions): Promise<Question>;
  /** Common questions to start from, in German for `de`, otherwise in English. `create` accepts the `question` of each. */
  readTemplates(query?: { locale?: string }, options?: CallOptions): Promise<{ data: QuestionTemplate[] }>;
  readResults(id: string, query?: ResultsQuery, options?: CallOptions): Promise<Results>;
  /** How many of the last 5,000 people who were shown a card the question would reach, and which gates keep the others. */
  estimateReach(id: string, rules?: ReachRequest, options?: RequestOptions): Promise<Reach>;
}

/** Webhooks and their deliveries. */
export interface WebhooksOperations {
  /** Oldest first. */
  list(query?: PageQuery, options?: CallOptions): List<Webhook>;
  /** Sends the events from now on. The secret is returned only once. */
  create(webhook: NewWebhook, options?: RequestOptions): Promise<WebhookWithSecret>;
  read(id: string, options?: CallOptions): Promise<Webhook>;
  update(id: string, patch: WebhookPatch, options?: RequestOptions): Promise<Webhook>;
  /** Its undelivered events stay in the feed. */
  delete(id: string, options?: RequestOptions): Promise<void>;
  /** Returns the new secret, only once. For `overlap_hours` (24), requests are signed with both. */
  rotateSecret(id: string, rotation: { overlap_hours?: number }, options?: RequestOptions): Promise<WebhookWithSecret>;
  /** Sends a test event once. Its outcome is in the list of deliveries within seconds. */
  test(id: string, options?: RequestOptions): Promise<Delivery>;
  /** Newest first. */
  listDeliveries(id: string, query?: DeliveryQuery, options?: CallOptions): List<Delivery>;
  readDelivery(id: string, deliveryId: string, options?: CallOptions): Promise<Delivery>;
  /** Sends the event of a delivery again, under its `webhook-id`. */
  replayDelivery(id: string, deliveryId: string, options?: RequestOptions): Promise<Delivery>;
  /** Sends the events of a range of time again, under their `webhook-id`. */
  replay(id: string, replay: WebhookReplay, options?: RequestOptions): Promise<{ count: number }>;
}

/** Access tokens of the tenant. */
export interface TokensOperations {
  /** Validates a token signed with one of your keys. */
  inspect(body: { token: string }, options?: RequestOptions): Promise<Inspection>;
}

/**
 * Operations of an API key by resource; arguments are path parameters, then query or body, then options.
 *
 * Each rejects with a `ParleyError`, is retried if safe, and needs the scope named in the API documentation.
 */
export interface Operations {
  readonly answers: AnswersOperations;
  readonly conversations: ConversationsOperations;
  readonly events: EventsOperations;
  readonly identities: IdentitiesOperations;
  readonly ingestion: IngestionOperations;
  readonly macros: MacrosOperations;
  readonly messages: MessagesOperations;
  readonly quarantine: QuarantineOperations;
  readonly questions: QuestionsOperations;
  readonly tokens: TokensOperations;
  readonly webhooks: WebhooksOperations;
}
