import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { newUuid } from '../domain/ids.ts';
import { DEFAULT_COOLDOWN_DAYS } from '../domain/tenants.ts';
import { TenantEntity } from './entities/index.ts';
import type { Storage, TenantStorage } from './orm.ts';

export interface TenantRow {
  id: string;
  name: string;
  cooldown_days: number;
  created_at: Date;
}

/** Makes a tenant. */
export async function insertTenant(storage: Storage, name: string, now: Date): Promise<TenantRow> {
  const row: TenantRow = { id: newUuid(), name, cooldown_days: DEFAULT_COOLDOWN_DAYS, created_at: now };
  await storage.forTenant(row.id).unitOfWork(em => em.insert(TenantEntity, row));
  return row;
}

/** Makes whoever counts the tenant's things before adding one wait for the other, so that no limit is passed. */
export const lockTenant = (em: EntityManager, id: string): Promise<unknown> =>
  em.findOne(TenantEntity, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });

export const findTenant = async (tenant: TenantStorage): Promise<TenantRow | undefined> =>
  (await tenant.query<TenantRow>('select id, name, cooldown_days, created_at from tenants'))[0];
