import type { AccountStorage, Storage } from '../database/orm.ts';
import { proveAddress } from './accounts.ts';

/** Returns the account that is linked to a subject of the identity provider; `undefined` if there is none. */
export const findAccountOfSubject = async (
  storage: Storage,
  issuer: string,
  subject: string,
): Promise<string | undefined> =>
  (await storage.query<{ id: string }>('select id from find_account_of_subject($1, $2)', [issuer, subject]))[0]?.id;

/**
 * Links a subject of the identity provider, which has verified `email`, to an authenticated account, and so proves the
 * account's address if it is the same. Password, authenticator and sessions stay unchanged.
 */
export const linkSubject = (
  account: AccountStorage,
  { issuer, subject, email }: { issuer: string; subject: string; email: string },
  now: Date,
): Promise<void> =>
  account.transaction(async tx => {
    await tx.query(
      `insert into account_subjects (issuer, subject, account_id, created_at) values ($1, $2, $3, $4)
       on conflict (issuer, subject) do nothing`,
      [issuer, subject, account.accountId, now],
    );
    await proveAddress(tx, account.accountId, email, now);
  });
