import type { Config } from './config.ts';
import type { Metrics } from './metrics.ts';

/** Time limit for each step of a mail server, in milliseconds. */
const TIMEOUT_MS = 10_000;

interface Letter {
  to: string;
  subject: string;
  text: string;
}

/**
 * A mail and its limits: invitations and password resets the requests for them, and all other mails the daily quota of
 * their tenant and recipient.
 */
export type Mailing = Letter & ({ kind: 'invitation' | 'password-reset' } | { kind: 'notice'; tenantId: string });

/** The only way by which Parley sends mails. */
export interface Mail {
  /**
   * Sends a mail, unless the quota of the day is used up: then the mail is counted as `limited`. Resolves when the server has
   * accepted it, or it was not sent. Rejects if the server does not accept it.
   */
  send(mailing: Mailing): Promise<void>;
}

interface MailDeps {
  metrics: Pick<Metrics, 'mails'>;
  /** Counts a mail under the limits of the day. False if it must not be sent. */
  takeQuota(mailing: { tenantId: string; to: string }): Promise<boolean>;
}

/** Returns the mail client of a server, or `undefined` where none is configured. */
export function openMail(config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM'>, deps: MailDeps): Mail | undefined {
  const { SMTP_URL, MAIL_FROM } = config;
  return SMTP_URL === undefined ? undefined : createMail(letter => transmit(letter, SMTP_URL, MAIL_FROM), deps);
}

/** Creates a mail client that passes mails to `deliver`. */
export const createMail = (deliver: (letter: Letter) => Promise<void>, { metrics, takeQuota }: MailDeps): Mail => ({
  async send(mailing) {
    const { to, subject, text } = mailing;
    if (mailing.kind === 'notice' && !(await takeQuota(mailing))) return metrics.mails.inc({ outcome: 'limited' });
    try {
      await deliver({ to, subject, text });
    } catch (error) {
      metrics.mails.inc({ outcome: 'failed' });
      throw error;
    }
    metrics.mails.inc({ outcome: 'sent' });
  },
});

/** Passes a mail to a server. Its library is loaded with the first mail. */
async function transmit({ to, subject, text }: Letter, url: string, from: string | undefined): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
}
