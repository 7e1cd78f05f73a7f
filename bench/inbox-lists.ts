import { Client } from 'pg';
import { createLog } from '../src/platform/log.ts';
import { type ConversationFilter, listConversations } from '../src/storage/conversations/conversation-lists.ts';
import { openStorage, type TenantStorage } from '../src/storage/database/orm.ts';
import type { Figures } from './bench.ts';
import { COLUMNS } from './floor/keyset.ts';
import { INBOX_MEMBERS } from './inbox-world.ts';
import { median } from './numbers.ts';

const [MEMBER = ''] = INBOX_MEMBERS;
const PAGE = 10;
/** Rows before page 500. */
const BEFORE_DEEP = PAGE * 499;
const WARM_UP = 5;

/** A list with the condition of the query that a program for only this list would contain, and its order. */
interface Compared {
  filter: Omit<ConversationFilter, 'side'>;
  where?: string;
  order?: string;
}

const NEWEST = 'last_activity_at desc, id desc';

/** Each filter with the values that most views have, and each order. */
export const LISTS: Record<string, Compared> = {
  'no filter': { filter: {} },
  'status open': { filter: { status: 'open' }, where: "status = 'open'" },
  'status resolved': { filter: { status: 'resolved' }, where: "status = 'resolved'" },
  assignee: { filter: { assignee: MEMBER }, where: `assignee_id = '${MEMBER}'` },
  'assignee, open': {
    filter: { assignee: MEMBER, status: 'open' },
    where: `assignee_id = '${MEMBER}' and status = 'open'`,
  },
  'unassigned, open': {
    filter: { assignee: 'none', status: 'open' },
    where: "assignee_id is null and status = 'open'",
  },
  unread: { filter: { unread: true }, where: 'team_unread > 0' },
  'unread, open': { filter: { unread: true, status: 'open' }, where: "team_unread > 0 and status = 'open'" },
  tag: { filter: { tag: 'vip' }, where: "tags <> '{}' and 'vip' = any(tags)" },
  priority: { filter: { priority: 'urgent' }, where: "priority = 'urgent'" },
  source: { filter: { source: 'user' }, where: "source_type = 'user'" },
  verified: { filter: { verified: true }, where: 'identity_verified' },
  identity: {
    filter: { identity: 'user|42', verified: true },
    where: "identity = 'user|42' and identity_verified",
  },
  mentioned: {
    filter: { mentioned: { memberId: MEMBER, isMentioned: true } },
    where: `mentioned <> '{}' and '${MEMBER}' = any(mentioned)`,
  },
  overdue: {
    filter: { overdue: true, sort: 'reply_due_at' },
    where: 'reply_due_at <= now()',
    order: 'reply_due_at, id',
  },
  waiting: {
    filter: { sort: 'waiting_since' },
    where: "status = 'open' and waiting_since is not null",
    order: 'waiting_since, id',
  },
  'oldest activity': { filter: { sort: 'last_activity_at' }, order: 'last_activity_at, id' },
  newest: { filter: { sort: '-created_at' }, order: 'created_at desc, id desc' },
  oldest: { filter: { sort: 'created_at' }, order: 'created_at, id' },
};

export const rawSql = ({ where = 'true', order = NEWEST }: Compared): string =>
  `select ${COLUMNS} from conversations where tenant_id = $1 and ${where} order by ${order} limit ${PAGE + 1}`;

async function timeOf(work: () => Promise<{ length: number }>): Promise<number> {
  const startedAt = performance.now();
  const rows = await work();
  const ms = performance.now() - startedAt;
  if (rows.length < PAGE) throw new Error(`a page came back with ${rows.length} rows`);
  return ms;
}

/** Runs these in turn, in alternating order, and returns the median of each in ms. */
async function medians(ways: Record<string, () => Promise<{ length: number }>>, turns: number): Promise<Figures> {
  const names = Object.keys(ways);
  const times = Object.fromEntries(names.map(name => [name, [] as number[]]));
  for (let turn = -WARM_UP; turn < turns; turn++)
    for (const name of turn % 2 === 0 ? names : names.toReversed()) {
      const ms = await timeOf(ways[name] as () => Promise<{ length: number }>);
      if (turn >= 0) times[name]?.push(ms);
    }
  return Object.fromEntries(names.map(name => [name, median(times[name] as number[])]));
}

/** Returns the position of the last row before page 500. */
async function deepPlace(raw: Client, tenantId: string): Promise<string[]> {
  const { rows } = await raw.query<{ at: Date; id: string }>(
    `select last_activity_at as at, id from conversations where tenant_id = $1 order by ${NEWEST} offset $2 limit 1`,
    [tenantId, BEFORE_DEEP - 1],
  );
  const [row] = rows;
  if (!row) throw new Error('the inbox has fewer than 500 pages');
  return [row.at.toISOString(), row.id];
}

/**
 * Each list next to the prepared query for only this list, run as the owner, to whom no policy applies. The figures are
 * ratios, of which `inbox dearest list` is the largest.
 */
export async function measureInboxLists(url: string, tenantId: string, turns: number): Promise<Figures> {
  const raw = new Client({ connectionString: url });
  await raw.connect();
  const storage = openStorage({ url, role: 'parley_app', connections: 1, log: createLog('warn', 'bench') });
  const list = async (tenant: TenantStorage, filter: Compared['filter'], after: string[] | null = null) =>
    (await listConversations(tenant, { side: 'team', ...filter }, PAGE, after)).rows;
  const tenant = storage.forTenant(tenantId);
  try {
    const figures: Figures = {};
    for (const [number, [name, compared]] of Object.entries(LISTS).entries()) {
      const query = { name: `raw_${number}`, text: rawSql(compared), values: [tenantId] };
      const both = { raw: async () => (await raw.query(query)).rows, ours: () => list(tenant, compared.filter) };
      const { ours = Number.NaN, raw: floor = Number.NaN } = await medians(both, turns);
      figures[`${name} ÷ raw`] = ours / floor;
    }
    const place = await deepPlace(raw, tenantId);
    const pages = { first: () => list(tenant, {}), deep: () => list(tenant, {}, place) };
    const { first = Number.NaN, deep = Number.NaN } = await medians(pages, turns);
    return {
      'inbox dearest list': Math.max(...Object.values(figures)),
      'inbox page 500 ÷ 1': deep / first,
      ...figures,
    };
  } finally {
    await storage.close();
    await raw.end();
  }
}
