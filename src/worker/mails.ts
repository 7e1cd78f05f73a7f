import { setTimeout as sleep } from 'node:timers/promises';
import { nextMailAttemptAt } from '../domain/team/mails.ts';
import { type Letter, MailFault, type MailServer } from '../platform/mail.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Seals } from '../platform/secrets.ts';
import type { Storage } from '../storage/database/orm.ts';
import {
  type LeasedMail,
  leaseMail,
  listTenantsToMail,
  type MailOutcome,
  readOldestMailAge,
  recordMailOutcome,
} from '../storage/team/mails.ts';
import { type RoundDeps, runTenantRounds, type TenantWork } from './tenant-rounds.ts';

/** How often the worker looks for mails that are due. */
const EVERY_MS = 1000;
/** How long an attempt may go on when the process stops. A mail that was not accepted by then is tried again. */
const STOP_GRACE_MS = 2000;

export interface MailDeps extends RoundDeps {
  /** As `parley_worker`: finds the tenants. */
  storage: Storage;
  /** As `parley_app`: each tenant's mails are read under its own row-level security. */
  tenants: Storage;
  metrics: RoundDeps['metrics'] & Pick<Metrics, 'mails' | 'oldestMail'>;
  seals: Seals;
  /** Undefined without `SMTP_URL`: mails wait, since the processes that queued them have one. */
  server: MailServer | undefined;
  now: () => Date;
}

/**
 * Sends queued mails until the signal is aborted. A mail is tried again until its link expires, unless the server refuses it for
 * good. Several workers may run at once: each mail is leased by one. One that dies after the server has accepted a mail
 * leaves it to another, which sends it again.
 */
export async function runMails(deps: MailDeps): Promise<void> {
  const { storage, metrics } = deps;
  metrics.onScrape(async () => metrics.oldestMail.set(await readOldestMailAge(storage)));
  await runTenantRounds(deps, mailing(deps), { everyMs: EVERY_MS, failure: 'mails could not be read; will retry' });
}

/** Sends a tenant's mails, one after the other: mail servers limit the connections of a client. */
export function mailing(deps: MailDeps): TenantWork {
  const { storage, tenants, metrics, signal, now } = deps;
  const overdue = new AbortController();
  signal.addEventListener(
    'abort',
    () => void sleep(STOP_GRACE_MS, undefined, { ref: false }).then(() => overdue.abort()),
  );
  return {
    loop: 'mails',
    list: () => listTenantsToMail(storage, now()),
    batch: async tenantId => {
      const tenant = tenants.forTenant(tenantId);
      const mail = await leaseMail(tenant, now());
      if (!mail) return 'done';
      const outcome = await attempt(mail, deps, overdue.signal);
      await recordMailOutcome(tenant, mail, outcome, now());
      metrics.mails.inc({ outcome: outcome.status === 'queued' ? 'deferred' : outcome.status });
      return 'more';
    },
  };
}

async function attempt(mail: LeasedMail, deps: MailDeps, signal: AbortSignal): Promise<MailOutcome> {
  const { id, kind, recipient, letter_sealed, attempts, expires_at } = mail;
  const { server, seals, log, now } = deps;
  if (expires_at <= now()) return { status: 'failed', error: mail.error ?? 'expired' };
  try {
    if (!server) throw new MailFault('SMTP_URL is not set in the worker', false, undefined);
    const letter: Letter = JSON.parse(seals.unseal(letter_sealed, id));
    await server.send({ id, to: recipient, ...letter }, signal);
    return { status: 'sent', error: null };
  } catch (error) {
    const { message, isPermanent } = faultOf(error);
    const dueAt = nextMailAttemptAt(attempts, now(), Math.random());
    const isOver = isPermanent || dueAt >= expires_at;
    log.warn(
      { mail: id, kind, attempt: attempts, reason: withoutText(message) },
      isOver ? 'a mail was not accepted; giving up' : 'a mail was not accepted; will retry',
    );
    return isOver ? { status: 'failed', error: message } : { status: 'queued', error: message, dueAt };
  }
}

/** A text that cannot be decrypted waits as well: the worker may have another `SECRET_KEY` than the API. */
const faultOf = (error: unknown): MailFault =>
  error instanceof MailFault ? error : new MailFault((error as Error).message, false, error);

/** Reduces a reply to its codes for the log: servers repeat addresses in them. */
const withoutText = (reason: string): string => /^\d{3}([ -]\d\.\d{1,3}\.\d{1,3})?/.exec(reason)?.[0] ?? reason;
