import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from './concurrent-index.ts';

/** Finds the ids of expired answers by age, so that retention can remove them. Built while the table is written to. */
export class ExpiredAnswers extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    for (const sql of createIndexConcurrently('deleted_answers_expired', 'deleted_answers (deleted_at) where expired'))
      this.addSql(sql);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
