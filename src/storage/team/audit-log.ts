import { newUuid } from '../../domain/ids.ts';
import { type Page, valuesIn } from '../../domain/pages.ts';
import type { Action, ActorType } from '../../domain/team/audit-log.ts';
import type { IpMode } from '../../domain/tenants.ts';
import { truncateAddress } from '../../platform/addresses.ts';
import { byTime, createList, readPage } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';

export interface AuditRow {
  id: string;
  at: Date;
  actor_type: ActorType;
  actor_id: string | null;
  actor_name: string;
  action: Action;
  target_id: string | null;
  target_name: string | null;
  fields: string[];
  ip: string | null;
  request_id: string | null;
}

/** An audit event, before the tenant's `ip_mode` is applied. */
export type AuditEvent = Omit<AuditRow, 'id' | 'at'>;

/** The actor of an event that no member and no API key has caused. */
export const SYSTEM_ACTOR = {
  actor_type: 'system',
  actor_id: null,
  actor_name: 'Parley',
  ip: null,
  request_id: null,
} as const satisfies Partial<AuditEvent>;

const COLUMNS = 'id, at, actor_type, actor_id, actor_name, action, target_id, target_name, fields, ip, request_id';

/** Returns an address as a mode stores it: in full, its network, or null. */
export function maskAddress(address: string | null, mode: IpMode): string | null {
  if (address === null || mode === 'none') return null;
  return mode === 'full' ? address : truncateAddress(address);
}

/**
 * Inserts an entry into a tenant's audit log, with the address as `ip_mode` allows.
 *
 * Call it with the storage of the audited operation's transaction (`inTransaction`).
 */
export async function insertAuditEntry(tenant: TenantStorage, act: AuditEvent, now: Date): Promise<void> {
  await tenant.transaction(async tx => {
    const [row] = await tx.query<{ ip_mode: IpMode }>('select ip_mode from tenants where id = $1', [tenant.tenantId]);
    await tx.query(
      `insert into audit_log (tenant_id, ${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
      [
        tenant.tenantId,
        newUuid(),
        now,
        act.actor_type,
        act.actor_id,
        act.actor_name,
        act.action,
        act.target_id,
        act.target_name,
        act.fields,
        maskAddress(act.ip, row?.ip_mode ?? 'none'),
        act.request_id,
      ],
    );
  });
}

export interface AuditFilter {
  /** One or several, separated by commas. */
  action?: string | undefined;
  /** In wire form: `member_…` or `key_…`. */
  actor?: string | undefined;
  since?: Date | undefined;
}

/** Returns a tenant's entries, newest first. */
export function listAuditEntries(
  tenant: TenantStorage,
  { action, actor, since }: AuditFilter,
  limit: number,
  after: string[] | null,
): Promise<Page<AuditRow>> {
  const list = createList(tenant, 'audit_log', COLUMNS, byTime<AuditRow>('at', true));
  if (since) list.access.and('at >= $', since);
  if (action) list.filters.and('action = any($::text[])', valuesIn(action));
  if (actor) list.filters.and('actor_id = $', actor);
  return readPage(tenant, list, limit, after);
}
