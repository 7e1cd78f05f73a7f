import { uuidOf } from '../../bench/skewed.ts';
import type { TestDatabase } from '../support/database.ts';

/** Tenants, each with its number of rows. */
type Counts = (readonly [tenantId: string, rows: number])[];

/** Adds what `fillSkewed` leaves out: a webhook with deliveries and the changes of profiles. */
export async function fillRest({ query }: Pick<TestDatabase, 'query'>, counts: Counts): Promise<void> {
  for (const [tenant, rows] of counts) {
    await query(
      `insert into webhooks (tenant_id, id, url, description, event_types, payload, ordered, status, secret_sealed,
         feed_position, created_at, updated_at)
       values ($1, $2, 'https://hooks.acme.example', '', '{}', 'full', false, 'enabled', '', $3, now(), now())`,
      [tenant, uuidOf('webhook'), rows],
    );
    await query(
      `insert into deliveries (tenant_id, id, webhook_id, event_id, sequence, type, object_id, event_at, attempt, at, status)
       select $1, gen_random_uuid(), $2, gen_random_uuid(), number, 'answer.stored', gen_random_uuid(), now(), 1,
         now() - number * interval '1 second', case when number % 1000 = 0 then 'failed' else 'delivered' end
       from generate_series(1, $3::int) as number`,
      [tenant, uuidOf('webhook'), rows],
    );
    await query(
      `with made as (
         insert into identities (tenant_id, identity, identity_verified, attributes, created_at, updated_at)
         select $1, 'user|' || number, true, '{}', now(), now() from generate_series(1, greatest($2::int / 50, 1)) as number
         on conflict do nothing returning id
       )
       insert into profile_changes (tenant_id, identity_id, number, at, by, changes)
       select $1, id, number, now(), '{}', '{"locale": ["de", "en"]}' from made, generate_series(1, 50) as number`,
      [tenant, rows],
    );
  }
  await query('vacuum analyze deliveries, identities, profile_changes');
}
