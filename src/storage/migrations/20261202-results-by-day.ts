import { Migration } from '@mikro-orm/migrations';
import { countResults } from './20261125-results.ts';

/** Counts the choices of a range of days once, instead of once per row of the result. */
export class ResultsByDay extends Migration {
  override up(): void {
    this.addSql(countResults('create or replace'));
  }
}
