import { defineEntity, p } from '@mikro-orm/postgresql';

/** A moment to the millisecond, so that a JavaScript `Date` holds it exactly and cursors never skip a row. */
const moment = () => p.datetime(3);
const uuid = () => p.uuid();
const text = () => p.text();
/** Identities mean nothing in any language: they are compared by their bytes, which is also faster. */
const identity = () => text().collation('C');
const int = () => p.integer();
const textArray = () => p.array<string>().columnType('text[]');
const json = <T>() => p.json<T>();

/** An index that only SQL can say, partial or of words: the migration says it, here stands its name. */
const saidInSql = (name: string) => ({ name, expression: `create index ${name}` });

export const TenantEntity = defineEntity({
  name: 'Tenant',
  tableName: 'tenants',
  properties: {
    id: uuid().primary(),
    name: text(),
    cooldown_days: int().default(7),
    created_at: moment(),
    default_locale: text().default('en'),
    locales: textArray().defaultRaw(`'{en}'`),
    timezone: text().default('UTC'),
    ip_mode: text().default('none'),
    retention_answers_days: int().nullable(),
    retention_conversations_days: int().nullable(),
    identity_attributes_allowed: textArray().defaultRaw(`'{}'`),
    results_fixed_before: p.date().nullable(),
    first_card_at: moment().nullable(),
  },
});

/** Tenants that are gone for good: what still arrives for them is dropped. */
export const DeletedTenantEntity = defineEntity({
  name: 'DeletedTenant',
  tableName: 'deleted_tenants',
  properties: { id: uuid().primary(), deleted_at: moment() },
});

/** A person, who may belong to several tenants. `parley_app` may not read the columns of its proofs. */
export const AccountEntity = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: {
    id: uuid().primary(),
    email: text(),
    name: text(),
    password_hash: text().nullable(),
    totp_sealed: p.blob().nullable(),
    totp_confirmed_at: moment().nullable(),
    totp_last_step: int().nullable(),
    recovery_hashes: textArray(),
    created_at: moment(),
  },
  uniques: [{ name: 'accounts_email_key', properties: ['email'] }],
});

/** By what an identity provider (OpenID Connect) knows a person. */
export const AccountSubjectEntity = defineEntity({
  name: 'AccountSubject',
  tableName: 'account_subjects',
  properties: { issuer: text().primary(), subject: text().primary(), account_id: uuid(), created_at: moment() },
});

/** Links that work once: of the first run, and of a password reset. */
export const AccountLinkEntity = defineEntity({
  name: 'AccountLink',
  tableName: 'account_links',
  properties: {
    token_hash: p.blob().primary(),
    purpose: text(),
    account_id: uuid().nullable(),
    expires_at: moment(),
  },
});

export const SessionEntity = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: uuid().primary(),
    account_id: uuid(),
    token_hash: p.blob(),
    user_agent: text(),
    ip: text(),
    created_at: moment(),
    last_seen_at: moment(),
    expires_at: moment(),
  },
  indexes: [{ name: 'sessions_of_account', properties: ['account_id'] }],
  uniques: [{ name: 'sessions_token_hash_key', properties: ['token_hash'] }],
});

/** A person as one of a tenant's team. `email` and `password_hash` are for the version before alone. */
export const MemberEntity = defineEntity({
  name: 'Member',
  tableName: 'members',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    email: text().nullable(),
    role: text(),
    password_hash: text().nullable(),
    created_at: moment(),
    account_id: uuid(),
  },
  indexes: [{ name: 'members_of_account', properties: ['account_id'] }],
  uniques: [
    { name: 'members_email_key', properties: ['tenant_id', 'email'] },
    { name: 'members_account_key', properties: ['tenant_id', 'account_id'] },
  ],
});

export const InvitationEntity = defineEntity({
  name: 'Invitation',
  tableName: 'invitations',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    email: text(),
    role: text(),
    token_hash: p.blob(),
    created_at: moment(),
    expires_at: moment(),
  },
  uniques: [
    { name: 'invitations_token_hash_key', properties: ['token_hash'] },
    { name: 'invitations_email_key', properties: ['tenant_id', 'email'] },
  ],
});

/** Every management act. `parley_app` may add lines and read them; nobody changes one. */
export const AuditEntryEntity = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    at: moment(),
    actor_type: text(),
    actor_id: text().nullable(),
    actor_name: text(),
    action: text(),
    target_id: text().nullable(),
    target_name: text().nullable(),
    fields: textArray(),
    ip: text().nullable(),
    request_id: text().nullable(),
  },
  indexes: [{ name: 'audit_log_newest', properties: ['tenant_id', 'at', 'id'] }],
});

export const ApiKeyEntity = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    name: text(),
    kind: text(),
    scopes: textArray(),
    allowed_origins: textArray(),
    secret_sealed: p.blob(),
    bearer_hash: p.blob().nullable(),
    hint: text(),
    previous_secret_sealed: p.blob().nullable(),
    previous_bearer_hash: p.blob().nullable(),
    previous_valid_until: moment().nullable(),
    created_at: moment(),
    expires_at: moment().nullable(),
    revoked_at: moment().nullable(),
    last_used_at: moment().nullable(),
  },
  uniques: [{ name: 'api_keys_id', properties: ['id'] }],
});

const content = { type: text(), title: text(), description: text(), config: json<object>() };

export const QuestionEntity = defineEntity({
  name: 'Question',
  tableName: 'questions',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    name: text(),
    status: text(),
    version: int(),
    ...content,
    frequency: json<object>(),
    allow_public: p.boolean(),
    priority: int(),
    created_at: moment(),
    updated_at: moment(),
    published_at: moment().nullable(),
    closed_at: moment().nullable(),
  },
  indexes: [{ name: 'questions_newest', properties: ['tenant_id', 'created_at', 'id'] }],
});

export const QuestionVersionEntity = defineEntity({
  name: 'QuestionVersion',
  tableName: 'question_versions',
  properties: {
    tenant_id: uuid().primary(),
    question_id: uuid().primary(),
    version: int().primary(),
    type: text(),
    title: text(),
    description: text(),
    config: json<object>(),
    created_at: moment(),
  },
});

export const AnswerEntity = defineEntity({
  name: 'Answer',
  tableName: 'answers',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    identity: identity(),
    identity_verified: p.boolean(),
    card_id: uuid(),
    question_id: uuid(),
    question_version: int(),
    revision: int(),
    state: text(),
    values: json<object>(),
    comment: text().nullable(),
    displayed_at: moment().nullable(),
    answered_at: moment().nullable(),
    duration_ms: int().nullable(),
    metadata: json<object>(),
    content_hash: text(),
    clock_skew_ms: p.bigint().nullable(),
    tags: textArray(),
    revised_from: json<object>().nullable(),
    once_per_card: p.boolean().default(false),
    received_at: moment(),
    stored_at: moment(),
    updated_at: moment(),
  },
  indexes: [
    { name: 'answers_newest', properties: ['tenant_id', 'received_at', 'id'] },
    { name: 'answers_of_question', properties: ['tenant_id', 'question_id', 'received_at', 'id'] },
    { name: 'answers_of_identity', properties: ['tenant_id', 'identity', 'received_at', 'id'] },
    { name: 'answers_updated', properties: ['tenant_id', 'updated_at', 'id'] },
    saidInSql('answers_tagged'),
  ],
});

export const QuestionResultEntity = defineEntity({
  name: 'QuestionResult',
  tableName: 'question_results',
  properties: {
    tenant_id: uuid().primary(),
    question_id: uuid().primary(),
    day: p.date().primary(),
    question_version: int().primary(),
    identity_verified: p.boolean().primary(),
    seen: int(),
    dismissed: int(),
    partial: int(),
    completed: int(),
    written: int(),
    scores: p.array<number>().columnType('int[]'),
    choices: json<object>(),
  },
});

/** The words of an answer's texts, for searching; gone with the answer. */
export const AnswerWordsEntity = defineEntity({
  name: 'AnswerWords',
  tableName: 'answer_words',
  properties: {
    tenant_id: uuid().primary(),
    received_at: moment().primary(),
    id: uuid().primary(),
    words: text().columnType('tsvector'),
  },
  indexes: [saidInSql('answer_words_found')],
});

/** The words of a message, or under the conversation's own id those of its subject. */
export const MessageWordsEntity = defineEntity({
  name: 'MessageWords',
  tableName: 'message_words',
  properties: {
    tenant_id: uuid().primary(),
    conversation_id: uuid().primary(),
    id: uuid().primary(),
    words: text().columnType('tsvector'),
  },
  indexes: [saidInSql('message_words_found')],
});

/** Texts that were written without their words, by the version before. */
export const UnindexedTextEntity = defineEntity({
  name: 'UnindexedText',
  tableName: 'unindexed_texts',
  properties: { tenant_id: uuid().primary(), kind: text().primary(), id: uuid().primary() },
});

/** How far the texts of a tenant are indexed that were stored before there was an index: those below are not yet. */
export const SearchBacklogEntity = defineEntity({
  name: 'SearchBacklog',
  tableName: 'search_backlog',
  properties: { tenant_id: uuid().primary(), kind: text().primary(), before_at: moment(), before_id: uuid() },
});

export const DeletedAnswerEntity = defineEntity({
  name: 'DeletedAnswer',
  tableName: 'deleted_answers',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    deleted_at: moment(),
    expired: p.boolean().default(false),
  },
  indexes: [saidInSql('deleted_answers_newest'), saidInSql('deleted_answers_expired')],
});

export const CardRecordEntity = defineEntity({
  name: 'CardRecord',
  tableName: 'card_records',
  properties: {
    tenant_id: uuid().primary(),
    identity: identity().primary(),
    identity_verified: p.boolean().primary(),
    question_id: uuid().primary(),
    shown_at: moment(),
    dismissed_at: moment().nullable(),
    answered_at: moment().nullable(),
    counted_answer_id: uuid().nullable(),
    counted_completed: p.boolean().default(false),
    counted_before: uuid().nullable(),
  },
});

export const IdentityEntity = defineEntity({
  name: 'Identity',
  tableName: 'identities',
  properties: {
    tenant_id: uuid().primary(),
    identity: identity().primary(),
    identity_verified: p.boolean().primary(),
    attributes: json<object>(),
    locale: text().nullable(),
    platform: text().nullable(),
    app_version: text().nullable(),
    created_at: moment(),
    updated_at: moment(),
  },
});

export const QuarantinedAnswerEntity = defineEntity({
  name: 'QuarantinedAnswer',
  tableName: 'quarantined_answers',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    answer_id: uuid(),
    reason: text(),
    detail: text(),
    payload: text(),
    quarantined_at: moment(),
  },
  indexes: [{ name: 'quarantined_answers_newest', properties: ['tenant_id', 'quarantined_at', 'id'] }],
});

export const ConversationEntity = defineEntity({
  name: 'Conversation',
  tableName: 'conversations',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    identity: identity(),
    identity_verified: p.boolean(),
    subject: text(),
    status: text(),
    priority: text(),
    assignee_id: uuid().nullable(),
    tags: textArray(),
    source_type: text(),
    client_message_id: text().nullable(),
    started_by: text().default(''),
    last_seq: int(),
    last_note_seq: int(),
    last_preview: text(),
    last_author_type: text(),
    user_read_seq: int(),
    team_read_seq: int(),
    user_unread: int(),
    team_unread: int(),
    waiting_since: moment().nullable(),
    first_reply_at: moment().nullable(),
    resolved_at: moment().nullable(),
    previous_id: uuid().nullable(),
    created_at: moment(),
    updated_at: moment(),
    team_updated_at: moment(),
    last_activity_at: moment(),
  },
  indexes: [
    { name: 'conversations_active', properties: ['tenant_id', 'last_activity_at', 'id'] },
    { name: 'conversations_of_status', properties: ['tenant_id', 'status', 'last_activity_at', 'id'] },
    {
      name: 'conversations_of_identity',
      properties: ['tenant_id', 'identity', 'identity_verified', 'last_activity_at', 'id'],
    },
    {
      name: 'conversations_updated_of_identity',
      properties: ['tenant_id', 'identity', 'identity_verified', 'updated_at', 'id'],
    },
    { name: 'conversations_updated', properties: ['tenant_id', 'team_updated_at', 'id'] },
    { name: 'conversations_created', properties: ['tenant_id', 'created_at', 'id'] },
    { name: 'conversations_of_assignee', properties: ['tenant_id', 'assignee_id', 'last_activity_at', 'id'] },
    saidInSql('conversations_unread'),
    saidInSql('conversations_tagged'),
    saidInSql('conversations_words'),
  ],
  uniques: [
    {
      name: 'conversations_starter_client_id',
      properties: ['tenant_id', 'identity', 'identity_verified', 'source_type', 'started_by', 'client_message_id'],
    },
  ],
});

export const MessageEntity = defineEntity({
  name: 'Message',
  tableName: 'messages',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    conversation_id: uuid(),
    seq: int(),
    note_seq: int(),
    kind: text(),
    author_type: text(),
    author_id: text().nullable(),
    body: text(),
    format: text(),
    client_message_id: text().nullable(),
    created_at: moment(),
    edited_at: moment().nullable(),
    redacted: p.boolean(),
    author_name: text().nullable(),
  },
  indexes: [saidInSql('messages_words')],
  uniques: [
    { name: 'messages_in_order', properties: ['tenant_id', 'conversation_id', 'seq', 'note_seq'] },
    {
      name: 'messages_author_client_id',
      properties: ['tenant_id', 'conversation_id', 'author_type', 'author_id', 'client_message_id'],
    },
  ],
});

const total = () => p.bigint('number');

export const IngestionTotalEntity = defineEntity({
  name: 'IngestionTotal',
  tableName: 'ingestion_totals',
  properties: {
    tenant_id: uuid().primary(),
    stored: total(),
    repeated: total(),
    quarantined: total(),
    rejected: total(),
  },
});

export const RecordedFlushEntity = defineEntity({
  name: 'RecordedFlush',
  tableName: 'recorded_flushes',
  properties: { id: uuid().primary(), recorded_at: moment(), in_parts: p.boolean().default(false) },
  indexes: [{ name: 'recorded_flushes_oldest', properties: ['recorded_at'] }],
});

export const FlushProducerEntity = defineEntity({
  name: 'FlushProducer',
  tableName: 'flush_producers',
  properties: {
    id: uuid().primary(),
    written: p.bigint(),
    settled: p.bigint(),
    voided: p.array<string>().columnType('bigint[]'),
    held: p.array<string>().columnType('bigint[]'),
    claimed_at: moment(),
    open_since: moment().defaultRaw('now()'),
  },
});

export const LostFlushEntity = defineEntity({
  name: 'LostFlush',
  tableName: 'lost_flushes',
  properties: { id: uuid().primary(), found_at: moment() },
});

export const VanishedAnswerEntity = defineEntity({
  name: 'VanishedAnswer',
  tableName: 'vanished_answers',
  properties: { tenant_id: uuid().primary(), id: uuid().primary(), vanished_at: moment() },
});

export const IdempotencyKeyEntity = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    tenant_id: uuid().primary(),
    credential_id: uuid().primary(),
    key: text().primary(),
    request_hash: text(),
    status: int().nullable(),
    headers: json<object>().nullable(),
    body: text().nullable(),
    created_at: moment(),
  },
  indexes: [{ name: 'idempotency_keys_oldest', properties: ['created_at'] }],
});

export const RateCounterEntity = defineEntity({
  name: 'RateCounter',
  tableName: 'rate_counters',
  properties: { key: text().primary(), count: p.bigint('number'), expires_at: moment() },
});

/** The keys that codes are computed with: they outlive the secret key that they are encrypted with. */
export const LastingKeyEntity = defineEntity({
  name: 'LastingKey',
  tableName: 'lasting_keys',
  properties: { purpose: text().primary(), key_sealed: p.blob(), created_at: moment() },
});

export const SchemaStateEntity = defineEntity({
  name: 'SchemaState',
  tableName: 'schema_state',
  properties: { version: int().primary().autoincrement(false), oldest_compatible: int() },
});

/** Every table, for MikroORM and for the test that compares them with the schema after all migrations. */
export const ENTITIES = [
  TenantEntity,
  DeletedTenantEntity,
  AccountEntity,
  AccountSubjectEntity,
  AccountLinkEntity,
  SessionEntity,
  MemberEntity,
  InvitationEntity,
  AuditEntryEntity,
  ApiKeyEntity,
  QuestionEntity,
  QuestionVersionEntity,
  AnswerEntity,
  QuestionResultEntity,
  AnswerWordsEntity,
  MessageWordsEntity,
  UnindexedTextEntity,
  SearchBacklogEntity,
  DeletedAnswerEntity,
  CardRecordEntity,
  IdentityEntity,
  QuarantinedAnswerEntity,
  ConversationEntity,
  MessageEntity,
  IngestionTotalEntity,
  RecordedFlushEntity,
  FlushProducerEntity,
  LostFlushEntity,
  VanishedAnswerEntity,
  IdempotencyKeyEntity,
  RateCounterEntity,
  LastingKeyEntity,
  SchemaStateEntity,
];
