import { Migration } from '@mikro-orm/migrations';
import { createIndexConcurrently } from '../../src/storage/migrations/concurrent-index.ts';
import { MIGRATIONS } from '../../src/storage/migrations/index.ts';

/** A preload (`node --import`), or an import of a test, that adds two migrations: a column, and an index created concurrently. */

class NextColumn extends Migration {
  override up(): void {
    this.addSql('alter table answers add column next_note text');
  }
}

class NextIndex extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    for (const sql of createIndexConcurrently('answers_next', 'answers (tenant_id, next_note)')) this.addSql(sql);
  }
}

const next = { '29991230-next-column': NextColumn, '29991231-next-index': NextIndex };

/** The names of the migrations. */
export const NEXT_MIGRATIONS = Object.keys(next);

for (const [name, added] of Object.entries(next))
  MIGRATIONS.push({ name, class: added as unknown as (typeof MIGRATIONS)[number]['class'] });
