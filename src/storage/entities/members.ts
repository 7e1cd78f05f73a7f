import { defineEntity, p } from '@mikro-orm/postgresql';
import { int, moment, text, uuid } from './columns.ts';

/** A member of a tenant's team. */
export const MemberEntity = defineEntity({
  name: 'Member',
  tableName: 'members',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    role: text(),
    created_at: moment(),
    account_id: uuid(),
    availability: text().default('active'),
    capacity: int().default(20),
  },
  indexes: [{ name: 'members_of_account', properties: ['account_id'] }],
  uniques: [{ name: 'members_account_key', properties: ['tenant_id', 'account_id'] }],
});

export const InvitationEntity = defineEntity({
  name: 'Invitation',
  tableName: 'invitations',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    email: text(),
    role: text(),
    token_hash: p.blob(),
    mailed_token_hash: p.blob().nullable(),
    created_at: moment(),
    expires_at: moment(),
    mail_status: text().nullable(),
    mail_error: text().nullable(),
    mail_at: moment().nullable(),
  },
  uniques: [
    { name: 'invitations_token_hash_key', properties: ['token_hash'] },
    { name: 'invitations_mailed_token_hash_key', properties: ['mailed_token_hash'] },
    { name: 'invitations_email_key', properties: ['tenant_id', 'email'] },
  ],
});
