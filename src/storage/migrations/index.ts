import { Foundation } from './20261121-foundation.ts';
import { Isolation } from './20261122-isolation.ts';
import { Conservation } from './20261123-conservation.ts';
import { Accounts } from './20261124-accounts.ts';
import { Results } from './20261125-results.ts';
import { Search } from './20261126-search.ts';
import { Identities } from './20261127-identities.ts';
import { Tenants } from './20261128-tenants.ts';
import { LastingKeys } from './20261129-lasting-keys.ts';
import { DeletedTenants } from './20261130-deleted-tenants.ts';
import { CardRecordRoom } from './20261201-card-record-room.ts';
import { Counts } from './20261202-counts.ts';
import { Indexes } from './20261202-indexes.ts';
import { ResultsByDay } from './20261202-results-by-day.ts';
import { OpenClaims } from './20261203-open-claims.ts';
import { KeyLookUps } from './20261205-key-look-ups.ts';
import { CountedAnswers } from './20261206-counted-answers.ts';
import { ExpiredAnswers } from './20261206-expired-answers.ts';
import { MessageAuthors } from './20261206-message-authors.ts';
import { OpenWrites } from './20261206-open-writes.ts';
import { ListIndexes } from './20261210-list-indexes.ts';
import { SearchIndex } from './20261210-search-index.ts';
import { NarrowIdentityIndex } from './20261212-narrow-identity-index.ts';
import { VacuumSooner } from './20261213-vacuum-sooner.ts';
import { RequestRepeats } from './20261216-request-repeats.ts';
import { MessageEvents } from './20261217-message-events.ts';
import { Processes } from './20261217-processes.ts';
import { LastBackup } from './20261219-last-backup.ts';
import { TestAnswers } from './20261220-test-answers.ts';
import { FOLLOW_UPS_SCHEMA, FollowUps } from './20261222-follow-ups.ts';
import { CardAppearance } from './20261223-appearance.ts';
import { TRANSLATIONS_SCHEMA, Translations } from './20261224-translations.ts';
import { ChangedProfiles } from './20261225-changed-profiles.ts';
import { CARD_RULES_SCHEMA, CardRules } from './20261226-card-rules.ts';
import { ResponseQuotas } from './20261227-response-quotas.ts';
import { SnoozedConversations } from './20261227-snoozed-conversations.ts';
import { TimerIndex } from './20261227-timer-index.ts';
import { ConversationTombstones } from './20261228-conversation-tombstones.ts';
import { MessageNotes } from './20261228-message-notes.ts';
import { CardValues } from './20261229-card-values.ts';
import { Macros } from './20261229-macros.ts';
import { DemoTenants } from './20261230-demo-tenants.ts';
import { Events } from './20261231-events.ts';
import { IdentityIds } from './20261231-identity-ids.ts';
import { LastValues } from './20261231-last-values.ts';
import { Schedules } from './20261231-schedules.ts';
import { SystemEvents } from './20261231-system-events.ts';
import { Webhooks } from './20270101-webhooks.ts';
import { CustomFields } from './20270102-custom-fields.ts';
import { InboxIndexes } from './20270102-inbox-indexes.ts';
import { Mentions } from './20270102-mentions.ts';
import { ReplyTargets } from './20270102-reply-targets.ts';
import { Views } from './20270102-views.ts';
import { Assignment } from './20270103-assignment.ts';
import { AssignmentIndexes } from './20270103-assignment-indexes.ts';
import { CountIndexes } from './20270104-count-indexes.ts';
import { RedactedPreviews } from './20270104-redacted-previews.ts';
import { ProfileChanges } from './20270105-profile-changes.ts';
import { EventNumbers } from './20270106-event-numbers.ts';
import { MergedConversations } from './20270107-merged-conversations.ts';
import { DueDeliveries } from './20270108-due-deliveries.ts';
import { WaitingIndex } from './20270109-waiting-index.ts';
import { LongConversations } from './20270110-long-conversations.ts';
import { ContinuedConversations } from './20270111-continued-conversations.ts';
import { LockedObjects } from './20270112-locked-objects.ts';
import { EventBatches } from './20270113-event-batches.ts';
import { TenantWork } from './20270122-tenant-work.ts';
import { WorkIndexes } from './20270122-work-indexes.ts';
import { MailCounts } from './20270124-mail-counts.ts';
import { ProvenAddresses } from './20270124-proven-addresses.ts';
import { ActiveConversations } from './20270126-active-conversations.ts';
import { RulesForNew } from './20270126-rules-for-new.ts';
import { SessionAddresses } from './20270128-session-addresses.ts';
import { Policies } from './20270130-policies.ts';
import { FunctionGrants } from './20270131-function-grants.ts';
import { Mails } from './20270201-mails.ts';

/** Every migration in order. Names never change, because databases store them. */
export const MIGRATIONS = [
  { name: '20261121-foundation', class: Foundation },
  { name: '20261122-isolation', class: Isolation },
  { name: '20261123-conservation', class: Conservation },
  { name: '20261124-accounts', class: Accounts },
  { name: '20261125-results', class: Results },
  { name: '20261126-search', class: Search },
  { name: '20261127-identities', class: Identities },
  { name: '20261128-tenants', class: Tenants },
  { name: '20261129-lasting-keys', class: LastingKeys },
  { name: '20261130-deleted-tenants', class: DeletedTenants },
  { name: '20261201-card-record-room', class: CardRecordRoom },
  { name: '20261202-results-by-day', class: ResultsByDay },
  { name: '20261202-counts', class: Counts },
  { name: '20261202-indexes', class: Indexes },
  { name: '20261203-open-claims', class: OpenClaims },
  { name: '20261205-key-look-ups', class: KeyLookUps },
  { name: '20261206-counted-answers', class: CountedAnswers },
  { name: '20261206-expired-answers', class: ExpiredAnswers },
  { name: '20261206-message-authors', class: MessageAuthors },
  { name: '20261206-open-writes', class: OpenWrites },
  { name: '20261210-search-index', class: SearchIndex },
  { name: '20261210-list-indexes', class: ListIndexes },
  { name: '20261212-narrow-identity-index', class: NarrowIdentityIndex },
  { name: '20261213-vacuum-sooner', class: VacuumSooner },
  { name: '20261216-request-repeats', class: RequestRepeats },
  { name: '20261217-message-events', class: MessageEvents },
  { name: '20261217-processes', class: Processes },
  { name: '20261219-last-backup', class: LastBackup },
  { name: '20261220-test-answers', class: TestAnswers },
  { name: '20261222-follow-ups', class: FollowUps },
  { name: '20261223-appearance', class: CardAppearance },
  { name: '20261224-translations', class: Translations },
  { name: '20261225-changed-profiles', class: ChangedProfiles },
  { name: '20261226-card-rules', class: CardRules },
  { name: '20261227-response-quotas', class: ResponseQuotas },
  { name: '20261227-snoozed-conversations', class: SnoozedConversations },
  { name: '20261227-timer-index', class: TimerIndex },
  { name: '20261229-card-values', class: CardValues },
  { name: '20261230-demo-tenants', class: DemoTenants },
  { name: '20261228-conversation-tombstones', class: ConversationTombstones },
  { name: '20261228-message-notes', class: MessageNotes },
  { name: '20261229-macros', class: Macros },
  { name: '20261231-identity-ids', class: IdentityIds },
  { name: '20261231-events', class: Events },
  { name: '20261231-schedules', class: Schedules },
  { name: '20261231-last-values', class: LastValues },
  { name: '20270101-webhooks', class: Webhooks },
  { name: '20270102-views', class: Views },
  { name: '20270102-mentions', class: Mentions },
  { name: '20270102-reply-targets', class: ReplyTargets },
  { name: '20270102-custom-fields', class: CustomFields },
  { name: '20270102-inbox-indexes', class: InboxIndexes },
  { name: '20270103-assignment', class: Assignment },
  { name: '20270103-assignment-indexes', class: AssignmentIndexes },
  { name: '20261231-system-events', class: SystemEvents },
  { name: '20270104-count-indexes', class: CountIndexes },
  { name: '20270104-redacted-previews', class: RedactedPreviews },
  { name: '20270105-profile-changes', class: ProfileChanges },
  { name: '20270106-event-numbers', class: EventNumbers },
  { name: '20270107-merged-conversations', class: MergedConversations },
  { name: '20270108-due-deliveries', class: DueDeliveries },
  { name: '20270109-waiting-index', class: WaitingIndex },
  { name: '20270110-long-conversations', class: LongConversations },
  { name: '20270111-continued-conversations', class: ContinuedConversations },
  { name: '20270112-locked-objects', class: LockedObjects },
  { name: '20270113-event-batches', class: EventBatches },
  { name: '20270122-work-indexes', class: WorkIndexes },
  { name: '20270122-tenant-work', class: TenantWork },
  { name: '20270124-mail-counts', class: MailCounts },
  { name: '20270124-proven-addresses', class: ProvenAddresses },
  { name: '20270126-active-conversations', class: ActiveConversations },
  { name: '20270126-rules-for-new', class: RulesForNew },
  { name: '20270128-session-addresses', class: SessionAddresses },
  { name: '20270130-policies', class: Policies },
  { name: '20270131-function-grants', class: FunctionGrants },
  { name: '20270201-mails', class: Mails },
];

/**
 * The schema version that this build needs, recorded by `migrate` once every migration is applied. A later one works if
 * it declares this build compatible.
 *
 * Raise it with each new migration. A migration that records this version itself would end the wait of new processes
 * before the migrations after it.
 */
export const NEEDED_SCHEMA = 60;

/** The oldest version whose processes run on this schema: that of the build in `test/e2e/versions.check.ts`. */
export const OLDEST_COMPATIBLE = 11;

export { CARD_RULES_SCHEMA, FOLLOW_UPS_SCHEMA, TRANSLATIONS_SCHEMA };
