import type { ClientBase, Pool } from 'pg';
import { QUEUES, type QueueName } from './jobs.ts';
import { HEADS, type Pending } from './pending.ts';

/*
 * The registry of pending answers in PostgreSQL. Triggers on BullMQ's job table maintain it in the transaction that
 * adds or removes a job, for any version of Parley.
 */

/** Rows per sum: transactions that count for one tenant at the same time rarely wait for each other. */
const SHARDS = 64;
/** Jobs from before the triggers that are counted in one transaction. */
const COUNTED_AT_ONCE = 200;
const TIME = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T';
const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

const TABLES = `
create table if not exists bullmq.parley_pending (
  queue text not null,
  job_id text not null,
  tenant_id uuid not null,
  part_of uuid,
  answers int not null,
  oldest timestamptz not null
);
create index if not exists parley_pending_jobs on bullmq.parley_pending (queue, job_id);
create index if not exists parley_pending_ages on bullmq.parley_pending (tenant_id, oldest);
create table if not exists bullmq.parley_sums (
  name text not null,
  shard int not null,
  value bigint not null,
  primary key (name, shard)
) with (fillfactor = 50)`;

const FUNCTIONS = `
create or replace function bullmq.parley_add(names text[], amounts bigint[]) returns void language sql as $$
  insert into bullmq.parley_sums
  select name, pg_backend_pid() % ${SHARDS}, sum(amount) from unnest(names, amounts) as each(name, amount)
  group by name order by name
  on conflict (name, shard) do update set value = parley_sums.value + excluded.value
$$;

create or replace function bullmq.parley_count(job_queue text, job text, data jsonb) returns void language plpgsql as $$
declare
  whole uuid := case when job_queue = 'isolation' and data ->> 'part_of' ~ '${UUID}' then (data ->> 'part_of')::uuid end;
  names text[];
  amounts bigint[];
begin
  with answer as (
    select each ->> 'tenant_id' as tenant_id,
      case when each ->> 'received_at' ~ '${TIME}' then (each ->> 'received_at')::timestamptz
        else clock_timestamp() end as received_at
    from jsonb_array_elements(
      case when job_queue = 'isolation' then jsonb_build_array(data)
        when job_queue = 'answers' and jsonb_typeof(data -> 'answers') = 'array' then data -> 'answers' else '[]' end
    ) as each
    where each ->> 'replay_of' is null and each ->> 'tenant_id' ~ '${UUID}'
  ), added as (
    insert into bullmq.parley_pending
    select job_queue, job, tenant_id::uuid, whole, count(*), min(received_at) from answer group by tenant_id
    returning tenant_id, answers
  ), moved as (
    update bullmq.parley_pending set answers = parley_pending.answers - added.answers from added
    where parley_pending.queue = 'answers' and parley_pending.job_id = whole::text
      and parley_pending.tenant_id = added.tenant_id and parley_pending.answers > 0
    returning parley_pending.tenant_id, -added.answers as answers
  ), change as (select * from added union all select * from moved)
  select array_agg(tenant_id::text), array_agg(answers) into names, amounts from change;
  perform bullmq.parley_add(names, amounts);
end $$;

-- Along the index whatever the statistics say: after a burst they do not know yet that the table has grown.
create or replace function bullmq.parley_heads(of_tenant uuid, at_most int)
returns table (flush text, part_of uuid, count int, oldest timestamptz)
language sql stable set enable_bitmapscan = off set enable_seqscan = off set enable_sort = off as $$
  select job_id, part_of, answers, oldest from bullmq.parley_pending
  where tenant_id = of_tenant and answers > 0 order by oldest limit at_most
$$;

create or replace function bullmq.parley_job_added() returns trigger language plpgsql as $$
begin
  perform bullmq.parley_count(new.queue, new.id, new.data); -- first: the sums are locked in the order of their names
  perform bullmq.parley_add(array['jobs:' || new.queue], array[1]);
  return null;
end $$;

create or replace function bullmq.parley_job_removed() returns trigger language plpgsql as $$
declare
  names text[];
  amounts bigint[];
begin
  with gone as (
    delete from bullmq.parley_pending where queue = old.queue and job_id = old.id returning tenant_id, answers
  )
  select array_agg(tenant_id::text), array_agg(-answers) into names, amounts from gone;
  perform bullmq.parley_add(names || ('jobs:' || old.queue), amounts || -1::bigint);
  return null;
end $$;

create or replace function bullmq.parley_jobs_truncated() returns trigger language plpgsql as $$
begin
  delete from bullmq.parley_pending;
  update bullmq.parley_sums set value = 0;
  return null;
end $$`;

/** The sums start from the existing jobs in the same transaction, so no job is added in between. */
const TRIGGERS = `
lock table bullmq.job in share row exclusive mode;
create trigger parley_job_added after insert on bullmq.job for each row execute function bullmq.parley_job_added();
create trigger parley_job_removed after delete on bullmq.job for each row execute function bullmq.parley_job_removed();
create trigger parley_jobs_truncated after truncate on bullmq.job execute function bullmq.parley_jobs_truncated();
insert into bullmq.parley_sums select 'jobs:' || queue, 0, count(*) from bullmq.job group by queue`;

/**
 * Counts some of the jobs from before the triggers. A job that ends meanwhile waits for the lock and subtracts its
 * count.
 */
const COUNT_MORE = `
with batch as materialized (
  select id, data from bullmq.job where queue = $1 and id > $2
    and not exists (select from bullmq.parley_pending where parley_pending.queue = $1 and job_id = id)
  order by id limit ${COUNTED_AT_ONCE} for key share
)
select id, bullmq.parley_count($1, id, data) from batch order by id`;

/** The marker that all jobs from before the triggers have been counted. */
const COUNTED = 'counted';

/**
 * Creates the registry and counts the queued jobs, in small transactions that run next to those of producers and
 * workers. Safe to repeat, also after a partial failure. One process at a time may do it.
 */
export async function createPendingRegistry(client: ClientBase): Promise<void> {
  await client.query(TABLES);
  await client.query(FUNCTIONS);
  const { rows } = await client.query(
    "select from pg_trigger where tgrelid = 'bullmq.job'::regclass and tgname = 'parley_job_added'",
  );
  if (rows.length === 0) await client.query(TRIGGERS);
  await countEarlierJobs(client);
}

async function countEarlierJobs(client: ClientBase): Promise<void> {
  const { rows } = await client.query('select from bullmq.parley_sums where name = $1', [COUNTED]);
  if (rows.length > 0) return;
  for (const queue of Object.values(QUEUES))
    for (let last: string | undefined = ''; last !== undefined; ) {
      const counted: { rows: { id: string }[] } = await client.query(COUNT_MORE, [queue, last]);
      last = counted.rows.at(-1)?.id;
    }
  await client.query('insert into bullmq.parley_sums values ($1, 0, 0)', [COUNTED]);
}

/** A tenant's pending answers. Costs the same at any backlog. */
export async function readPendingInPostgres(pool: Pool, tenantId: string): Promise<Pending> {
  type Head = { flush: string; part_of: string | null; count: number; oldest: Date };
  const { rows } = await pool.query<{ total: string } & (Head | Record<keyof Head, null>)>(
    `select total, flush, part_of, count, oldest
     from (select coalesce(sum(value), 0) as total from parley_sums where name = $1::text) as sums
     left join parley_heads($1::uuid, ${HEADS}) on true
     order by oldest`,
    [tenantId],
  );
  const heads = rows.flatMap(({ flush, part_of, count, oldest }) =>
    flush === null ? [] : [{ flush, count, oldest, ...(part_of && { part_of }) }],
  );
  return { count: Number(rows[0]?.total ?? 0), heads };
}

/** Counts the jobs of a queue by state. Only the few that are not waiting are counted one by one. */
export async function countJobsInPostgres(pool: Pool, queue: QueueName): Promise<Record<string, number>> {
  const ofState = (state: string) => `(select count(*) from job where queue = $1 and state = '${state}')`;
  const { rows } = await pool.query<Record<'total' | 'active' | 'delayed' | 'failed', string>>(
    `select (select coalesce(sum(value), 0) from parley_sums where name = 'jobs:' || $1) as total,
       ${ofState('active')} as active, ${ofState('delayed')} as delayed, ${ofState('failed')} as failed`,
    [queue],
  );
  const [total, active, delayed, failed] = (['total', 'active', 'delayed', 'failed'] as const).map(name =>
    Number(rows[0]?.[name] ?? 0),
  ) as [number, number, number, number];
  return { waiting: Math.max(0, total - active - delayed - failed), active, delayed, prioritized: 0, failed };
}
