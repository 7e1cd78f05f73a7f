import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { createLog } from '../src/platform/log.ts';
import { listConversations } from '../src/storage/conversations/conversation-lists.ts';
import { openStorage } from '../src/storage/database/orm.ts';
import type { Bench, Measured } from './bench.ts';
import { awaitQuiet } from './cpu.ts';
import { RAW_KEYSET } from './floor/keyset.ts';
import { median } from './numbers.ts';

const PAGE = 10;
const DEEP_PAGE = 500;
const WARM_UP_QUERIES = 50;

interface Place {
  tenantId: string;
  /** The sort key of the last row on page 499. */
  cursor: [string, string];
}

/** Inserts the same number of conversations for each of these tenants. */
export const FILL_CONVERSATIONS = `
  insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, tags, source_type,
    last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread, team_unread,
    created_at, updated_at, team_updated_at, last_activity_at)
  select tenant::uuid, gen_random_uuid(), 'user|' || n % 500, true, 'Order ' || n, 'open', 'none', '{}', 'user',
    1, 0, 'Where is my parcel?', 'user', 1, 0, 0, 1, at, at, at, at
  from unnest($1::text[]) as tenant, generate_series(1, $2::int) as n,
    lateral (select now() - n * interval '1 minute' as at) as times`;

/**
 * Fills the conversations of many tenants in an interleaved order, and finds the start of page 500 for some of them.
 */
async function fillConversations(bench: Bench): Promise<Place[]> {
  const { conversationTenants, conversationsATenant } = bench.settings;
  const tenantIds = Array.from({ length: conversationTenants }, () => randomUUID());
  await bench.query('truncate conversations');
  await bench.query(FILL_CONVERSATIONS, [tenantIds, conversationsATenant]);
  await bench.query('vacuum analyze conversations');
  await bench.query('checkpoint');
  const places: Place[] = [];
  for (const tenantId of tenantIds) {
    const [row] = await bench.query<{ at: Date; id: string }>(
      `select last_activity_at as at, id from conversations where tenant_id = $1
       order by last_activity_at desc, id desc offset $2 limit 1`,
      [tenantId, PAGE * (DEEP_PAGE - 1) - 1],
    );
    if (row) places.push({ tenantId, cursor: [row.at.toISOString(), row.id] });
  }
  return places;
}

async function timed(query: () => Promise<{ length: number }>): Promise<number> {
  const startedAt = performance.now();
  const rows = await query();
  const ms = performance.now() - startedAt;
  if (rows.length < PAGE) throw new Error(`a page came back with ${rows.length} rows`);
  return ms;
}

let filled: Promise<Place[]> | undefined;

/**
 * Rotates the order each turn: a query is slower after one on the other connection, so each must follow each equally
 * often.
 */
function inTurn<Item>(items: Item[], turn: number): Item[] {
  const rotated = items.map((_, place) => items.at((place + turn) % items.length) as Item);
  return turn % 2 === 0 ? rotated : rotated.reverse();
}

/** The raw query and ours in alternation, each on its own connection, tenant after tenant. Medians in ms. */
export async function measureLists(bench: Bench): Promise<Measured> {
  filled ??= fillConversations(bench);
  const places = await filled;
  const raw = new Client({ connectionString: bench.databaseUrl });
  await raw.connect();
  const log = createLog('warn', 'bench');
  const storage = openStorage({ url: bench.databaseUrl, role: 'parley_app', connections: 1, log });
  const list = async ({ tenantId }: Place, after: string[] | null) =>
    (await listConversations(storage.forTenant(tenantId), { side: 'team' }, PAGE, after)).rows;
  const ways: Record<string, (place: Place) => Promise<{ length: number }>> = {
    'raw list p50 ms': async ({ tenantId, cursor }) =>
      (await raw.query({ ...RAW_KEYSET, values: [tenantId, ...cursor] })).rows,
    'list page 500 p50 ms': place => list(place, place.cursor),
    'list page 1 p50 ms': place => list(place, null),
  };
  const times = Object.fromEntries(Object.keys(ways).map(name => [name, [] as number[]]));
  try {
    await awaitQuiet(bench.roles({}));
    for (let turn = -WARM_UP_QUERIES; turn < bench.settings.listQueries; turn++) {
      const place = places.at(turn % places.length) as Place;
      for (const [name, way] of inTurn(Object.entries(ways), turn)) {
        const ms = await timed(() => way(place));
        if (turn >= 0) times[name]?.push(ms);
      }
    }
  } finally {
    await storage.close();
    await raw.end();
  }
  return { figures: Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)])), costs: [] };
}
