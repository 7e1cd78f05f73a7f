import { AccountEntity, AccountLinkEntity, AccountSubjectEntity } from './accounts.ts';
import { AnswerEntity, DeletedAnswerEntity } from './answers.ts';
import { ApiKeyEntity } from './api-keys.ts';
import { AssignmentRulesEntity } from './assignment-rules.ts';
import { AuditEntryEntity } from './audit-log.ts';
import { CardRecordEntity } from './card-records.ts';
import { ConversationEntity, ConversationTombstoneEntity, DeletedConversationEntity } from './conversations.ts';
import { DeliveryEntity } from './deliveries.ts';
import { DerivedKeyEntity } from './derived-keys.ts';
import {
  EventBatchEntity,
  EventEntity,
  EventNumberingEntity,
  EventSequenceEntity,
  HeldEventsEntity,
} from './events.ts';
import { IdempotencyKeyEntity } from './idempotency-keys.ts';
import { IdentityEntity, ProfileChangeEntity } from './identities.ts';
import {
  FlushProducerEntity,
  IngestionTotalEntity,
  LostFlushEntity,
  QuarantinedAnswerEntity,
  RecordedFlushEntity,
  VanishedAnswerEntity,
} from './ingestion.ts';
import { LastBackupEntity } from './last-backup.ts';
import { MacroEntity } from './macros.ts';
import { MailCountEntity } from './mail-counts.ts';
import { MailEntity } from './mails.ts';
import { MarkedTenantEntity } from './marked-tenants.ts';
import { InvitationEntity, MemberEntity } from './members.ts';
import { MessageEntity } from './messages.ts';
import { ProcessEntity } from './processes.ts';
import { QuestionEntity, QuestionVersionEntity } from './questions.ts';
import { RateCounterEntity } from './rate-counters.ts';
import { QuestionResultEntity, QuestionStepResultEntity, ResponseQuotaEntity } from './results.ts';
import { SchemaStateEntity } from './schema-state.ts';
import { AnswerWordsEntity, MessageWordsEntity } from './search.ts';
import { SessionEntity } from './sessions.ts';
import { DeletedTenantEntity, TenantEntity } from './tenants.ts';
import { TestAnswerEntity } from './test-answers.ts';
import { ViewEntity } from './views.ts';
import { WebhookEntity } from './webhooks.ts';

/** All tables, for MikroORM and for the test that compares them with the migrated schema. */
export const ENTITIES = [
  TenantEntity,
  DeletedTenantEntity,
  AccountEntity,
  AccountSubjectEntity,
  AccountLinkEntity,
  SessionEntity,
  MacroEntity,
  AssignmentRulesEntity,
  ViewEntity,
  MemberEntity,
  InvitationEntity,
  AuditEntryEntity,
  ApiKeyEntity,
  QuestionEntity,
  QuestionVersionEntity,
  AnswerEntity,
  QuestionResultEntity,
  QuestionStepResultEntity,
  ResponseQuotaEntity,
  AnswerWordsEntity,
  MessageWordsEntity,
  DeletedAnswerEntity,
  TestAnswerEntity,
  CardRecordEntity,
  IdentityEntity,
  ProfileChangeEntity,
  QuarantinedAnswerEntity,
  ConversationEntity,
  ConversationTombstoneEntity,
  DeletedConversationEntity,
  MessageEntity,
  EventEntity,
  EventBatchEntity,
  EventSequenceEntity,
  EventNumberingEntity,
  HeldEventsEntity,
  MarkedTenantEntity,
  WebhookEntity,
  DeliveryEntity,
  IngestionTotalEntity,
  RecordedFlushEntity,
  FlushProducerEntity,
  LostFlushEntity,
  VanishedAnswerEntity,
  LastBackupEntity,
  MailCountEntity,
  MailEntity,
  ProcessEntity,
  IdempotencyKeyEntity,
  RateCounterEntity,
  DerivedKeyEntity,
  SchemaStateEntity,
];
