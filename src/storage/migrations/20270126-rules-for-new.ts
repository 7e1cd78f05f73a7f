import { Migration } from '@mikro-orm/migrations';

/** Assignment rules that were saved for new conversations only leave alone those that have not changed since. */
export class RulesForNew extends Migration {
  override up(): void {
    this.addSql('alter table assignment_rules add column new_since timestamptz(3)');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
