<?php

declare(strict_types=1);

namespace Parley;

/**
 * Types of the API, with its names; members are documented in the OpenAPI document. Times are RFC 3339 in UTC with
 * milliseconds. Newer servers may send additional members.
 *
 * @phpstan-type QuestionType 'nps'|'csat'|'ces'|'rating'|'thumbs'|'single_choice'|'multi_choice'|'text'|'date'|'consent'|'statement'
 * @phpstan-type Placement 'inline'|'popover-top-left'|'popover-top-center'|'popover-top-right'|'popover-bottom-left'|'popover-bottom-center'|'popover-bottom-right'|'modal'|'button'
 * @phpstan-type QuestionStatus 'draft'|'scheduled'|'live'|'paused'|'closed'|'archived'
 * @phpstan-type AnswerState 'seen'|'dismissed'|'partial'|'completed'
 * @phpstan-type ConversationStatus 'open'|'pending'|'snoozed'|'resolved'
 * @phpstan-type Priority 'none'|'low'|'medium'|'high'|'urgent'
 * @phpstan-type AuthorType 'user'|'member'|'api'|'system'
 * @phpstan-type Time \DateTimeInterface|string
 *
 * Answers. `values` are by step key; the question is the step `main`.
 *
 * @phpstan-type AnswerValue int|bool|string|array{option_id?: string, option_ids?: list<string>, other_text?: string}
 * @phpstan-type NewAnswer array{
 *     id: string,
 *     revision: int,
 *     identity: string,
 *     card_id?: string,
 *     question_id: string,
 *     question_version: int,
 *     state: AnswerState,
 *     values?: array<string, AnswerValue>,
 *     comment?: string|null,
 *     displayed_at?: string|null,
 *     answered_at?: string|null,
 *     duration_ms?: int|null,
 *     metadata?: array<string, string|int|float|bool>
 * }
 * @phpstan-type Receipt array{
 *     id: string|null,
 *     revision: int|float|null,
 *     status: 'accepted'|'duplicate'|'superseded'|'rejected',
 *     code?: string,
 *     detail?: string,
 *     pointer?: string
 * }
 * @phpstan-type Receipts array{results: list<Receipt>}
 * @phpstan-type Answer array{
 *     id: string,
 *     revision: int,
 *     card_id: string,
 *     question_id: string,
 *     question_version: int,
 *     state: AnswerState,
 *     values: array<string, AnswerValue>,
 *     comment: string|null,
 *     displayed_at: string|null,
 *     answered_at: string|null,
 *     duration_ms: int|null,
 *     metadata: array<string, string|int|float|bool>,
 *     identity: string,
 *     identity_verified: bool,
 *     received_at: string,
 *     stored_at: string,
 *     updated_at: string,
 *     clock_skew_ms: int|null,
 *     tags: list<string>,
 *     counted?: bool,
 *     over_quota?: bool,
 *     status: 'stored'
 * }
 * @phpstan-type AnswerQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     question_id?: string,
 *     state?: AnswerState|list<AnswerState>,
 *     identity?: string,
 *     verified?: bool,
 *     version?: int,
 *     tag?: string,
 *     step?: string,
 *     value?: string,
 *     counted?: bool,
 *     from?: string,
 *     to?: string,
 *     written?: true,
 *     q?: string,
 *     updated_since?: Time
 * }
 *
 * Tokens.
 *
 * @phpstan-type PublicToken array{access_token: string, token_type: 'Bearer', expires_in: 3600}
 * @phpstan-type Inspection array{
 *     valid: bool,
 *     code: string|null,
 *     detail: string,
 *     header: array<string, mixed>|null,
 *     claims: array<string, mixed>|null,
 *     key_kind: 'server'|'public'|null
 * }
 *
 * Conversations. Optional members are visible to the team only, which includes API keys.
 *
 * @phpstan-type Conversation array{
 *     id: string,
 *     identity: string,
 *     identity_verified: bool,
 *     subject: string,
 *     status: ConversationStatus,
 *     snoozed_until?: string|null,
 *     priority?: Priority,
 *     assignee_id?: string|null,
 *     tags?: list<string>,
 *     custom?: array<string, string|int|float|bool>,
 *     reply_due_at?: string|null,
 *     source: array{type: 'user'|'api'|'member'},
 *     last_message: array{seq: int, preview: string, author_type: AuthorType, at: string},
 *     message_count: int,
 *     unread_count: int,
 *     waiting_since: string|null,
 *     first_reply_at: string|null,
 *     resolved_at: string|null,
 *     previous_id: string|null,
 *     merged_into_id?: string|null,
 *     created_at: string,
 *     updated_at: string,
 *     last_activity_at: string
 * }
 * @phpstan-type ConversationQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     status?: ConversationStatus|list<ConversationStatus>,
 *     unread?: bool,
 *     updated_since?: Time,
 *     deleted?: bool,
 *     identity?: string,
 *     verified?: bool,
 *     assignee?: string,
 *     tag?: string,
 *     priority?: Priority|list<Priority>,
 *     source?: 'user'|'api'|'member'|list<'user'|'api'|'member'>,
 *     overdue?: bool,
 *     q?: string,
 *     sort?: '-last_activity_at'|'last_activity_at'|'-created_at'|'created_at'|'reply_due_at'|'waiting_since'
 * }
 * @phpstan-type NewConversation array{subject?: string, message: string, identity: string, client_message_id?: string}
 * @phpstan-type ConversationSeen array{
 *     status?: ConversationStatus,
 *     assignee_id?: string|null,
 *     priority?: Priority,
 *     subject?: string
 * }
 * @phpstan-type ConversationPatch array{
 *     status?: ConversationStatus,
 *     snoozed_until?: Time,
 *     assignee_id?: string|null,
 *     tags?: list<string>,
 *     add_tags?: list<string>,
 *     remove_tags?: list<string>,
 *     priority?: Priority,
 *     subject?: string,
 *     custom?: array<string, string|int|float|bool|null>,
 *     was?: ConversationSeen
 * }
 * @phpstan-type MessageEvent array{
 *     field: string,
 *     from: mixed,
 *     to: mixed,
 *     reason: array{type: string, id: string|null, code?: string}
 * }
 * @phpstan-type Message array{
 *     id: string,
 *     conversation_id: string,
 *     seq: int,
 *     author: array{type: AuthorType, id: string|null, name: string|null},
 *     kind: 'reply'|'note'|'event',
 *     body: string,
 *     format: 'text'|'markdown',
 *     client_message_id: string|null,
 *     mentions?: list<string>,
 *     event?: MessageEvent|null,
 *     created_at: string,
 *     edited_at: string|null,
 *     redacted: bool
 * }
 * @phpstan-type NewMessage array{
 *     body: string,
 *     format?: 'text'|'markdown',
 *     kind?: 'reply'|'note',
 *     client_message_id?: string,
 *     mentions?: list<string>,
 *     after?: array{seq: int, note_seq: int},
 *     force?: bool
 * }
 * @phpstan-type BulkChange array{
 *     status?: ConversationStatus,
 *     snoozed_until?: Time,
 *     assignee_id?: string|null,
 *     priority?: Priority,
 *     add_tags?: list<string>,
 *     remove_tags?: list<string>,
 *     custom?: array<string, string|int|float|bool|null>
 * }
 * @phpstan-type BulkUpdate array{ids: list<string>, change: BulkChange}
 * @phpstan-type BulkResult array{id: string, status: 'changed'|'unchanged'|'not-found'|'conflict', code?: string}
 * @phpstan-type BulkResults array{results: list<BulkResult>}
 * @phpstan-type MacroChange array{
 *     status?: ConversationStatus,
 *     snooze_for_s?: int,
 *     assignee_id?: string|null,
 *     priority?: Priority,
 *     add_tags?: list<string>,
 *     remove_tags?: list<string>,
 *     custom?: array<string, string|int|float|bool|null>
 * }
 * @phpstan-type NewMacro array{
 *     name: string,
 *     shortcut?: string|null,
 *     body?: string|null,
 *     kind?: 'reply'|'note',
 *     changes?: MacroChange
 * }
 * @phpstan-type MacroPatch array{
 *     name?: string,
 *     shortcut?: string|null,
 *     body?: string|null,
 *     kind?: 'reply'|'note',
 *     changes?: MacroChange
 * }
 * @phpstan-type Macro array{
 *     id: string,
 *     name: string,
 *     shortcut: string|null,
 *     body: string|null,
 *     kind: 'reply'|'note',
 *     changes: MacroChange,
 *     created_at: string,
 *     updated_at: string
 * }
 * @phpstan-type MacroApplication array{after?: array{seq: int, note_seq: int}, force?: bool}
 * @phpstan-type AppliedMacro array{conversation: Conversation, message: Message|null}
 * @phpstan-type MessagePatch array{body: string, format?: 'text'|'markdown'}
 *
 * Questions. The members of `config` depend on the type.
 *
 * @phpstan-type ComparedValue string|int|float|bool|list<string|int|float|bool>
 * @phpstan-type DeviceCondition array{op: string, value?: ComparedValue}
 * @phpstan-type AnsweredCondition array{question: string, op: string, value?: mixed, within_days?: int|null}
 * @phpstan-type AudienceCondition array{
 *     attribute?: string,
 *     op?: string,
 *     value?: ComparedValue,
 *     platform?: DeviceCondition,
 *     app_version?: DeviceCondition,
 *     locale?: DeviceCondition,
 *     verified?: bool,
 *     answered?: AnsweredCondition
 * }
 * @phpstan-type Audience array{all?: list<array<string, mixed>>, any?: list<array<string, mixed>>, none?: list<array<string, mixed>>}
 * @phpstan-type Schedule array{start_at?: string|null, end_at?: string|null}
 * @phpstan-type PropertyCondition array{property: string, op: string, value?: ComparedValue}
 * @phpstan-type UrlCondition array{op: 'eq'|'contains'|'starts_with'|'ends_with', value: string}
 * @phpstan-type Trigger array{
 *     event?: string|null,
 *     click?: string|null,
 *     where?: list<PropertyCondition>,
 *     url?: UrlCondition|null,
 *     count?: int,
 *     delay_s?: int,
 *     cancel_on?: list<string>
 * }
 * @phpstan-type ResponseLimit array{count: int, per?: 'total'|'day'|'week'|'month'}
 * @phpstan-type Frequency array{
 *     repeat?: 'once'|'until_answered'|'always'|'every_days',
 *     every_days?: int|null,
 *     max_displays?: int|null,
 *     snooze_after_dismiss_days?: int,
 *     ignore_cooldown?: bool
 * }
 * @phpstan-type Condition array{step: string, op: string, value?: mixed}
 * @phpstan-type ShowIf array{step?: string, op?: string, value?: mixed, all?: list<Condition>, any?: list<Condition>}
 * @phpstan-type NewFollowUp array{
 *     key: string,
 *     type: QuestionType,
 *     title: string,
 *     description?: string,
 *     config?: array<string, mixed>,
 *     required?: bool,
 *     show_if?: ShowIf|null
 * }
 * @phpstan-type FollowUp array{
 *     key: string,
 *     type: QuestionType,
 *     title: string,
 *     description: string,
 *     config: array<string, mixed>,
 *     required: bool,
 *     show_if: ShowIf|null
 * }
 * @phpstan-type LabelTranslation array{low?: string, high?: string}
 * @phpstan-type ConfigTranslation array{labels?: LabelTranslation, options?: array<string, string>}
 * @phpstan-type StepTranslation array{title?: string, description?: string, config?: ConfigTranslation}
 * @phpstan-type Translation array{
 *     title?: string,
 *     description?: string,
 *     config?: ConfigTranslation,
 *     follow_ups?: array<string, StepTranslation>,
 *     thanks?: array{title?: string, body?: string, link?: array{label?: string}}
 * }
 * @phpstan-type NewThanks array{title: string, body?: string, link?: array{label: string, url: string}|null}
 * @phpstan-type Thanks array{title: string, body: string, link: array{label: string, url: string}|null}
 * @phpstan-type NewQuestion array{
 *     type: QuestionType,
 *     title: string,
 *     name?: string,
 *     description?: string,
 *     config?: array<string, mixed>,
 *     follow_ups?: list<NewFollowUp>,
 *     locale?: string,
 *     translations?: array<string, Translation>,
 *     thanks?: NewThanks|null,
 *     audience?: Audience|null,
 *     schedule?: Schedule,
 *     trigger?: Trigger|null,
 *     frequency?: Frequency,
 *     sampling_percent?: int|float,
 *     response_limit?: ResponseLimit|null,
 *     allow_public?: bool,
 *     priority?: int,
 *     placement?: Placement|null
 * }
 * @phpstan-type QuestionTemplate array{id: string, name: string, description: string, question: NewQuestion}
 * @phpstan-type QuestionTemplates array{data: list<QuestionTemplate>}
 * @phpstan-type QuestionPatch array{
 *     type?: QuestionType,
 *     title?: string,
 *     name?: string,
 *     description?: string,
 *     config?: array<string, mixed>,
 *     follow_ups?: list<NewFollowUp>,
 *     locale?: string,
 *     translations?: array<string, Translation>,
 *     thanks?: NewThanks|null,
 *     audience?: Audience|null,
 *     schedule?: Schedule,
 *     trigger?: Trigger|null,
 *     frequency?: Frequency,
 *     sampling_percent?: int|float,
 *     response_limit?: ResponseLimit|null,
 *     allow_public?: bool,
 *     priority?: int,
 *     placement?: Placement|null
 * }
 * @phpstan-type Question array{
 *     id: string,
 *     name: string,
 *     status: QuestionStatus,
 *     version: int,
 *     type: QuestionType,
 *     title: string,
 *     description: string,
 *     config: array<string, mixed>,
 *     follow_ups?: list<FollowUp>,
 *     locale?: string,
 *     translations?: array<string, Translation>,
 *     thanks?: Thanks|null,
 *     audience?: Audience|null,
 *     schedule?: Schedule,
 *     trigger?: Trigger|null,
 *     frequency: Frequency,
 *     sampling_percent?: int|float,
 *     response_limit?: ResponseLimit|null,
 *     allow_public: bool,
 *     priority: int,
 *     placement?: Placement|null,
 *     created_at: string,
 *     updated_at: string,
 *     published_at: string|null,
 *     closed_at: string|null
 * }
 * @phpstan-type QuestionListItem array{
 *     id: string,
 *     name: string,
 *     status: QuestionStatus,
 *     version: int,
 *     type: QuestionType,
 *     title: string,
 *     description: string,
 *     config: array<string, mixed>,
 *     follow_ups?: list<FollowUp>,
 *     locale?: string,
 *     translations?: array<string, Translation>,
 *     thanks?: Thanks|null,
 *     audience?: Audience|null,
 *     schedule?: Schedule,
 *     trigger?: Trigger|null,
 *     frequency: Frequency,
 *     sampling_percent?: int|float,
 *     response_limit?: ResponseLimit|null,
 *     allow_public: bool,
 *     priority: int,
 *     placement?: Placement|null,
 *     created_at: string,
 *     updated_at: string,
 *     published_at: string|null,
 *     closed_at: string|null,
 *     results?: ResultsSummary
 * }
 * @phpstan-type QuestionQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     status?: QuestionStatus|list<QuestionStatus>,
 *     type?: QuestionType|list<QuestionType>,
 *     q?: string,
 *     include?: 'results'
 * }
 * @phpstan-type QuestionVersion array{
 *     question_id: string,
 *     version: int,
 *     type: QuestionType,
 *     title: string,
 *     description: string,
 *     config: array<string, mixed>,
 *     follow_ups?: list<FollowUp>,
 *     locale?: string,
 *     translations?: array<string, Translation>,
 *     thanks?: Thanks|null,
 *     created_at: string,
 *     changes: list<array{pointer: string, before: mixed, after: mixed}>
 * }
 *
 * Results. Rates and shares without answers are null.
 *
 * @phpstan-type Score array{
 *     measure: 'nps'|'csat'|'mean'|'positive',
 *     value: int|float|null,
 *     answers: int,
 *     interval: array{low: int|float, high: int|float}|null
 * }
 * @phpstan-type ResultsSummary array{
 *     displays: int,
 *     answered: int,
 *     response_rate: int|float|null,
 *     score: Score|null,
 *     answered_7_days: int
 * }
 * @phpstan-type ValueCount array{value: int|bool|string, label?: string, count: int, share: int|float|null}
 * @phpstan-type Results array{
 *     question_id: string,
 *     type: QuestionType,
 *     from: string|null,
 *     to: string|null,
 *     group_by: 'day'|'week'|'month',
 *     version: int|null,
 *     verified: bool|null,
 *     step?: string,
 *     test?: bool,
 *     seen: int,
 *     dismissed: int,
 *     partial: int,
 *     completed: int,
 *     written: int,
 *     displays: int,
 *     answered: int,
 *     response_rate: int|float|null,
 *     score: Score|null,
 *     values: list<ValueCount>,
 *     steps?: list<array<string, mixed>>,
 *     over_time: list<array<string, mixed>>,
 *     versions: list<array<string, mixed>>
 * }
 * @phpstan-type ResultsQuery array{
 *     from?: Time,
 *     to?: Time,
 *     group_by?: 'day'|'week'|'month',
 *     version?: int,
 *     step?: string,
 *     verified?: bool,
 *     test?: bool
 * }
 *
 * Identities.
 *
 * @phpstan-type NewIdentity array{
 *     attributes?: array<string, string|int|float|bool>,
 *     locale?: string|null,
 *     platform?: string|null,
 *     app_version?: string|null
 * }
 * @phpstan-type IdentityPatch array{
 *     attributes?: array<string, string|int|float|bool|null>,
 *     locale?: string|null,
 *     platform?: string|null,
 *     app_version?: string|null
 * }
 * @phpstan-type IdentityItem array{
 *     identity: string,
 *     verified?: bool,
 *     attributes?: array<string, string|int|float|bool|null>,
 *     locale?: string|null,
 *     platform?: string|null,
 *     app_version?: string|null
 * }
 * @phpstan-type IdentityResult array{
 *     identity: string|null,
 *     verified: bool|null,
 *     status: 'created'|'updated'|'unchanged'|'rejected',
 *     code?: string,
 *     detail?: string,
 *     pointer?: string
 * }
 * @phpstan-type IdentityAttribute array{
 *     name: string,
 *     types: list<'string'|'number'|'boolean'|'date'>,
 *     values: list<string|int|float|bool>
 * }
 * @phpstan-type GateDecision array{gate: string, passed: bool, passes_at: string|null}
 * @phpstan-type CardDecision array{question_id: string, name: string, shown: bool, gates: list<GateDecision>}
 * @phpstan-type CardDecisions array{identity: string, verified: bool, data: list<CardDecision>}
 * @phpstan-type CardDecisionsQuery array{verified?: bool, platform?: string, app_version?: string, locale?: string}
 * @phpstan-type ReachRequest array{audience?: Audience|null, sampling_percent?: int|float}
 * @phpstan-type Reach array{judged: int, reached: int, withheld: array<string, int>}
 * @phpstan-type IdentityProfile array{
 *     identity: string,
 *     verified: bool,
 *     attributes: array<string, string|int|float|bool>,
 *     locale: string|null,
 *     platform: string|null,
 *     app_version: string|null,
 *     first_seen_at: string|null,
 *     last_seen_at: string|null,
 *     answer_count: int,
 *     conversation_count: int,
 *     status: 'active'
 * }
 * @phpstan-type ChangedField array{
 *     field: string,
 *     name: string|null,
 *     from: string|int|float|bool|null,
 *     to: string|int|float|bool|null
 * }
 * @phpstan-type ProfileChange array{number: int, at: string, by: EventActor, changes: list<ChangedField>}
 * @phpstan-type ProfileChangeQuery array{limit?: int, cursor?: string, verified?: bool}
 * @phpstan-type IdentityQuery array{limit?: int, cursor?: string, verified?: bool, q?: string}
 *
 * Ingestion.
 *
 * @phpstan-type Ingestion array{
 *     oldest_queued_age_ms: int|null,
 *     queued: int,
 *     accepted: int,
 *     stored: int,
 *     repeated: int,
 *     quarantined: int,
 *     rejected: int,
 *     first_card_at: string|null
 * }
 * @phpstan-type QuarantinedAnswer array{
 *     id: string,
 *     answer_id: string,
 *     reason: string,
 *     detail: string,
 *     payload: array<string, mixed>,
 *     quarantined_at: string
 * }
 *
 * Events. Newer servers send further types. `href` is present in webhooks without the object.
 *
 * @phpstan-type EventType 'answer.stored'|'answer.updated'|'answer.completed'|'answer.deleted'|'answers.expired'|'conversation.created'|'conversation.updated'|'conversation.status_changed'|'conversation.assigned'|'conversation.deleted'|'message.created'|'message.updated'|'message.redacted'|'identity.updated'|'question.published'|'question.updated'|'question.closed'|'api_key.created'|'api_key.revoked'|'webhook.disabled'
 * @phpstan-type EventActor array{type: 'member'|'api_key'|'user'|'system', id: string|null}
 * @phpstan-type EventObject array{
 *     type: 'answer'|'conversation'|'message'|'identity'|'question'|'api_key'|'webhook'|'tenant',
 *     id: string|null,
 *     verified?: bool,
 *     conversation_id?: string
 * }
 * @phpstan-type EventData array{
 *     from?: string|null,
 *     to?: string|null,
 *     by?: EventActor,
 *     count?: int,
 *     object?: array<string, mixed>|null
 * }
 * @phpstan-type Event array{
 *     id: string,
 *     type: EventType,
 *     sequence: int,
 *     timestamp: string,
 *     tenant_id: string,
 *     object: EventObject,
 *     data: EventData
 * }
 * @phpstan-type WebhookEvent array{
 *     id: string,
 *     type: EventType|'webhook.test',
 *     sequence?: int,
 *     timestamp: string,
 *     tenant_id: string,
 *     object: EventObject,
 *     data: EventData|array{href: string|null}
 * }
 * @phpstan-type EventQuery array{after?: int, types?: list<EventType>, limit?: int, expand?: bool}
 *
 * Webhooks. `secret` is present only in the replies to a creation and a rotation.
 *
 * @phpstan-type NewWebhook array{
 *     url: string,
 *     description?: string,
 *     event_types: list<EventType>,
 *     payload?: 'full'|'thin',
 *     ordered?: bool
 * }
 * @phpstan-type WebhookPatch array{
 *     url?: string,
 *     description?: string,
 *     event_types?: list<EventType>,
 *     payload?: 'full'|'thin',
 *     ordered?: bool,
 *     status?: 'enabled'|'disabled',
 *     resume?: 'continue'|'now'
 * }
 * @phpstan-type Webhook array{
 *     id: string,
 *     url: string,
 *     description: string,
 *     event_types: list<EventType>,
 *     payload: 'full'|'thin',
 *     ordered: bool,
 *     status: 'enabled'|'disabled',
 *     disabled_reason: 'manual'|'gone'|'failing'|null,
 *     lag: array{events: int, seconds: int},
 *     previous_secret_until: string|null,
 *     created_at: string,
 *     updated_at: string,
 *     secret?: string
 * }
 * @phpstan-type Delivery array{
 *     id: string,
 *     event_id: string,
 *     sequence: int|null,
 *     type: EventType|'webhook.test',
 *     attempt: int,
 *     at: string,
 *     status: 'delivered'|'failed'|'waiting',
 *     response_status: int|null,
 *     duration_ms: int|null,
 *     error: string|null,
 *     response: string|null
 * }
 * @phpstan-type DeliveryQuery array{
 *     limit?: int,
 *     cursor?: string,
 *     status?: 'delivered'|'failed'|'waiting'|list<'delivered'|'failed'|'waiting'>,
 *     after?: int
 * }
 * @phpstan-type WebhookReplay array{from: string, to?: string, types?: list<EventType>}
 */
interface Shapes
{
}
