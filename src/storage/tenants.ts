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

export const findTenant = async (tenant: TenantStorage): Promise<TenantRow | undefined> =>
  (await tenant.query<TenantRow>('select id, name, cooldown_days, created_at from tenants'))[0];
