import { AccountEntity, AccountLinkEntity, AccountSubjectEntity } from './accounts.ts';
import { AnswerEntity, DeletedAnswerEntity } from './answers.ts';
import { ApiKeyEntity } from './api-keys.ts';
import { AuditEntryEntity } from './audit-log.ts';
import { CardRecordEntity } from './card-records.ts';
import { ConversationEntity } from './conversations.ts';
import { IdempotencyKeyEntity } from './idempotency-keys.ts';
import { IdentityEntity } from './identities.ts';
import {
  FlushProducerEntity,
  IngestionTotalEntity,
  LostFlushEntity,
  QuarantinedAnswerEntity,
  RecordedFlushEntity,
  VanishedAnswerEntity,
} from './ingestion.ts';
import { LastingKeyEntity } from './lasting-keys.ts';
import { InvitationEntity, MemberEntity } from './members.ts';
import { MessageEntity } from './messages.ts';
import { QuestionEntity, QuestionVersionEntity } from './questions.ts';
import { RateCounterEntity } from './rate-counters.ts';
import { QuestionResultEntity } from './results.ts';
import { SchemaStateEntity } from './schema-state.ts';
import { AnswerWordsEntity, MessageWordsEntity, SearchBacklogEntity, UnindexedTextEntity } from './search.ts';
import { SessionEntity } from './sessions.ts';
import { DeletedTenantEntity, TenantEntity } from './tenants.ts';

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
