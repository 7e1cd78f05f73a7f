import { setTimeout as sleep } from 'node:timers/promises';
import { parseTypeId, toTypeId } from '../domain/ids.ts';
import { presentQuarantined, replayOf } from '../domain/ingestion.ts';
import { createMetrics } from '../platform/metrics.ts';
import { openProducer, type Producer } from '../queue/producer.ts';
import { findQuarantined, listQuarantined, type QuarantinedRow } from '../storage/ingestion.ts';
import type { TenantStorage } from '../storage/orm.ts';
import { type CommandContext, doWithLine, type Options, UsageError } from './command.ts';
import { tenantOf } from './tenant-option.ts';

const PAGE = 100;
/** The producer's first look may come before its connection is there; it looks again by itself. */
const REACHED_WITHIN_MS = 10_000;

/** `quarantine list --tenant T`: the tenant's accepted answers that could not be stored, newest first, with the reason. */
export async function listTenantQuarantine(context: CommandContext, options: Options) {
  const data = [];
  for await (const row of entriesOf(await tenantOf(context, options))) data.push(presentQuarantined(row));
  return { data };
}

/**
 * `quarantine replay --tenant T [--id Q]`: sends one entry, or all, through the queue again.
 *
 * Without `--id` it leaves out what came with a revoked key (`key-revoked`): each of these takes somebody's decision. An
 * entry leaves the quarantine when the worker has stored it; what can't be stored stays, so that a second run harms
 * nothing.
 */
export async function replayQuarantine(context: CommandContext, options: Options) {
  const tenant = await tenantOf(context, options);
  const entries = options.id === undefined ? replayableOf(tenant) : [await entryOf(tenant, options)];
  const { databaseUrl, config, log } = context;
  const queue = openProducer({ databaseUrl, redisUrl: config.REDIS_URL }, config, log, createMetrics('cli'));
  const replayed: string[] = [];
  try {
    await reached(queue);
    for await (const row of entries) replayed.push(await replay(context, tenant.tenantId, row, queue));
  } finally {
    await queue.close();
  }
  return { replayed };
}

/** Resolves when the queue was reached, or not in time: then the first answer is refused with the reason. */
async function reached(queue: Producer): Promise<void> {
  await queue.checked();
  const deadline = Date.now() + REACHED_WITHIN_MS;
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

async function entryOf(tenant: TenantStorage, options: Options): Promise<QuarantinedRow> {
  const id = parseTypeId('quarantine', String(options.id));
  if (id === undefined) throw new UsageError('--id: quarantined answer not found');
  return findQuarantined(tenant, id);
}

/** The line is written first, as the API does: what was tried is told, whatever becomes of it. */
async function replay(
  context: CommandContext,
  tenantId: string,
  row: QuarantinedRow,
  queue: Producer,
): Promise<string> {
  const shown = { id: toTypeId('quarantine', row.id) };
  await doWithLine(context, 'quarantine.replayed', async () => ({ tenantId, shown }));
  await queue.enqueue([replayOf(row)], row.payload.length);
  return shown.id;
}
