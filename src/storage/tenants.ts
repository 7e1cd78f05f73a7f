import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { newUuid } from '../domain/ids.ts';
import { notFound } from '../domain/problem.ts';
import type { TenantSettings } from '../domain/tenants.ts';
import { TenantEntity } from './entities/tenants.ts';
import type { Storage, TenantStorage } from './orm.ts';
import type { Session } from './transaction.ts';

export interface TenantRow extends TenantSettings {
  id: string;
  created_at: Date;
  /** When a card was first handed out to one of its users. */
  first_card_at: Date | null;
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
] as const satisfies readonly (keyof TenantSettings)[];

const COLUMNS = `id, ${SETTINGS.join(', ')}, created_at, first_card_at`;

/** Makes a tenant, with what the database has for a tenant that chose nothing. */
export const insertTenant = (storage: Storage, name: string, now: Date): Promise<TenantRow> => {
  const id = newUuid();
  return storage.forTenant(id).transaction(session => addTenant(session, id, name, now));
};

/** Adds a tenant within a transaction that names it. */
export async function addTenant(session: Session, id: string, name: string, now: Date): Promise<TenantRow> {
  const rows = await session.query<TenantRow>(
    `insert into tenants (id, name, created_at) values ($1, $2, $3) returning ${COLUMNS}`,
    [id, name, now],
  );
  return rows[0] as TenantRow;
}

/** Makes whoever counts the tenant's things before adding one wait for the other, so that no limit is passed. */
export async function lockTenant(em: EntityManager, id: string): Promise<void> {
  if (!(await em.findOne(TenantEntity, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }))) throw notFound('tenant');
}

export const findTenant = async (tenant: TenantStorage): Promise<TenantRow | undefined> =>
  (await tenant.query<TenantRow>(`select ${COLUMNS} from tenants where id = $1`, [tenant.tenantId]))[0];

/** Changes settings of a tenant under a row lock; `check` sees it as it was, and throws to leave it so. */
export const updateTenant = (
  tenant: TenantStorage,
  change: Partial<TenantSettings>,
  check: (before: TenantRow) => void,
): Promise<TenantRow> =>
  tenant.transaction(async session => {
    const [before] = await session.query<TenantRow>(`select ${COLUMNS} from tenants where id = $1 for update`, [
      tenant.tenantId,
    ]);
    if (!before) throw notFound('tenant');
    check(before);
    const after = { ...before, ...change };
    const set = SETTINGS.map((name, index) => `${name} = $${index + 2}`).join(', ');
    const rows = await session.query<TenantRow>(`update tenants set ${set} where id = $1 returning ${COLUMNS}`, [
      tenant.tenantId,
      ...SETTINGS.map(name => after[name]),
    ]);
    return rows[0] as TenantRow;
  });

/** Notes that a card is handed out to one of the tenant's users, where it is the first. */
export const noteFirstCard = (tenant: TenantStorage, now: Date): Promise<unknown> =>
  tenant.query('update tenants set first_card_at = $2 where id = $1 and first_card_at is null', [tenant.tenantId, now]);
