import { setTimeout as sleep } from 'node:timers/promises';
import { presentQuarantined, replayOf } from '../domain/answers/ingestion.ts';
import { parseTypeId, toTypeId } from '../domain/ids.ts';
import { createMetrics } from '../platform/metrics.ts';
import { openProducer, type Producer } from '../queue/producer.ts';
import type { TenantStorage } from '../storage/database/orm.ts';
import { findQuarantined, listQuarantined, type QuarantinedRow } from '../storage/upkeep/ingestion.ts';
import { type CommandContext, withAuditEntry } from './command.ts';
import { type TenantOption, tenantOf } from './tenant-option.ts';
import { UsageError } from './usage-error.ts';

const PAGE = 100;
/** The producer's first check may come before it is connected; it repeats the check. */
const CONNECT_TIMEOUT_MS = 10_000;

/** `quarantine list --tenant T`: lists accepted answers that could not be stored, newest first, with the reason. */
export async function listTenantQuarantine(context: CommandContext, options: TenantOption) {
  const data = [];
  for await (const row of entriesOf(await tenantOf(context, options))) data.push(presentQuarantined(row));
  return { data };
}

/**
 * `quarantine replay --tenant T [--id Q]`: sends one entry, or all, through the queue again.
 *
 * Without `--id` it skips answers sent with a revoked key (`key-revoked`), which need an individual decision. An entry
 * leaves the quarantine when the worker has stored it. Others stay, so the command can be repeated safely.
 */
export async function replayQuarantine(context: CommandContext, options: TenantOption & { id?: string | undefined }) {
  const tenant = await tenantOf(context, options);
  const entries = options.id === undefined ? replayableOf(tenant) : [await entryOf(tenant, options.id)];
  const { databaseUrl, config, log } = context;
  const queue = openProducer({ databaseUrl, redisUrl: config.redis }, config, log, createMetrics('cli'));
  const replayed: string[] = [];
  try {
    await reached(queue);
    for await (const row of entries) replayed.push(await replay(context, tenant.tenantId, row, queue));
  } finally {
    await queue.close();
  }
  return { replayed };
}

/**
 * Resolves when the queue is connected or the time is up. In the latter case the first answer is refused with the
 * reason.
 */
async function reached(queue: Producer): Promise<void> {
  await queue.checked();
  const deadline = Date.now() + CONNECT_TIMEOUT_MS;
  while (!queue.health().reachable && Date.now() < deadline) await sleep(100);
}

async function* replayableOf(tenant: TenantStorage): AsyncGenerator<QuarantinedRow> {
  for await (const row of entriesOf(tenant)) if (row.reason !== 'key-revoked') yield row;
}

async function* entriesOf(tenant: TenantStorage): AsyncGenerator<QuarantinedRow> {
  let after: string[] | null = null;
  do {
    const page = await listQuarantined(tenant, PAGE, after);
    yield* page.rows;
    after = page.next;
  } while (after);
}

async function entryOf(tenant: TenantStorage, shownId: string): Promise<QuarantinedRow> {
  const id = parseTypeId('quarantine', shownId);
  if (id === undefined) throw new UsageError('--id: quarantined answer not found');
  return findQuarantined(tenant, id);
}

/** Writes the audit entry first, as the API does, so that attempts are recorded whether or not they succeed. */
async function replay(
  context: CommandContext,
  tenantId: string,
  row: QuarantinedRow,
  queue: Producer,
): Promise<string> {
  const shown = { id: toTypeId('quarantine', row.id) };
  await withAuditEntry(context, 'quarantine.replayed', async () => ({ tenantId, shown }));
  await queue.enqueue([replayOf(row)], row.payload.length);
  return shown.id;
}
