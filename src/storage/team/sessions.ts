import { notFound } from '../../domain/problem.ts';
import type { Role } from '../../domain/team/roles.ts';
import { IpMode } from '../../domain/tenants.ts';
import type { AccountStorage, Storage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { maskAddress } from './audit-log.ts';

export interface SessionRow {
  id: string;
  user_agent: string;
  ip: string | null;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
}

/** A session with its person, and their membership in the requested tenant. */
export interface FoundSession {
  id: string;
  account_id: string;
  email: string;
  name: string;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
  member_id: string | null;
  role: Role | null;
}

/** A session lookup: the hash of its token, and the tenant whose membership is needed, if any. */
export interface WantedSession {
  tokenHash: Buffer;
  tenantId: string | null;
}

/**
 * Returns the requested sessions in order; `undefined` for an unknown token.
 *
 * Sessions are not cached, so that an ended session, a removed member or a changed role applies to the next request in
 * every process.
 */
export async function findSessions(storage: Storage, wanted: WantedSession[]): Promise<(FoundSession | undefined)[]> {
  const rows = await storage.query<FoundSession & { place: number }>('select * from find_sessions($1, $2)', [
    wanted.map(({ tokenHash }) => tokenHash),
    wanted.map(({ tenantId }) => tenantId),
  ]);
  const byPlace = new Map(rows.map(({ place, ...row }) => [place, row]));
  return wanted.map((_, index) => byPlace.get(index + 1));
}

export interface NewSession {
  id: string;
  token_hash: Buffer;
  user_agent: string;
  /** Before the tenants' `ip_mode` is applied. */
  ip: string | null;
  expires_at: Date;
}

/** Inserts a session within a transaction with its account's scope. Its address follows the strictest of the account's tenants. */
export async function insertSession(
  tx: Transaction,
  accountId: string,
  { id, token_hash, user_agent, ip, expires_at }: NewSession,
  now: Date,
): Promise<void> {
  const modes = await tx.query<{ ip_mode: IpMode }>(
    'select ip_mode from tenants where id in (select tenant_id from members where account_id = $1)',
    [accountId],
  );
  const strictest = IpMode.options.find(mode => modes.some(({ ip_mode }) => ip_mode === mode)) ?? 'none';
  await tx.query(
    `insert into sessions (id, account_id, token_hash, user_agent, ip, created_at, last_seen_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $6, $7)`,
    [id, accountId, token_hash, user_agent, maskAddress(ip, strictest), now, expires_at],
  );
}

/** Starts a session of an account. */
export const startSession = (account: AccountStorage, session: NewSession, now: Date): Promise<void> =>
  account.transaction(tx => insertSession(tx, account.accountId, session, now));

export const touchSession = (account: AccountStorage, id: string, now: Date): Promise<unknown> =>
  account.transaction(tx => tx.query('update sessions set last_seen_at = $2 where id = $1', [id, now]));

/** Returns a person's active sessions, the last used first. */
export const listSessions = (account: AccountStorage): Promise<SessionRow[]> =>
  account.transaction(tx =>
    tx.query<SessionRow>(
      `select id, user_agent, ip, created_at, last_seen_at, expires_at from sessions where account_id = $1
       order by last_seen_at desc, id desc`,
      [account.accountId],
    ),
  );

/** Ends one of a person's sessions. 404 for any other. */
export const deleteSession = (account: AccountStorage, id: string): Promise<void> =>
  account.transaction(async tx => {
    const deleted = await tx.query('delete from sessions where account_id = $1 and id = $2 returning id', [
      account.accountId,
      id,
    ]);
    if (deleted.length === 0) throw notFound('session');
  });

/** Ends all of a person's sessions. */
export const deleteSessions = (account: AccountStorage): Promise<unknown> =>
  account.transaction(tx => tx.query('delete from sessions where account_id = $1', [account.accountId]));
