import { z } from 'zod';
import { int32 } from '../documented.ts';
import { typeIdOut } from '../ids.ts';
import { Problem } from '../problem.ts';
import { TimestampOut } from '../text.ts';
import { Email, EXAMPLE_EMAIL, EXAMPLE_NAME, Password } from './accounts.ts';
import { MailState } from './mails.ts';
import { Role, roleHolds } from './roles.ts';

/** Maximum number of members and open invitations per tenant. */
export const MAX_MEMBERS = 200;

/** Whether assignment rules give a member conversations. */
export const Availability = z.enum(['active', 'away']);
export type Availability = z.infer<typeof Availability>;

/** Number of open and pending conversations up to which assignment rules give a member more, unless it is changed. */
export const DEFAULT_CAPACITY = 20;
const MAX_CAPACITY = 1000;

/** How long an invitation can be accepted. */
export const INVITATION_DAYS = 7;

const grace = { email: 'grace@example.com', role: 'agent' };

export const NewMember = z.strictObject({ email: Email, role: Role, password: Password });

export const Member = z
  .object({
    id: typeIdOut('member'),
    email: z.string(),
    name: z.string(),
    role: Role,
    totp_enabled: z.boolean(),
    availability: Availability.meta({ description: 'Whether assignment rules give the member conversations' }),
    capacity: int32().meta({
      description: 'Number of open and pending conversations up to which assignment rules give the member more',
    }),
    created_at: TimestampOut,
  })
  .meta({
    id: 'Member',
    example: { email: EXAMPLE_EMAIL, name: EXAMPLE_NAME, role: 'owner', capacity: DEFAULT_CAPACITY },
  });

export const MemberPatch = z
  .strictObject({
    role: Role,
    availability: Availability.meta({ description: 'Members may change their own' }),
    capacity: z.int().min(0).max(MAX_CAPACITY),
  })
  .partial()
  .meta({ id: 'MemberPatch', example: { availability: 'away' } });
export type MemberPatch = z.output<typeof MemberPatch>;

export const NewInvitation = z
  .strictObject({ email: Email, role: Role })
  .meta({ id: 'InvitationInput', example: grace });

export const Invitation = z
  .object({
    id: typeIdOut('invitation'),
    email: z.string().meta({ example: grace.email }),
    role: Role.meta({ example: grace.role }),
    created_at: TimestampOut,
    expires_at: TimestampOut.meta({ example: '2026-11-28T07:00:00.000Z' }),
    mail: MailState.nullable().meta({ description: 'How far its mail got; null if none was sent', example: {} }),
  })
  .meta({ id: 'Invitation' });

/** An invitation as shown to its creator. */
export const SentInvitation = Invitation.extend({
  link: z.string().meta({ description: 'Link for accepting the invitation; shown only once' }),
  mail: z.enum(['queued', 'none']).meta({
    description:
      '`queued`: a mail with a link is on its way; the invitation then shows whether the mail server has accepted it. `none`: no mail server is configured (`SMTP_URL`)',
  }),
}).meta({
  id: 'SentInvitation',
  example: { link: 'https://parley.example.com/dashboard/invitation#token=T4pEaO2cXkVb' },
});

/** Throws 403 unless `actor` may grant or remove a role: only owners may create, change and remove owners. */
export function requireRankFor(actor: Role, ...roles: Role[]): void {
  if (actor === 'owner' || !roles.includes('owner')) return;
  throw new Problem('insufficient-scope', 'Only an owner can add, change or remove an owner.');
}

/** Throws 403 unless `actor` may make a change of a member: others than admins may only set their own availability. */
export function requireChangeOf(id: string, change: MemberPatch, actor: { role: Role; memberId: string }): void {
  if (roleHolds(actor.role, 'members:manage')) return;
  const { availability, ...others } = change;
  if (Object.keys(others).length > 0)
    throw new Problem('insufficient-scope', 'Only owners and admins can change the role and capacity of members.');
  if (availability !== undefined && id !== actor.memberId)
    throw new Problem('insufficient-scope', 'Only owners and admins can change the availability of other members.');
}

/** Returns the likely mailbox of an address, for counting mails: without the part after `+`, which senders choose. */
export const mailboxOf = (email: string): string => email.replace(/\+[^@]*@/, '@');

/**
 * Returns a name that a tenant chose for a mail to a stranger, with a space after each character of addresses, so that mail
 * programs don't turn it into a link.
 */
export const nameInMail = (name: string): string => name.replaceAll(/[.:/@](?=\S)/g, '$& ');
