import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from './concurrent-index.ts';

/** An index of notes and events by their own numbers, so that a reader finds those that it has not seen. */
export class MessageNotes extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    const definition = 'messages (tenant_id, conversation_id, note_seq) where note_seq > 0';
    for (const sql of createIndexConcurrently('messages_notes', definition)) this.addSql(sql);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
