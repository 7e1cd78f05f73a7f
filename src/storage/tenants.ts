import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { newUuid } from '../domain/ids.ts';
import { notFound } from '../domain/problem.ts';
import type { IpMode, TenantPatch } from '../domain/tenants.ts';
import { TenantEntity } from './entities/index.ts';
import type { Session, Storage, TenantStorage } from './orm.ts';

export interface TenantRow {
  id: string;
  name: string;
  default_locale: string;
  locales: string[];
  timezone: string;
  cooldown_days: number;
  ip_mode: IpMode;
  created_at: Date;
}

const COLUMNS = 'id, name, default_locale, locales, timezone, cooldown_days, ip_mode, created_at';

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
export const lockTenant = (em: EntityManager, id: string): Promise<unknown> =>
  em.findOne(TenantEntity, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });

export const findTenant = async (tenant: TenantStorage): Promise<TenantRow | undefined> =>
  (await tenant.query<TenantRow>(`select ${COLUMNS} from tenants where id = $1`, [tenant.tenantId]))[0];

/** Changes a tenant under a row lock; `check` sees it as it was, and throws to leave it so. */
export const updateTenant = (
  tenant: TenantStorage,
  patch: TenantPatch,
  check: (before: TenantRow) => void,
): Promise<TenantRow> =>
  tenant.transaction(async session => {
    const [before] = await session.query<TenantRow>(`select ${COLUMNS} from tenants where id = $1 for update`, [
      tenant.tenantId,
    ]);
    if (!before) throw notFound('tenant');
    check(before);
    const after = { ...before, ...patch };
    const rows = await session.query<TenantRow>(
      `update tenants set name = $2, default_locale = $3, locales = $4, timezone = $5, cooldown_days = $6, ip_mode = $7
       where id = $1 returning ${COLUMNS}`,
      [
        tenant.tenantId,
        after.name,
        after.default_locale,
        after.locales,
        after.timezone,
        after.cooldown_days,
        after.ip_mode,
      ],
    );
    return rows[0] as TenantRow;
  });
