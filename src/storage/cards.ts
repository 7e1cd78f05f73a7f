import type { CardRecord } from '../domain/cards.ts';
import type { TenantStorage } from './orm.ts';

/** What is known of one identity's cards: at most one record a question. */
export const listCardRecords = (tenant: TenantStorage, identity: string, verified: boolean): Promise<CardRecord[]> =>
  tenant.query<CardRecord>(
    `select question_id, shown_at, dismissed_at, answered_at from card_records
     where tenant_id = $1 and identity = $2 and identity_verified = $3`,
    [tenant.tenantId, identity, verified],
  );
