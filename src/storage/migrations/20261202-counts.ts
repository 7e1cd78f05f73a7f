import { Migration } from '@mikro-orm/migrations';

/**
 * Counts the answers that were stored before results were counted, one day of a question at a time.
 *
 * Each day is committed separately, so locks are short. The newest day comes first: a question whose first day is
 * counted is complete, which makes the migration resumable, and almost free if all are counted already.
 */
export class Counts extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(`
do $$
declare
  question record;
  first_day date;
  next_day date;
begin
  for question in select tenant_id, id from questions order by tenant_id, id loop
    select (received_at at time zone 'UTC')::date into first_day from answers
    where tenant_id = question.tenant_id and question_id = question.id order by received_at limit 1;
    continue when first_day is null or exists (select from question_results
      where tenant_id = question.tenant_id and question_id = question.id and day = first_day);
    select (received_at at time zone 'UTC')::date into next_day from answers
    where tenant_id = question.tenant_id and question_id = question.id order by received_at desc limit 1;
    while next_day is not null loop
      insert into question_results select * from count_results(question.tenant_id, question.id, next_day, next_day + 1)
      on conflict do nothing;
      commit;
      select (received_at at time zone 'UTC')::date into next_day from answers
      where tenant_id = question.tenant_id and question_id = question.id
        and received_at < next_day::timestamp at time zone 'UTC' order by received_at desc limit 1;
    end loop;
  end loop;
end $$`);
  }
}
