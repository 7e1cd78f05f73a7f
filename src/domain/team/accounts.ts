import { z } from 'zod';
import { typeIdOut } from '../ids.ts';
import { isStorable, label, STORABLE } from '../text.ts';
import { Role } from './roles.ts';

/** How long the links for setup and for a password reset are valid. */
export const SETUP_LINK_HOURS = 24;
export const RESET_LINK_HOURS = 1;

/** One-time recovery codes per person, for a lost authenticator. */
export const RECOVERY_CODES = 10;

/** A person in examples. */
export const EXAMPLE_EMAIL = 'ada@example.com';
export const EXAMPLE_NAME = 'Ada Lovelace';
const examplePassword = 'correct horse battery staple';

const LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
/**
 * The form of browsers (HTML, section "E-mail state"), with a dot in the domain, since most addresses without one are typing errors. zod's
 * own form refuses `&` and `#` before the `@`, and top-level domains in another script, such as `xn--p1ai`.
 */
const EMAIL = new RegExp(`^[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]+@${LABEL}(?:\\.${LABEL})+$`);

/** An account's e-mail address; case-insensitive. */
export const Email = z.email({ pattern: EMAIL }).max(254).toLowerCase().meta({ example: EXAMPLE_EMAIL });

/** 12…256 characters of any kind (NIST SP 800-63B section 3.1.1: length, no composition rules). */
export const Password = z.string().min(12).max(256).refine(isStorable, STORABLE).meta({ example: examplePassword });

/** A password to verify, without rules. */
export const TriedPassword = z.string().max(256).meta({ example: examplePassword });

/** A code of the authenticator, or a recovery code. */
export const TriedCode = z.string().max(40).meta({ example: '492039' });

export const AccountName = label(120).meta({ example: EXAMPLE_NAME });

/** A tenant in the list of a person's tenants. */
export const TenantName = z
  .object({
    id: typeIdOut('tenant'),
    name: z.string(),
    demo: z.boolean().meta({ description: 'Whether it was created with demo data' }),
  })
  .meta({ id: 'TenantName', example: { name: 'Nordlicht Coffee (demo)', demo: true } });

export const Account = z
  .object({
    account_id: typeIdOut('account'),
    email: z.string(),
    name: z.string(),
    totp_enabled: z.boolean(),
    memberships: z
      .array(
        z
          .object({
            tenant: TenantName,
            member_id: typeIdOut('member'),
            role: Role,
          })
          .meta({ id: 'Membership', example: { tenant: { name: 'Acme', demo: false }, role: 'owner' } }),
      )
      .meta({ description: 'Tenants of which the person is a member, by name' }),
  })
  .meta({ id: 'Account', example: { email: EXAMPLE_EMAIL, name: EXAMPLE_NAME } });

export const AccountPatch = z.strictObject({ name: AccountName }).meta({ id: 'AccountPatch' });

export const PasswordChange = z
  .strictObject({ current_password: TriedPassword, new_password: Password })
  .meta({ id: 'PasswordChange', example: { new_password: 'tr0ub4dor and three more' } });

export const PasswordResetRequest = z.strictObject({ email: Email }).meta({ id: 'PasswordResetRequest' });
export const PasswordReset = z.strictObject({ password: Password }).meta({ id: 'PasswordReset' });

export const Setup = z
  .strictObject({
    token: z.string().max(200),
    tenant_name: label(120),
    name: AccountName,
    email: Email,
    password: Password,
  })
  .meta({ id: 'Setup', example: { token: 'T4pEaO2cXkVb', tenant_name: 'Acme' } });

/** The password as proof that the account's owner is acting, not someone at an unlocked screen. */
export const PasswordProof = z.strictObject({ password: TriedPassword }).meta({ id: 'PasswordProof' });

export const TotpEnrolment = z
  .object({
    secret: z.string().meta({ description: 'Secret in Base32, for manual entry' }),
    uri: z.string().meta({ description: '`otpauth://` URI, for a QR code' }),
  })
  .meta({
    id: 'TotpEnrolment',
    example: {
      secret: 'JBSWY3DPEHPK3PXP',
      uri: 'otpauth://totp/Parley:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Parley',
    },
  });

export const TotpConfirmation = z.strictObject({ totp: TriedCode }).meta({ id: 'TotpConfirmation' });

export const RecoveryCodes = z
  .object({ recovery_codes: z.array(z.string()).meta({ description: 'Each valid for one login; shown only once' }) })
  .meta({ id: 'RecoveryCodes', example: { recovery_codes: ['k3f2a-9qpd4', 'm5rt6-x2w7c'] } });
