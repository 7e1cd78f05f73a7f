import { Problem } from '../../domain/problem.ts';
import type { Role } from '../../domain/team/roles.ts';
import { isUniqueViolation } from '../database/errors.ts';
import type { AccountStorage, Storage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';

export interface AccountRow {
  id: string;
  email: string;
  name: string;
  totp_confirmed_at: Date | null;
}

/** An account with its credentials, read by e-mail address before login. */
export interface LoginRow extends AccountRow {
  /** null for a person who only logs in by the identity provider. */
  password_hash: string | null;
  /** The authenticator's secret, encrypted and bound to the account's id. */
  totp_sealed: Buffer | null;
  /** The time step of the last accepted code, so that codes work only once. */
  totp_last_step: number | null;
  recovery_hashes: string[];
}

/** A person's membership in a tenant. */
export interface MembershipRow {
  tenant_id: string;
  tenant_name: string;
  is_demo: boolean;
  member_id: string;
  role: Role;
}

export const findLogin = async (storage: Storage, email: string): Promise<LoginRow | undefined> =>
  (await storage.query<LoginRow>('select * from find_login($1)', [email]))[0];

/** Returns the account and its memberships, sorted by tenant name. */
export const findAccount = (
  account: AccountStorage,
): Promise<{ account: AccountRow | undefined; memberships: MembershipRow[] }> =>
  account.transaction(async tx => {
    const [found, memberships] = await Promise.all([
      tx.query<AccountRow>('select id, email, name, totp_confirmed_at from accounts where id = $1', [
        account.accountId,
      ]),
      tx.query<MembershipRow>(
        `select tenants.id as tenant_id, tenants.name as tenant_name, tenants.is_demo, members.id as member_id, members.role
         from members join tenants on tenants.id = members.tenant_id
         where members.account_id = $1 order by tenants.name, tenants.id`,
        [account.accountId],
      ),
    ]);
    return { account: found[0], memberships };
  });

export interface NewAccount {
  id: string;
  email: string;
  name: string;
  password_hash: string | null;
}

/**
 * Inserts an account within a transaction that has its scope. 409 when the address has one. `isProven` states whether the
 * address is known to be the person's, as for an account made by the operator.
 */
export async function insertAccount(tx: Transaction, account: NewAccount, isProven: boolean, now: Date): Promise<void> {
  try {
    await tx.query(
      `insert into accounts (id, email, name, password_hash, recovery_hashes, created_at, email_proven_at)
       values ($1, $2, $3, $4, '{}', $5, $6)`,
      [account.id, account.email, account.name, account.password_hash, now, isProven ? now : null],
    );
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause;
    throw new Problem('member-exists', 'An account with this e-mail address already exists.', { cause });
  }
}

/** Records that a person has proven the address of their account, unless it is another address or was proven before. */
export const proveAddress = (tx: Transaction, id: string, email: string, now: Date): Promise<unknown> =>
  tx.query('update accounts set email_proven_at = $3 where id = $1 and email = $2 and email_proven_at is null', [
    id,
    email,
    now,
  ]);

/** The fields of an account that its owner can change. */
export interface AccountChange {
  name: string;
  password_hash: string | null;
  totp_sealed: Buffer | null;
  totp_confirmed_at: Date | null;
  totp_last_step: number | null;
  recovery_hashes: string[];
}

const CHANGEABLE: (keyof AccountChange)[] = [
  'name',
  'password_hash',
  'totp_sealed',
  'totp_confirmed_at',
  'totp_last_step',
  'recovery_hashes',
];

/** Updates the given columns of an account. */
export const updateAccount = (account: AccountStorage, change: Partial<AccountChange>): Promise<unknown> =>
  account.transaction(tx => writeAccount(tx, account.accountId, change));

function writeAccount(tx: Transaction, id: string, change: Partial<AccountChange>): Promise<unknown> {
  const names = CHANGEABLE.filter(name => change[name] !== undefined);
  const columns = names.map((name, index) => `${name} = $${index + 2}`);
  return tx.query(`update accounts set ${columns.join(', ')} where id = $1`, [id, ...names.map(name => change[name])]);
}

/** Removes the authenticator and the recovery codes. */
export const removeAuthenticator = (account: AccountStorage): Promise<unknown> =>
  updateAccount(account, { totp_sealed: null, totp_confirmed_at: null, totp_last_step: null, recovery_hashes: [] });

/** Sets a new password and ends all other sessions. */
export const changePassword = (account: AccountStorage, password_hash: string, currentSession: string) =>
  account.transaction(async tx => {
    await writeAccount(tx, account.accountId, { password_hash });
    await tx.query('delete from sessions where account_id = $1 and id <> $2', [account.accountId, currentSession]);
  });

/**
 * Uses up a code of the authenticator. False when it, or a later one, was used before.
 *
 * Decided by the database, so that of two concurrent logins with one code only one succeeds.
 */
export const redeemTotpStep = (account: AccountStorage, step: number): Promise<boolean> =>
  take(account, 'select take_totp_step($1) as taken', step);

/** Uses up a recovery code. False when it is unknown or was just used. */
export const redeemRecoveryCode = (account: AccountStorage, hash: string): Promise<boolean> =>
  take(account, 'select take_recovery_code($1) as taken', hash);

const take = (account: AccountStorage, sql: string, what: unknown): Promise<boolean> =>
  account.transaction(async tx => (await tx.query<{ taken: boolean }>(sql, [what]))[0]?.taken === true);

export type LinkPurpose = 'setup' | 'reset';

/**
 * Stores the hash of a link. It replaces an earlier link of the same purpose and person. `mailed` states whether only the
 * owner of the mailbox has the link (default: no), whose use then proves the address.
 */
export const insertLink = (
  storage: Pick<Storage, 'query'>,
  link: { purpose: LinkPurpose; token_hash: Buffer; email: string | null; expires_at: Date; mailed?: boolean },
): Promise<unknown> =>
  storage.query('select make_account_link($1, $2, $3, $4, $5)', [
    link.purpose,
    link.token_hash,
    link.email,
    link.expires_at,
    link.mailed ?? false,
  ]);

/** Whether any tenant has an owner. Until then, the holder of the setup link can become owner. */
export const hasOwner = async (storage: Storage): Promise<boolean> =>
  (await storage.query<{ found: boolean }>('select has_owner() as found'))[0]?.found === true;

/** Uses up the setup link. False when it is invalid, or there is an owner. */
export const redeemSetupLink = async (tx: Transaction, token_hash: Buffer, now: Date): Promise<boolean> =>
  (await tx.query<{ taken: boolean }>('select take_setup_link($1, $2) as taken', [token_hash, now]))[0]?.taken === true;

/**
 * Sets a password by a link and ends all of the person's sessions. Returns the account id; `undefined` for an invalid
 * link.
 */
export const resetPassword = (
  storage: Storage,
  token_hash: Buffer,
  password_hash: string,
  now: Date,
): Promise<string | undefined> =>
  storage.transaction(async tx => {
    const params = [token_hash, password_hash, now];
    return (await tx.query<{ id: string }>('select reset_password($1, $2, $3) as id', params))[0]?.id;
  });
