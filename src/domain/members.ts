import { z } from 'zod';
import { AccountName, Email, Password } from './accounts.ts';
import { typeIdOut } from './ids.ts';
import { Problem } from './problem.ts';
import { Role } from './roles.ts';
import { TimestampOut } from './text.ts';

/** How many members and open invitations one tenant may have. */
export const MAX_MEMBERS = 200;

/** For how long an invitation can be accepted. */
export const INVITATION_DAYS = 7;

export const NewMember = z.strictObject({ email: Email, role: Role, password: Password });

export const Member = z
  .object({
    id: typeIdOut('member'),
    email: z.string(),
    name: z.string(),
    role: Role,
    totp_enabled: z.boolean(),
    created_at: TimestampOut,
  })
  .meta({ id: 'Member' });

export const MemberPatch = z.strictObject({ role: Role }).meta({ id: 'MemberPatch' });

export const NewInvitation = z.strictObject({ email: Email, role: Role }).meta({ id: 'NewInvitation' });

export const Invitation = z
  .object({
    id: typeIdOut('invitation'),
    email: z.string(),
    role: Role,
    created_at: TimestampOut,
    expires_at: TimestampOut,
  })
  .meta({ id: 'Invitation' });

/** An invitation to whoever has just made it. */
export const SentInvitation = Invitation.extend({
  link: z.string().meta({ description: 'Link for accepting the invitation; shown only once' }),
  mailed: z.boolean().meta({ description: 'Whether the link was also sent by e-mail (requires `SMTP_URL`)' }),
}).meta({ id: 'SentInvitation' });

/** What whoever holds the link of an invitation is told before accepting it. */
export const InvitationNotice = z
  .object({
    tenant_name: z.string(),
    email: z.string(),
    role: Role,
    account_exists: z
      .boolean()
      .meta({ description: 'Whether the address has an account, whose password is then required' }),
    expires_at: TimestampOut,
  })
  .meta({ id: 'InvitationNotice' });

export const Acceptance = z
  .strictObject({
    name: AccountName,
    password: Password.meta({ description: 'Password of the existing account, or the password for the new one' }),
    totp: z.string().max(40).optional(),
  })
  .meta({ id: 'Acceptance' });

/** Throws 403 unless `actor` may give or take a role: owners are made, changed and removed by owners alone. */
export function requireRankFor(actor: Role, ...roles: Role[]): void {
  if (actor === 'owner' || !roles.includes('owner')) return;
  throw new Problem('insufficient-scope', 'Only an owner can add, change or remove an owner.');
}

/** The mailbox that an address most likely leads to, for counting mails: without the part that senders may choose. */
export const mailboxOf = (email: string): string => email.replace(/\+[^@]*@/, '@');
