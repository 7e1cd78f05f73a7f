import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from './concurrent-index.ts';

const UNASSIGNED = "status = 'open' and assignee_id is null";

/** Indexes of the conversations that rules look at, of those that wait for a member, and of those that a member has. */
const INDEXES = {
  conversations_to_assign: `conversations (tenant_id, rules_checked, created_at, id) where ${UNASSIGNED}`,
  conversations_waiting: `conversations (tenant_id, assignment_rule, created_at, id) where ${UNASSIGNED} and assignment_waits`,
  conversations_held: `conversations (tenant_id, assignee_id, id) where status in ('open', 'pending') and assignee_id is not null`,
};

export class AssignmentIndexes extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    for (const [name, definition] of Object.entries(INDEXES))
      for (const sql of createIndexConcurrently(name, definition)) this.addSql(sql);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
