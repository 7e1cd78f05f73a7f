import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { toTypeId } from '../src/domain/ids.ts';
import { createLog } from '../src/platform/log.ts';
import { countConversations } from '../src/storage/conversations/conversation-counts.ts';
import { openStorage } from '../src/storage/database/orm.ts';
import type { Bench, Figures, Measured } from './bench.ts';
import { runProgram } from './children.ts';
import { measureInboxLists } from './inbox-lists.ts';
import { fillInbox, INBOX_VIEWS } from './inbox-world.ts';
import { median } from './numbers.ts';
import { createDatabase } from './stores.ts';
import { makeTenants, type Tenant } from './world.ts';

const BULK = 100;
const DUE = 10_000;
const WOKEN_WITHIN_MS = 120_000;

/** A database of its own, because other steps empty the conversations of theirs. */
interface Inbox {
  url: string;
  tenant: Tenant;
  /** Ids of open conversations. */
  ids: string[];
}

async function fill(bench: Bench): Promise<Inbox> {
  const url = await createDatabase(bench.stores, 'parley_inbox');
  await runProgram(['src/main.ts', 'migrate'], { DATABASE_URL: url, SECRET_KEY: bench.secretKey });
  const [tenant] = await makeTenants(url, bench.secretKey, 1);
  if (!tenant) throw new Error('no tenant was created');
  const client = new Client({ connectionString: url });
  await client.connect();
  await fillInbox((sql, params) => client.query(sql, params), tenant.uuid, bench.settings.inboxConversations);
  await client.query('checkpoint');
  const { rows } = await client.query<{ id: string }>(
    `select id from conversations where tenant_id = $1 and status = 'open' limit $2`,
    [tenant.uuid, BULK],
  );
  await client.end();
  return { url, tenant, ids: rows.map(({ id }) => toTypeId('conversation', id)) };
}

let filled: Promise<Inbox> | undefined;
const inboxOf = (bench: Bench): Promise<Inbox> => (filled ??= fill(bench));

async function measureCounts({ url, tenant }: Inbox, turns: number): Promise<Figures> {
  const storage = openStorage({ url, role: 'parley_app', connections: 1, log: createLog('warn', 'bench') });
  const times: number[] = [];
  for (let turn = -5; turn < turns; turn++) {
    const startedAt = performance.now();
    await countConversations(storage.forTenant(tenant.uuid), INBOX_VIEWS);
    if (turn >= 0) times.push(performance.now() - startedAt);
  }
  await storage.close();
  return { 'inbox counts p50 ms': median(times) };
}

/** Bulk changes of the same conversations, each of which changes all of them. */
async function measureBulk(bench: Bench, { url, tenant, ids }: Inbox, turns: number): Promise<Figures> {
  await using server = await bench.parley('serve', 'postgres', { environment: { DATABASE_URL: url } });
  const times: number[] = [];
  for (let turn = -2; turn < turns; turn++) {
    const body = JSON.stringify({ ids, change: { priority: turn % 2 === 0 ? 'high' : 'low' } });
    const startedAt = performance.now();
    const response = await fetch(`${server.url}/v1/conversations/bulk`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tenant.apiKey}`, 'Content-Type': 'application/json' },
      body,
    });
    const { results = [] } = (await response.json()) as { results?: { status: string }[] };
    if (turn >= 0) times.push(performance.now() - startedAt);
    const changed = results.filter(({ status }) => status === 'changed').length;
    if (turn > -2 && changed !== ids.length) throw new Error(`a bulk change has changed ${changed} conversations`);
  }
  return { 'inbox bulk p50 ms': median(times) };
}

/** Time in which a running worker wakes conversations that are all due at once. */
async function measureTimers(bench: Bench, { url, tenant }: Inbox): Promise<Figures> {
  await using worker = await bench.parley('work', 'postgres', { environment: { DATABASE_URL: url } });
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      `update conversations set status = 'snoozed', snoozed_until = now() where (tenant_id, id) in
         (select tenant_id, id from conversations where tenant_id = $1 and status = 'resolved' limit $2)`,
      [tenant.uuid, DUE],
    );
    const startedAt = performance.now();
    for (;;) {
      const { rows } = await client.query("select from conversations where status = 'snoozed' limit 1");
      if (rows.length === 0) return { 'inbox woken s': (performance.now() - startedAt) / 1000 };
      if (performance.now() - startedAt > WOKEN_WITHIN_MS)
        throw new Error(`conversations are still snoozed:\n${worker.lastLines()}`);
      await sleep(20);
    }
  } finally {
    await client.end();
  }
}

/** The inbox of one tenant with a million conversations next to 10,000 tenants. */
export async function measureInbox(bench: Bench): Promise<Measured> {
  const inbox = await inboxOf(bench);
  const turns = bench.settings.inboxTurns;
  const figures = {
    ...(await measureInboxLists(inbox.url, inbox.tenant.uuid, turns)),
    ...(await measureCounts(inbox, turns)),
    ...(await measureBulk(bench, inbox, turns)),
    ...(await measureTimers(bench, inbox)),
  };
  return { figures, costs: [] };
}
