import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from './concurrent-index.ts';

/** Index of the open conversations whose user waits for a reply, by the time since they wait. */
export class WaitingIndex extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    const definition =
      "conversations (tenant_id, waiting_since, id) where status = 'open' and waiting_since is not null";
    for (const sql of createIndexConcurrently('conversations_by_wait', definition)) this.addSql(sql);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
