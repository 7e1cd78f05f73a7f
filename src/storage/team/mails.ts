import { newUuid } from '../../domain/ids.ts';
import type { MailKind } from '../../domain/team/mails.ts';
import type { Letter } from '../../platform/mail.ts';
import type { Seals } from '../../platform/secrets.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { takeMailQuota } from './mail-quotas.ts';

/** How long a worker may take for one attempt. Then another one tries the mail again. */
export const MAIL_LEASE_MS = 5 * 60_000;

export interface NewMail extends Letter {
  /** The tenant, or `NO_TENANT_ID`. */
  tenantId: string;
  kind: MailKind;
  to: string;
  /** When its link expires: from then on it is not sent. */
  expiresAt: Date;
  /** The invitation that shows the mail's state. */
  invitationId?: string;
}

/**
 * Queues a mail for the workers, its text encrypted, within a transaction with its tenant's scope. A mail with a link replaces
 * those of its kind to the same recipient, whose links a new one invalidates.
 */
export async function insertMail(tx: Transaction, seals: Seals, mail: NewMail, now: Date): Promise<void> {
  const { tenantId, kind, to, subject, text, expiresAt, invitationId } = mail;
  if (kind !== 'notice')
    await tx.query('delete from mails where tenant_id = $1 and kind = $2 and recipient = $3 and due_at is not null', [
      tenantId,
      kind,
      to,
    ]);
  const id = newUuid();
  await tx.query(
    `insert into mails (tenant_id, id, kind, invitation_id, recipient, letter_sealed, status, created_at, due_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, 'queued', $7, $7, $8)`,
    [tenantId, id, kind, invitationId ?? null, to, seals.seal(JSON.stringify({ subject, text }), id), now, expiresAt],
  );
}

/** Queues a notice, unless the quota of the day is used up. Returns whether it was queued. */
export async function insertNotice(
  tx: Transaction,
  seals: Seals,
  notice: Omit<NewMail, 'kind' | 'invitationId'>,
  now: Date,
): Promise<boolean> {
  if (!(await takeMailQuota(tx, notice, now))) return false;
  await insertMail(tx, seals, { ...notice, kind: 'notice' }, now);
  return true;
}

/** Deletes the mail of an invitation that is no longer open, unless it was sent. */
export const cancelInvitationMail = (tx: Transaction, tenantId: string, invitationId: string): Promise<unknown> =>
  tx.query('delete from mails where tenant_id = $1 and invitation_id = $2 and due_at is not null', [
    tenantId,
    invitationId,
  ]);

/** Returns the tenants with a mail that is due, `NO_TENANT_ID` among them. For the worker. */
export const listTenantsToMail = async (storage: Storage, now: Date): Promise<string[]> =>
  (
    await storage.query<{ tenant_id: string }>(
      `select distinct tenant_id from mails where due_at <= $1
       and not exists (select from deleted_tenants where deleted_tenants.id = mails.tenant_id)`,
      [now],
    )
  ).map(({ tenant_id }) => tenant_id);

/** Returns the age of the oldest mail that no server has accepted yet, in seconds; 0 without one. For the worker. */
export async function readOldestMailAge(storage: Storage): Promise<number> {
  const [row] = await storage.query<{ age: number | null }>(
    'select extract(epoch from clock_timestamp() - min(created_at))::float8 as age from mails where due_at is not null',
  );
  return Math.max(0, row?.age ?? 0);
}

/** A mail that this worker may try now. */
export interface LeasedMail {
  id: string;
  kind: MailKind;
  invitation_id: string | null;
  recipient: string;
  letter_sealed: Buffer;
  /** The number of this attempt, from 1. */
  attempts: number;
  /** Why the attempt before failed. */
  error: string | null;
  expires_at: Date;
}

/** Leases the mail of a tenant that has been due for the longest time, for `MAIL_LEASE_MS`. */
export const leaseMail = async (tenant: TenantStorage, now: Date): Promise<LeasedMail | undefined> =>
  (
    await tenant.query<LeasedMail>(
      `update mails set attempts = attempts + 1, due_at = $3 where tenant_id = $1 and id = (
         select id from mails where tenant_id = $1 and due_at <= $2 order by due_at limit 1 for update skip locked)
       returning id, kind, invitation_id, recipient, letter_sealed, attempts, error, expires_at`,
      [tenant.tenantId, now, new Date(now.getTime() + MAIL_LEASE_MS)],
    )
  )[0];

/** The outcome of an attempt. */
export type MailOutcome =
  | { status: 'sent'; error: null }
  | { status: 'queued'; error: string; dueAt: Date }
  | { status: 'failed'; error: string };

/**
 * Records the outcome of an attempt, with the invitation's copy of it. Once a mail is sent or has failed, its text is deleted.
 *
 * The invitation is locked first, as by those who revoke or accept it. Has no effect on a mail that another worker has
 * leased since.
 */
export const recordMailOutcome = (
  tenant: TenantStorage,
  { id, invitation_id, attempts }: LeasedMail,
  outcome: MailOutcome,
  now: Date,
): Promise<void> =>
  tenant.transaction(async tx => {
    const { status, error } = outcome;
    if (invitation_id)
      await tx.query(
        'update invitations set mail_status = $3, mail_error = $4, mail_at = $5 where tenant_id = $1 and id = $2',
        [tenant.tenantId, invitation_id, status, error, now],
      );
    const dueAt = outcome.status === 'queued' ? outcome.dueAt : null;
    await tx.query(
      `update mails set status = $4, error = $5, due_at = $6, ended_at = $7,
         letter_sealed = case when $6::timestamptz is not null then letter_sealed end
       where tenant_id = $1 and id = $2 and attempts = $3`,
      [tenant.tenantId, id, attempts, status, error, dueAt, dueAt ? null : now],
    );
  });
