import type { CustomField } from '../../domain/conversations/custom-fields.ts';
import type { ReplyPlan } from '../../domain/conversations/reply-targets.ts';
import { newUuid } from '../../domain/ids.ts';
import { notFound, Problem } from '../../domain/problem.ts';
import type { TenantSettings } from '../../domain/tenants.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';

export interface TenantRow extends TenantSettings {
  id: string;
  created_at: Date;
  /** When a card was first shown to one of its users. */
  first_card_at: Date | null;
  /** Whether it contains demo data only. It never changes. */
  is_demo: boolean;
}

const SETTINGS = [
  'name',
  'default_locale',
  'locales',
  'timezone',
  'cooldown_days',
  'retention_answers_days',
  'retention_conversations_days',
  'ip_mode',
  'identity_attributes_allowed',
  'auto_resolve_days',
  'office_hours',
  'reply_targets',
  'custom_fields',
  'appearance',
] as const satisfies readonly (keyof TenantSettings)[];

/** Settings that are stored as JSON. */
const JSON_SETTINGS: readonly string[] = ['office_hours', 'reply_targets', 'custom_fields', 'appearance'];

const COLUMNS = `id, ${SETTINGS.join(', ')}, created_at, first_card_at, is_demo`;

/** Inserts a tenant with the database's default settings. */
export const insertTenant = (storage: Storage, name: string, now: Date, isDemo = false): Promise<TenantRow> => {
  const id = newUuid();
  return storage.forTenant(id).transaction(tx => addTenant(tx, id, name, now, isDemo));
};

/** Inserts a tenant within a transaction with its scope. */
export async function addTenant(
  tx: Transaction,
  id: string,
  name: string,
  now: Date,
  isDemo = false,
): Promise<TenantRow> {
  const rows = await tx.query<TenantRow>(
    `insert into tenants (id, name, created_at, is_demo) values ($1, $2, $3, $4) returning ${COLUMNS}`,
    [id, name, now, isDemo],
  );
  return rows[0] as TenantRow;
}

/**
 * Serializes transactions that count a tenant's objects before adding one, so that limits are not exceeded. 404 when
 * the tenant was deleted meanwhile.
 */
export async function lockTenant(tx: Transaction, id: string): Promise<void> {
  const found = await tx.query('select from tenants where id = $1 for update', [id]);
  if (found.length === 0) throw notFound('tenant');
}

/** Throws 409 if the tenant has `most` rows of a table already. Locks the tenant, so that no other request adds one. */
export async function requireRoom(
  tx: Transaction,
  tenantId: string,
  { table, where = 'true', most, detail }: { table: string; where?: string; most: number; detail: string },
): Promise<void> {
  await lockTenant(tx, tenantId);
  const sql = `select count(*)::int as count from ${table} where tenant_id = $1 and ${where}`;
  const [present] = await tx.query<{ count: number }>(sql, [tenantId]);
  if ((present?.count ?? 0) >= most) throw new Problem('limit-reached', detail);
}

/** The functions of the database that list tenants with some kind of background work. */
type TenantList =
  | 'tenants_to_assign'
  | 'tenants_to_resolve'
  | 'tenants_to_schedule'
  | 'tenants_to_wake'
  | 'tenants_with_retention';

/** Returns the ids of the tenants with work of a kind. For the worker. */
export const listTenantsWith = async (storage: Storage, list: TenantList): Promise<string[]> =>
  (await storage.query<{ id: string }>(`select ${list}() as id`)).map(({ id }) => id);

export const findTenant = async (tenant: TenantStorage): Promise<TenantRow | undefined> =>
  (await tenant.query<TenantRow>(`select ${COLUMNS} from tenants where id = $1`, [tenant.tenantId]))[0];

/** Returns the settings from which the time of a reply follows. */
export async function readReplyPlan(tx: Transaction, id: string): Promise<ReplyPlan> {
  const [row] = await tx.query<ReplyPlan>('select timezone, office_hours, reply_targets from tenants where id = $1', [
    id,
  ]);
  return row ?? { timezone: 'UTC', office_hours: [], reply_targets: {} };
}

/** Returns the definitions of a tenant's custom fields. */
export async function readCustomFields(tx: Pick<Transaction, 'query'>, id: string): Promise<CustomField[]> {
  const [row] = await tx.query<{ custom_fields: CustomField[] }>('select custom_fields from tenants where id = $1', [
    id,
  ]);
  return row?.custom_fields ?? [];
}

/** Changes settings of a tenant under a row lock. `change` receives the current ones, and throws to prevent the change. */
export const updateTenant = (
  tenant: TenantStorage,
  change: (before: TenantRow) => Partial<TenantSettings>,
): Promise<TenantRow> =>
  tenant.transaction(async tx => {
    const [before] = await tx.query<TenantRow>(`select ${COLUMNS} from tenants where id = $1 for update`, [
      tenant.tenantId,
    ]);
    if (!before) throw notFound('tenant');
    const after = { ...before, ...change(before) };
    const set = SETTINGS.map((name, index) => `${name} = $${index + 2}`).join(', ');
    const rows = await tx.query<TenantRow>(`update tenants set ${set} where id = $1 returning ${COLUMNS}`, [
      tenant.tenantId,
      ...SETTINGS.map(name => (JSON_SETTINGS.includes(name) ? JSON.stringify(after[name]) : after[name])),
    ]);
    return rows[0] as TenantRow;
  });

/** Records the time of the tenant's first card, unless already set. */
export const setFirstCardTime = (tenant: TenantStorage, now: Date): Promise<unknown> =>
  tenant.query('update tenants set first_card_at = $2 where id = $1 and first_card_at is null', [tenant.tenantId, now]);
