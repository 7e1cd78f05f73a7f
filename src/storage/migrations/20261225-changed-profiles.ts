import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from './concurrent-index.ts';

/** An index of the profiles that changed last, from which the names of attributes in use are taken. */
export class ChangedProfiles extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    for (const sql of createIndexConcurrently('identities_changed', 'identities (tenant_id, updated_at)'))
      this.addSql(sql);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
