import { hash } from 'node:crypto';
import type { CardRecord } from '../domain/cards.ts';
import type { TenantStorage } from './orm.ts';

/** Returns the records of one identity's cards, at most one per question. */
export const listCardRecords = (tenant: TenantStorage, identity: string, verified: boolean): Promise<CardRecord[]> =>
  tenant.query<CardRecord>(
    `select question_id, shown_at, dismissed_at, answered_at from card_records
     where tenant_id = $1 and identity = $2 and identity_verified = $3`,
    [tenant.tenantId, identity, verified],
  );

/** The owner of card records. */
export interface RecordOwner {
  tenant_id: string;
  identity: string;
  identity_verified: boolean;
}

/**
 * Returns the digest that identifies an identity in the database's notices (`announce_card_records` in the first
 * migration).
 */
export const recordDigest = ({ tenant_id, identity, identity_verified }: RecordOwner): string =>
  hash('sha256', `${tenant_id} ${identity_verified} ${identity}`, 'base64').slice(0, 11);
