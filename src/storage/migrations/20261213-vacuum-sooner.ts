import { Migration } from '@mikro-orm/migrations';

/** Tables that grow with the number of answers, messages or users. */
const LARGE_TABLES = [
  'answers',
  'answer_words',
  'audit_log',
  'card_records',
  'conversations',
  'deleted_answers',
  'identities',
  'message_words',
  'messages',
];

/** As parts of a table. PostgreSQL's defaults are 0.2, 0.2 and 0.1. */
const SCALE_FACTORS = {
  autovacuum_vacuum_scale_factor: 0.05,
  autovacuum_vacuum_insert_scale_factor: 0.05,
  autovacuum_analyze_scale_factor: 0.02,
};

/**
 * Vacuums and analyzes large tables after smaller changes: at 5 million answers, autovacuum would otherwise wait for a
 * million deleted rows, while their space stays unused.
 *
 * The factors are storage parameters, because the owner of a table may set those on a managed database too, and because
 * small tables with frequent changes keep the server's settings. A value that an operator has set stays. A partitioned
 * table has no storage parameters, so its partitions get them. Setting one blocks neither reads nor writes.
 */
export class VacuumSooner extends Migration {
  override up(): void {
    const tables = LARGE_TABLES.map(table => `'${table}'`).join(', ');
    const factors = Object.entries(SCALE_FACTORS).map(([name, value]) => `('${name}', '${value}')`);
    this.addSql(`
do $$
declare
  missing record;
begin
  for missing in
    select oid::regclass as name, string_agg(format('%I = %s', factor, value), ', ') as parameters
    from pg_class cross join (values ${factors.join(', ')}) as factors (factor, value)
    where relkind = 'r' and oid in (
      select coalesce(part.relid, to_regclass(large)) from unnest(array[${tables}]) as large
      left join lateral pg_partition_tree(to_regclass(large)) as part on true
    ) and not exists (select from pg_options_to_table(reloptions) where option_name = factor)
    group by oid order by oid
  loop
    execute format('alter table %s set (%s)', missing.name, missing.parameters);
  end loop;
end $$`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
