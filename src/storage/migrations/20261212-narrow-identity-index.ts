import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.ts';

/**
 * Replaces the index of answers by identity with one that has no order within an identity. PostgreSQL stores each identity
 * once in it, so it takes a quarter of the space, and a stored answer writes a third less WAL on a large table
 * (docs/decisions/0029).
 *
 * The previous version finds the answers of an identity with either index, and sorts them itself with this one.
 */
export class NarrowIdentityIndex extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    const definition = 'answers (tenant_id, identity, identity_verified)';
    for (const sql of createIndexConcurrently('answers_by_identity', definition)) this.addSql(sql);
    for (const sql of dropIndexConcurrently('answers_of_identity')) this.addSql(sql);
    this.addSql('insert into schema_state values (20, 1) on conflict do nothing');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
