import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently, dropIndexConcurrently } from './concurrent-index.ts';

/**
 * Indexes for the deliveries that wait: by the time at which they are due, and in the order of the feed.
 *
 * Before, each round of a webhook read all of its waiting deliveries. A receiver that refuses some events may have hundreds
 * of thousands of them. `deliveries_in_turn` replaces `deliveries_waiting`, whose order had the tests last.
 */
export class DueDeliveries extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    const indexes = {
      deliveries_due: "deliveries (tenant_id, webhook_id, at) where status = 'waiting'",
      deliveries_in_turn: "deliveries (tenant_id, webhook_id, sequence nulls first) where status = 'waiting'",
    };
    for (const [name, definition] of Object.entries(indexes))
      for (const sql of createIndexConcurrently(name, definition)) this.addSql(sql);
    for (const sql of dropIndexConcurrently('deliveries_waiting')) this.addSql(sql);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
