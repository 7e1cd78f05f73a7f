import { newUuid } from '../domain/ids.ts';
import type { MemberRole } from '../domain/members.ts';
import { Problem } from '../domain/problem.ts';
import { MemberEntity } from './entities/index.ts';
import { isUniqueViolation } from './errors.ts';
import type { TenantStorage } from './orm.ts';

export interface MemberRow {
  id: string;
  email: string;
  role: MemberRole;
  created_at: Date;
}

/** Makes a member; 409 when the tenant has one of that address. */
export async function insertMember(
  tenant: TenantStorage,
  member: { email: string; role: MemberRole; password_hash: string },
  now: Date,
): Promise<MemberRow> {
  const row = { id: newUuid(), ...member, created_at: now };
  try {
    await tenant.unitOfWork(em => em.insert(MemberEntity, { tenant_id: tenant.tenantId, ...row }));
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause;
    throw new Problem('limit-reached', `The tenant already has a member ${member.email}.`, { cause });
  }
  return row;
}

export const memberExists = async (tenant: TenantStorage, id: string): Promise<boolean> =>
  (await tenant.query('select from members where tenant_id = $1 and id = $2', [tenant.tenantId, id])).length > 0;
