import { EVENTS_KEPT_DAYS } from '../../domain/events/events.ts';
import { DELIVERIES_KEPT_DAYS } from '../../domain/events/webhooks.ts';
import { FLUSHES_KEPT } from '../upkeep/housekeeping.ts';
import type { TableEntry } from './entry.ts';

const UNTIL_DELETED = 'until deleted by the team';
const WITH_TENANT = 'as long as the tenant';
const PERMANENTLY = 'as long as the installation';
const NO_WORDS = `has only ids and states, and is deleted after ${EVENTS_KEPT_DAYS} days`;

/** Tables by which other systems follow changes. */
export const EVENTS: Record<string, TableEntry> = {
  events: {
    why: 'changes of answers, conversations and profiles, so that other systems can follow them',
    kept: `${EVENTS_KEPT_DAYS} days`,
    person: { by: 'objects', erasure: { keep: NO_WORDS }, export: { omit: 'has only ids and states' } },
    about: 'type object_type object_id conversation_id data written_at',
    technical: 'tenant_id id ordinal place',
  },
  event_batches: {
    why: 'the order of the events',
    kept: `${EVENTS_KEPT_DAYS} days`,
    technical: 'tenant_id last ids types written_until',
  },
  event_sequences: { why: 'the number of the last event', kept: WITH_TENANT, technical: 'tenant_id last' },
  held_events: {
    why: 'the order of the events',
    kept: 'until the events have their numbers',
    technical: 'tenant_id numbered_until last_place held_at',
  },
  event_numbering: {
    why: 'the order of the events',
    kept: PERMANENTLY,
    technical: 'is_only numbered_until settled_until floor floor_set_by',
  },
  webhooks: {
    why: 'addresses of other systems that receive events',
    kept: UNTIL_DELETED,
    settings: 'url description event_types payload ordered status disabled_reason',
    secret: 'secret_sealed previous_secret_sealed',
    technical:
      'tenant_id id previous_secret_until feed_position failures failing_since due_at lease lease_until created_at updated_at',
  },
  deliveries: {
    why: 'attempts to send an event to a webhook, to find faults',
    kept: `${DELIVERIES_KEPT_DAYS} days; the receiver’s reply at most as long as the answer, message, conversation or profile`,
    person: {
      by: 'objects',
      erasure: { blank: 'response' },
      export: { omit: 'has only ids, and replies of other systems' },
    },
    about: 'response object_id',
    technical:
      'tenant_id id webhook_id event_id sequence type event_at attempt at status response_status duration_ms error',
  },
  idempotency_keys: {
    why: 'replies to requests of the team’s systems, so that a repeated request gets the same one',
    kept: '24 hours',
    person: { by: 'content', erasure: 'delete', export: { omit: 'copies of the other data' } },
    words: 'body',
    technical: 'tenant_id credential_id key request_hash status headers created_at value_hash',
  },
};

/** Tables with settings and texts of the tenants, and figures without a person. */
export const SETTINGS: Record<string, TableEntry> = {
  tenants: {
    why: 'the tenant and its settings',
    kept: 'until the tenant is deleted',
    settings: `name cooldown_days default_locale locales timezone ip_mode retention_answers_days retention_conversations_days
      identity_attributes_allowed appearance auto_resolve_days office_hours reply_targets custom_fields`,
    technical: 'id created_at results_fixed_before first_card_at is_demo',
  },
  api_keys: {
    why: 'keys of the tenant’s apps and systems',
    kept: WITH_TENANT,
    settings: 'name kind scopes allowed_origins hint expires_at',
    secret: 'secret_sealed bearer_hash previous_secret_sealed previous_bearer_hash',
    technical: 'tenant_id id previous_valid_until created_at revoked_at last_used_at',
  },
  questions: {
    why: 'questions and the rules by which they are asked',
    kept: 'drafts until deleted by the team, others as long as the tenant',
    settings: `name status type title description config frequency allow_public priority follow_ups thanks placement translations locale
      audience start_at end_at trigger sampling_percent response_limit`,
    technical: 'tenant_id id version created_at updated_at published_at closed_at full_until',
  },
  question_versions: {
    why: 'earlier texts of questions, to read their answers',
    kept: WITH_TENANT,
    settings: 'type title description config follow_ups thanks translations',
    technical: 'tenant_id question_id version created_at',
  },
  macros: {
    why: 'prepared replies and changes',
    kept: UNTIL_DELETED,
    settings: 'name shortcut body kind changes',
    technical: 'tenant_id id created_at updated_at',
  },
  assignment_rules: {
    why: 'rules by which conversations are assigned to members',
    kept: WITH_TENANT,
    settings: 'rules',
    technical: 'tenant_id version turns new_since',
  },
  question_results: {
    why: 'how often each value was answered, by question and day, without a person; expired answers still count',
    kept: WITH_TENANT,
    technical: `tenant_id question_id day question_version identity_verified seen dismissed partial completed written scores choices`,
  },
  question_step_results: {
    why: 'the same for follow-up questions',
    kept: WITH_TENANT,
    technical: `tenant_id question_id step day question_version identity_verified partial completed skipped left written scores choices`,
  },
  response_quotas: {
    why: 'the number of answers that count towards the limit of a question',
    kept: WITH_TENANT,
    technical: 'tenant_id question_id taken',
  },
};

/** Tables for running the service. */
export const OPERATION: Record<string, TableEntry> = {
  ingestion_totals: {
    why: 'the number of answers by outcome',
    kept: WITH_TENANT,
    technical: 'tenant_id stored repeated quarantined rejected',
  },
  recorded_flushes: {
    why: 'proves that no answer is stored twice',
    kept: FLUSHES_KEPT,
    technical: 'id recorded_at in_parts',
  },
  flush_producers: {
    why: 'proves that no accepted answer is lost',
    kept: 'as long as the process that accepts answers, and a day',
    technical: 'id written settled voided held claimed_at open_since',
  },
  lost_flushes: { why: 'reports lost answers', kept: 'until acknowledged', technical: 'id found_at' },
  rate_counters: {
    why: 'counts requests, by digests',
    kept: 'until the limit’s window ends',
    technical: 'key count expires_at',
  },
  marked_tenants: {
    why: 'background work that is due',
    kept: 'until done',
    technical: 'tenant_id kind id marked_at taken taken_before',
  },
  deleted_tenants: { why: 'keeps deleted tenants from returning', kept: PERMANENTLY, technical: 'id deleted_at' },
  lasting_keys: {
    why: 'keys of the installation',
    kept: PERMANENTLY,
    secret: 'key_sealed',
    technical: 'purpose created_at',
  },
  processes: { why: 'the running processes', kept: 'until they end', technical: 'id role version schema seen_at' },
  last_backup: {
    why: 'when the last backup ended',
    kept: PERMANENTLY,
    technical: 'is_only complete_until finished_at',
  },
  schema_state: { why: 'the version of the tables', kept: PERMANENTLY, technical: 'version oldest_compatible' },
  schema_migrations: { why: 'the changes of the tables', kept: PERMANENTLY, technical: 'id name executed_at' },
};
