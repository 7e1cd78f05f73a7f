import { defineEntity, p } from '@mikro-orm/postgresql';
import { int } from './columns.ts';

/** Mails by day, of a mailbox or a tenant. */
export const MailCountEntity = defineEntity({
  name: 'MailCount',
  tableName: 'mail_counts',
  properties: { day: p.date().primary(), counted: p.blob().primary(), mails: int() },
});
