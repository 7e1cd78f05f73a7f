import { z } from 'zod';
import { TimestampOut } from '../text.ts';

/** A mail's purpose. Invitations and password resets have a link that expires; a notice has none. */
export type MailKind = 'invitation' | 'password-reset' | 'notice';

/** The tenant of mails that belong to no tenant, such as password resets. */
export const NO_TENANT_ID = '00000000-0000-0000-0000-000000000000';

/** How long a notice is worth sending. */
export const NOTICE_DAYS = 3;

/** The time from a failed attempt to the next one, in seconds. The last one repeats until the mail expires. */
export const MAIL_RETRY_DELAYS_S = [10, 60, 300, 900, 1800] as const;
/** The part of a delay by which it varies, so that the mails of an outage are not all sent in the same second. */
const JITTER = 0.1;

/** Returns when the attempt after a failed one is due. `random` is from 0 to 1. */
export function nextMailAttemptAt(attempt: number, now: Date, random: number): Date {
  const seconds = MAIL_RETRY_DELAYS_S[Math.min(attempt, MAIL_RETRY_DELAYS_S.length) - 1] as number;
  return new Date(now.getTime() + seconds * 1000 * (1 + JITTER * random));
}

export const MailStatus = z.enum(['queued', 'sent', 'failed']);
export type MailStatus = z.infer<typeof MailStatus>;

/** How far the mail of an invitation got. */
export const MailState = z
  .object({
    status: MailStatus.meta({
      description:
        '`queued`: the mail server has not accepted it yet; `sent`: it has; `failed`: it refused the mail for good, or did not accept it before the link expired',
    }),
    error: z.string().nullable().meta({
      description:
        'Why the last attempt failed: the reply of the mail server, such as `450 4.2.0 Greylisted`, or a code such as `ECONNREFUSED`',
    }),
    at: TimestampOut.meta({ description: 'When the mail was queued, or last tried' }),
  })
  .meta({ id: 'MailState', example: { error: '450 4.2.0 Greylisted' } });
