import { hash } from 'node:crypto';
import type { CardRecord } from '../../domain/cards/cards.ts';
import type { Attributes } from '../../domain/people/identities.ts';
import type { TenantStorage } from '../database/orm.ts';

/** The part of an identity's profile that its cards depend on. */
export interface CardProfile {
  locale: string | null;
  platform: string | null;
  app_version: string | null;
  attributes: Attributes;
}

/** What decides on one identity's cards. */
export interface CardHistory {
  /** At most one record per question. */
  records: CardRecord[];
  profile: CardProfile;
}

/** The profile of an identity that has none. */
export const NO_PROFILE: CardProfile = { locale: null, platform: null, app_version: null, attributes: {} };

/** Returns the card records and the profile of one identity, in one query. */
export async function readCardHistory(
  tenant: TenantStorage,
  identity: string,
  verified: boolean,
): Promise<CardHistory> {
  const rows = await tenant.query<CardRecord & { profile: CardProfile | null }>(
    `select question_id, shown_at, dismissed_at, answered_at, displays, last_value, null as profile from card_records
     where tenant_id = $1 and identity = $2 and identity_verified = $3
     union all
     select null, null, null, null, null, null, jsonb_build_object('locale', locale, 'platform', platform,
       'app_version', app_version, 'attributes', attributes) from identities
     where tenant_id = $1 and identity = $2 and identity_verified = $3`,
    [tenant.tenantId, identity, verified],
  );
  return {
    records: rows.filter(({ profile }) => profile === null),
    profile: rows.find(({ profile }) => profile !== null)?.profile ?? NO_PROFILE,
  };
}

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
