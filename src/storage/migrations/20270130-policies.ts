import { Migration } from '@mikro-orm/migrations';
import { CURRENT_ACCOUNT, CURRENT_TENANT } from '../row-scope.ts';

/** The expression of earlier migrations, as PostgreSQL shows it. */
const stored = (name: string): string =>
  `$old$(NULLIF(current_setting('parley.${name}'::text, true), ''::text))::uuid$old$`;

const renewed = (condition: string): string =>
  `replace(replace(${condition}, ${stored('tenant')}, $new$${CURRENT_TENANT}$new$), ${stored('account')}, $new$${CURRENT_ACCOUNT}$new$)`;

/**
 * Hides the tenant of policies from the planner (`row-scope.ts`).
 *
 * Each policy is altered in its own transaction, so that no other statement waits for more than one table. It may run
 * again.
 */
export class Policies extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(`
do $$
declare
  found record;
begin
  for found in
    select tablename, policyname, qual, with_check from pg_policies
    where schemaname = 'public' and concat(qual, with_check) like '%current_setting%'
      and concat(qual, with_check) not like '%ROW(0, 0) < ROW(0, 1)%'
  loop
    execute format('alter policy %I on %I', found.policyname, found.tablename)
      || coalesce(' using (' || ${renewed('found.qual')} || ')', '')
      || coalesce(' with check (' || ${renewed('found.with_check')} || ')', '');
    commit;
  end loop;
end $$`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
