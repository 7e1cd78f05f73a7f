import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from './concurrent-index.ts';

/** An index of the due times of snoozed conversations, so that looking for due ones reads only these. */
export class TimerIndex extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    const definition = "conversations (snoozed_until) where status = 'snoozed'";
    for (const sql of createIndexConcurrently('conversations_snoozed', definition)) this.addSql(sql);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
