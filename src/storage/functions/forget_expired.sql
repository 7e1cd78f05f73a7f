-- Deletes expired rows that belong to no tenant's retention: idempotency keys, counters, marks of flushes, counts of mails.
create or replace function forget_expired(kept interval) returns void
language sql security definer set search_path = public, pg_temp as $$
  delete from idempotency_keys where created_at < clock_timestamp() - interval '24 hours';
    delete from rate_counters where expires_at < clock_timestamp();
    delete from recorded_flushes where recorded_at < clock_timestamp() - kept;
    delete from mail_counts where day < (clock_timestamp() at time zone 'UTC')::date - 1
$$;
revoke all on function forget_expired from public;
grant execute on function forget_expired to parley_app, parley_worker;
