import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from './concurrent-index.ts';

/**
 * Ids of profiles, by which events refer to them without the name of an identity. A profile of an earlier version gets
 * one when it changes next.
 */
export class IdentityIds extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('alter table identities add column if not exists id uuid');
    this.addSql('alter table identities alter column id set default gen_random_uuid()');
    for (const sql of createIndexConcurrently(
      'identities_id',
      'identities (tenant_id, id) where id is not null',
      'unique',
    ))
      this.addSql(sql);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
