import { mailboxOf } from '../../domain/team/members.ts';
import { sha256 } from '../../platform/secrets.ts';
import type { Storage } from '../database/orm.ts';

/** Mails to one mailbox per day, of all tenants. */
const PER_MAILBOX = 20;
/** Mails of one tenant per day: a number, and further ones for each member. */
const PER_TENANT = 200;
const PER_MEMBER = 20;

const digest = (kind: 'mailbox' | 'tenant', value: string): Buffer => sha256(`${kind}\n${value}`);

/**
 * Counts a mail of a tenant to an address under the limits of the day (UTC). False beyond one of them: the mail must not be
 * sent, and is not counted.
 *
 * The counts are in the database, so all processes share them. They hold with `RATE_LIMITS=off`.
 */
export async function takeMailQuota(
  storage: Pick<Storage, 'query'>,
  { tenantId, to }: { tenantId: string; to: string },
  now: Date,
): Promise<boolean> {
  const [row] = await storage.query<{ allowed: boolean }>(
    'select take_mail_quota($1, $2, $3, $4, $5, $6, $7) as allowed',
    [
      now.toISOString().slice(0, 10),
      digest('mailbox', mailboxOf(to)),
      PER_MAILBOX,
      tenantId,
      digest('tenant', tenantId),
      PER_TENANT,
      PER_MEMBER,
    ],
  );
  return row?.allowed === true;
}
