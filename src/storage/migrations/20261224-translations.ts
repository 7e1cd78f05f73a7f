import { Migration } from '@mikro-orm/migrations';

/** The first schema whose builds show cards in other languages, and recall attributes. */
export const TRANSLATIONS_SCHEMA = 28;

/**
 * Languages of questions. New columns have constant defaults, so no table is rewritten. A version does not have the
 * question's own language, which never changes once there are versions.
 *
 * Existing questions get the tenant's default language. Their cards said `en`, whatever their language was.
 */
export class Translations extends Migration {
  override up(): void {
    this.addSql("alter table questions add column translations jsonb not null default '{}'");
    this.addSql("alter table questions add column locale text not null default 'en'");
    this.addSql("alter table question_versions add column translations jsonb not null default '{}'");
    this.addSql(`
update questions set locale = default_locale from tenants
where tenants.id = questions.tenant_id and default_locale <> 'en'`);
    this.announceProfiles();
    this.addSql(`insert into schema_state values (${TRANSLATIONS_SCHEMA}, 11) on conflict do nothing`);
  }

  /** Card lists depend on the profile, so its changes are announced like those of card records. */
  private announceProfiles(): void {
    for (const [event, rows] of [
      ['insert', 'new'],
      ['update', 'new'],
      ['delete', 'old'],
    ])
      this.addSql(`
create trigger announce_${event} after ${event} on identities
referencing ${rows} table as changed for each statement execute function announce_card_records()`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
