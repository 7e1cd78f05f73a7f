import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.ts';

/**
 * Indexes of due times: of each tenant's snoozed conversations, of webhooks with deliveries that wait, and of questions with an end. `questions_to_end` replaces
 * `questions_ending`, which kept every question that had ever ended.
 */
export class WorkIndexes extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    const indexes = {
      conversations_snoozed_of_tenant: "conversations (tenant_id, snoozed_until) where status = 'snoozed'",
      questions_to_end: "questions (end_at) where end_at is not null and status in ('scheduled', 'live', 'paused')",
      webhooks_by_due_time: 'webhooks (due_at) where due_at is not null',
    };
    for (const [name, definition] of Object.entries(indexes))
      for (const sql of createIndexConcurrently(name, definition)) this.addSql(sql);
    for (const sql of dropIndexConcurrently('questions_ending')) this.addSql(sql);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
