import { Problem } from '../domain/problem.ts';
import type { Role } from '../domain/roles.ts';
import { isUniqueViolation } from './errors.ts';
import type { AccountStorage, Storage } from './orm.ts';
import type { Session } from './transaction.ts';

export interface AccountRow {
  id: string;
  email: string;
  name: string;
  totp_confirmed_at: Date | null;
}

/** An account with what its owner proves it by: read before anybody is logged in, by the address alone. */
export interface LoginRow extends AccountRow {
  /** null for a person who logs in by the identity provider alone. */
  password_hash: string | null;
  /** The secret of the authenticator, encrypted and bound to the account's id. */
  totp_sealed: Buffer | null;
  /** The time step of the last code that was taken, so that none works twice. */
  totp_last_step: number | null;
  recovery_hashes: string[];
}

/** A tenant that a person belongs to. */
export interface MembershipRow {
  tenant_id: string;
  tenant_name: string;
  member_id: string;
  role: Role;
}

export const findLogin = async (storage: Storage, email: string): Promise<LoginRow | undefined> =>
  (await storage.query<LoginRow>('select * from find_login($1)', [email]))[0];

/** The account and its memberships, by the tenants' names. */
export const findAccount = (
  account: AccountStorage,
): Promise<{ account: AccountRow | undefined; memberships: MembershipRow[] }> =>
  account.transaction(async session => {
    const [found, memberships] = await Promise.all([
      session.query<AccountRow>('select id, email, name, totp_confirmed_at from accounts where id = $1', [
        account.accountId,
      ]),
      session.query<MembershipRow>(
        `select tenants.id as tenant_id, tenants.name as tenant_name, members.id as member_id, members.role
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

/** Adds an account within a transaction that names it. 409 when the address has one. */
export async function insertAccount(session: Session, account: NewAccount, now: Date): Promise<void> {
  try {
    await session.query(
      `insert into accounts (id, email, name, password_hash, recovery_hashes, created_at)
       values ($1, $2, $3, $4, '{}', $5)`,
      [account.id, account.email, account.name, account.password_hash, now],
    );
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause;
    throw new Problem('member-exists', 'An account with this e-mail address already exists.', { cause });
  }
}

/** What of an account its owner can change. */
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

/** Writes the given columns of an account. */
export const updateAccount = (account: AccountStorage, change: Partial<AccountChange>): Promise<unknown> =>
  account.transaction(session => writeAccount(session, account.accountId, change));

function writeAccount(session: Session, id: string, change: Partial<AccountChange>): Promise<unknown> {
  const names = CHANGEABLE.filter(name => change[name] !== undefined);
  const columns = names.map((name, index) => `${name} = $${index + 2}`);
  return session.query(`update accounts set ${columns.join(', ')} where id = $1`, [
    id,
    ...names.map(name => change[name]),
  ]);
}

/** Sets a new password and ends every session but one. */
export const changePassword = (account: AccountStorage, password_hash: string, keptSession: string) =>
  account.transaction(async session => {
    await writeAccount(session, account.accountId, { password_hash });
    await session.query('delete from sessions where account_id = $1 and id <> $2', [account.accountId, keptSession]);
  });

/**
 * Takes a code of the authenticator for good: false when it, or a later one, was taken before.
 *
 * The database decides, so that of two logins with one code at the same moment one alone succeeds.
 */
export const takeTotpStep = (account: AccountStorage, step: number): Promise<boolean> =>
  take(account, 'select take_totp_step($1) as taken', step);

/** Takes a recovery code for good; false when it is unknown, or somebody was faster. */
export const takeRecoveryCode = (account: AccountStorage, hash: string): Promise<boolean> =>
  take(account, 'select take_recovery_code($1) as taken', hash);

const take = (account: AccountStorage, sql: string, what: unknown): Promise<boolean> =>
  account.transaction(async session => (await session.query<{ taken: boolean }>(sql, [what]))[0]?.taken === true);

export type LinkPurpose = 'setup' | 'reset';

/** Keeps a link, as its hash, in place of an earlier one for the same purpose and person. */
export const insertLink = (
  storage: Storage,
  link: { purpose: LinkPurpose; token_hash: Buffer; email: string | null; expires_at: Date },
): Promise<unknown> =>
  storage.query('select make_account_link($1, $2, $3, $4)', [
    link.purpose,
    link.token_hash,
    link.email,
    link.expires_at,
  ]);

/** Whether any tenant has an owner: until then the first run is open to whoever holds its link. */
export const hasOwner = async (storage: Storage): Promise<boolean> =>
  (await storage.query<{ found: boolean }>('select has_owner() as found'))[0]?.found === true;

/** Takes the link of the first run; false when it is not valid, or there is an owner. */
export const takeSetupLink = async (session: Session, token_hash: Buffer, now: Date): Promise<boolean> =>
  (await session.query<{ taken: boolean }>('select take_setup_link($1, $2) as taken', [token_hash, now]))[0]?.taken ===
  true;

/** Sets a password by a link and ends every session of the person, who is given; `undefined` when it is not valid. */
export const resetPassword = (
  storage: Storage,
  token_hash: Buffer,
  password_hash: string,
  now: Date,
): Promise<string | undefined> =>
  storage.transaction(async session => {
    const params = [token_hash, password_hash, now];
    return (await session.query<{ id: string }>('select reset_password($1, $2, $3) as id', params))[0]?.id;
  });

export const findAccountOfSubject = async (
  storage: Storage,
  issuer: string,
  subject: string,
): Promise<string | undefined> =>
  (await storage.query<{ id: string }>('select id from find_account_of_subject($1, $2)', [issuer, subject]))[0]?.id;

/**
 * Remembers by what the identity provider knows a person, who must have proven the account. Password, authenticator and
 * sessions stay as they are.
 */
export const linkSubject = (account: AccountStorage, issuer: string, subject: string, now: Date): Promise<void> =>
  account.transaction(async session => {
    await session.query(
      `insert into account_subjects (issuer, subject, account_id, created_at) values ($1, $2, $3, $4)
       on conflict (issuer, subject) do nothing`,
      [issuer, subject, account.accountId, now],
    );
  });
