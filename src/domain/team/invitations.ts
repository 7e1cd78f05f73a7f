import { z } from 'zod';
import { TimestampOut } from '../text.ts';
import { AccountName, Password, TriedCode } from './accounts.ts';
import { Role } from './roles.ts';

/** An invitation as shown to the holder of its link, before acceptance. */
export const InvitationNotice = z
  .object({
    tenant_name: z.string(),
    email: z.string(),
    role: Role,
    account_exists: z
      .boolean()
      .meta({ description: 'Whether the address has an account, whose password is then required' }),
    not_my_account_allowed: z.boolean().meta({
      description: 'Whether the link accepts `not_my_account`: it was mailed, and no account has proven the address',
    }),
    expires_at: TimestampOut,
  })
  .meta({
    id: 'InvitationNotice',
    example: { tenant_name: 'Acme', email: 'grace@example.com', role: 'agent', expires_at: '2026-11-28T07:00:00.000Z' },
  });

export const Acceptance = z
  .strictObject({
    name: AccountName.optional().meta({ description: 'Name of the new account. An existing account keeps its name' }),
    password: Password.optional().meta({
      description: 'Password of the existing account, or the password for the new one',
    }),
    totp: TriedCode.optional(),
    not_my_account: z.boolean().optional().meta({
      description:
        'Whether the existing account is not yours: it loses the address, its sessions and its memberships, and a new account is created',
    }),
  })
  .meta({ id: 'Acceptance', example: { name: 'Grace Hopper', password: 'correct horse battery staple' } });
