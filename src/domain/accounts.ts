import { z } from 'zod';
import { typeIdOut } from './ids.ts';
import { Role } from './roles.ts';
import { isStorable, text } from './text.ts';

/** For how long the link of a first run and of a password reset can be used. */
export const SETUP_LINK_HOURS = 24;
export const RESET_LINK_HOURS = 1;

/** How many one-time codes a person gets for the day on which the authenticator is lost. */
export const RECOVERY_CODES = 10;

/** An address by which a person is known; case does not tell two apart. */
export const Email = z.email().max(254).toLowerCase();

/** 12…256 characters of whatever kind (NIST SP 800-63B section 3.1.1: length, no rules of composition). */
export const Password = z
  .string()
  .min(12, 'must have at least 12 characters')
  .max(256)
  .refine(isStorable, 'must not contain U+0000 or a lone surrogate');

/** A password as it is tried: whatever it is, it is only right or wrong. */
export const TriedPassword = z.string().max(256);

/** A code of the authenticator, or one of the recovery codes. */
export const TriedCode = z.string().max(40);

export const AccountName = text(120, 1);

export const Account = z
  .object({
    account_id: typeIdOut('account'),
    email: z.string(),
    name: z.string(),
    totp_enabled: z.boolean(),
    memberships: z
      .array(
        z.object({
          tenant: z.object({ id: typeIdOut('tenant'), name: z.string() }),
          member_id: typeIdOut('member'),
          role: Role,
        }),
      )
      .meta({ description: 'Tenants of which the person is a member, by name' }),
  })
  .meta({ id: 'Account' });

export const AccountPatch = z.strictObject({ name: AccountName }).meta({ id: 'AccountPatch' });

export const PasswordChange = z
  .strictObject({ current_password: TriedPassword, new_password: Password })
  .meta({ id: 'PasswordChange' });

export const PasswordResetRequest = z.strictObject({ email: Email }).meta({ id: 'PasswordResetRequest' });
export const PasswordReset = z.strictObject({ password: Password }).meta({ id: 'PasswordReset' });

export const Setup = z
  .strictObject({
    token: z.string().max(200),
    tenant_name: text(120, 1),
    name: AccountName,
    email: Email,
    password: Password,
  })
  .meta({ id: 'Setup' });

/** A proof, by the password, that it is the person and not somebody at an open screen. */
export const PasswordProof = z.strictObject({ password: TriedPassword }).meta({ id: 'PasswordProof' });

export const TotpEnrolment = z
  .object({
    secret: z.string().meta({ description: 'Secret in Base32, for manual entry' }),
    uri: z.string().meta({ description: '`otpauth://` URI, for a QR code' }),
  })
  .meta({ id: 'TotpEnrolment' });

export const TotpConfirmation = z.strictObject({ totp: TriedCode }).meta({ id: 'TotpConfirmation' });

export const RecoveryCodes = z
  .object({ recovery_codes: z.array(z.string()).meta({ description: 'Each valid for one login; shown only once' }) })
  .meta({ id: 'RecoveryCodes' });
