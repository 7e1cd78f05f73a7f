import { HOUR_MS } from '../domain/durations.ts';
import { linkTo } from '../domain/links.ts';
import { PasswordResetRequest, RESET_LINK_HOURS } from '../domain/team/accounts.ts';
import { randomSecret, sha256 } from '../platform/secrets.ts';
import { findLogin, insertLink } from '../storage/team/accounts.ts';
import type { CommandContext } from './command.ts';
import { parseOptions } from './parse-options.ts';
import { UsageError } from './usage-error.ts';

/** `password-reset create --email E`: creates a link, valid for an hour, for choosing a new password. */
export async function createPasswordReset({ storage, config, now }: CommandContext, options: { email: string }) {
  const { email } = parseOptions(PasswordResetRequest, { email: options.email });
  if (!(await findLogin(storage, email))) throw new UsageError('--email: no account has this address');
  const token = randomSecret();
  const expires_at = new Date(now.getTime() + RESET_LINK_HOURS * HOUR_MS);
  await insertLink(storage, { purpose: 'reset', token_hash: sha256(token), email, expires_at });
  return { email, link: linkTo(config.BASE_URL, 'reset', token), expires_at };
}
