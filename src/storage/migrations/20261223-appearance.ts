import { Migration } from '@mikro-orm/migrations';

/**
 * The appearance of cards, and of each question the text after an answer and the placement. New columns have constant
 * defaults, so no table is rewritten; processes of the previous version neither read nor write them.
 */
export class CardAppearance extends Migration {
  override up(): void {
    this.addSql("alter table tenants add column appearance jsonb not null default '{}'");
    this.addSql('alter table questions add column thanks jsonb, add column placement text');
    this.addSql('alter table question_versions add column thanks jsonb');
    this.announceAppearance();
    this.addSql('insert into schema_state values (27, 11) on conflict do nothing');
  }

  /** As in the migration of the tenants: the fields that Parley itself writes are not announced. */
  private announceAppearance(): void {
    this.addSql('drop trigger announce on tenants');
    this.addSql(`
create trigger announce after insert or delete or update of
  name, default_locale, locales, timezone, cooldown_days, ip_mode, identity_attributes_allowed, appearance
on tenants for each row execute function announce_change()`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
