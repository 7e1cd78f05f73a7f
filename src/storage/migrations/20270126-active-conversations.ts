import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from './concurrent-index.ts';

/** An index of the open and pending conversations of each user, whose number is limited. */
export class ActiveConversations extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    const definition = "conversations (tenant_id, identity, identity_verified) where status in ('open', 'pending')";
    for (const sql of createIndexConcurrently('conversations_of_user_active', definition)) this.addSql(sql);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
