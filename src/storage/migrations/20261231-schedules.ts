import { Migration } from '@mikro-orm/migrations';

/** The function with which the worker moves questions by their schedule, and its indexes. */
export class Schedules extends Migration {
  override up(): void {
    this.addSql("create index questions_starting on questions (start_at) where status = 'scheduled'");
    this.addSql('create index questions_ending on questions (end_at) where end_at is not null');
    this.moveQuestions();
    this.addSql('insert into schema_state values (35, 11) on conflict do nothing');
  }

  /** The end closes a question although the worker may be late: answers are accepted for the same time after it. */
  private moveQuestions(): void {
    this.addSql(`
create function move_scheduled_questions() returns int
language sql volatile security definer set search_path = public, pg_temp
as $$
  with ended as (
    update questions set status = 'closed', closed_at = end_at, updated_at = clock_timestamp()
    where end_at is not null and end_at <= clock_timestamp() and status in ('scheduled', 'live', 'paused') returning 1
  ), started as (
    update questions set status = 'live', updated_at = clock_timestamp()
    where status = 'scheduled' and (start_at is null or start_at <= clock_timestamp())
      and (end_at is null or end_at > clock_timestamp()) returning 1
  )
  select (select count(*) from ended)::int + (select count(*) from started)::int
$$`);
    this.addSql('revoke all on function move_scheduled_questions() from public');
    this.addSql('grant execute on function move_scheduled_questions() to parley_worker');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
