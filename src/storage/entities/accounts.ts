import { defineEntity, p } from '@mikro-orm/postgresql';
import { int, moment, text, textArray, uuid } from './columns.ts';

/** A person, who may belong to several tenants. `parley_app` cannot read the columns with credentials. */
export const AccountEntity = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: {
    id: uuid().primary(),
    email: text(),
    email_proven_at: moment().nullable(),
    name: text(),
    password_hash: text().nullable(),
    totp_sealed: p.blob().nullable(),
    totp_confirmed_at: moment().nullable(),
    totp_last_step: int().nullable(),
    recovery_hashes: textArray(),
    created_at: moment(),
  },
  uniques: [{ name: 'accounts_email_key', properties: ['email'] }],
});

/** A person's subject at an identity provider (OpenID Connect). */
export const AccountSubjectEntity = defineEntity({
  name: 'AccountSubject',
  tableName: 'account_subjects',
  properties: { issuer: text().primary(), subject: text().primary(), account_id: uuid(), created_at: moment() },
});

/** Single-use links for setup and password resets. */
export const AccountLinkEntity = defineEntity({
  name: 'AccountLink',
  tableName: 'account_links',
  properties: {
    token_hash: p.blob().primary(),
    purpose: text(),
    account_id: uuid().nullable(),
    expires_at: moment(),
    mailed: p.boolean().default(false),
  },
});
