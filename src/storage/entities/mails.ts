import { defineEntity, p } from '@mikro-orm/postgresql';
import { indexFromMigration, int, moment, text, uuid } from './columns.ts';

/** Mails that wait for a mail server, and those whose outcome is less than a day old. */
export const MailEntity = defineEntity({
  name: 'Mail',
  tableName: 'mails',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    kind: text(),
    invitation_id: uuid().nullable(),
    recipient: text(),
    letter_sealed: p.blob().nullable(),
    status: text(),
    attempts: int().default(0),
    error: text().nullable(),
    created_at: moment(),
    due_at: moment().nullable(),
    expires_at: moment(),
    ended_at: moment().nullable(),
  },
  indexes: [indexFromMigration('mails_due'), indexFromMigration('mails_ended')],
});
