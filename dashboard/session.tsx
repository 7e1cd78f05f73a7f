import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { credentials } from './api/client.ts';
import { useApi } from './api/hooks.ts';
import type { Account, Membership, SessionMe } from './api/names.ts';
import type { ApiProblem } from './api/problem.ts';
import { type Right, rightsOf } from './rights.ts';

/** The signed-in account and the selected tenant. */
export interface Session {
  account: Account;
  membership: Membership;
  sessionId: string;
  /** Whether the role has the permission; the API enforces it. */
  may(right: Right): boolean;
  switchTenant(tenantId: string): void;
}

const STORAGE_KEY = 'parley.tenant';
const SessionContext = createContext<Session | null>(null);

/** Returns the current session. Throws outside `SessionGate`. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession must be used within SessionGate.');
  return session;
}

/** The last selected tenant if the account is still a member, else the first. */
function membershipOf({ memberships }: Account): Membership | undefined {
  const kept = localStorage.getItem(STORAGE_KEY);
  return memberships.find(({ tenant }) => tenant.id === kept) ?? memberships[0];
}

/** Sets the CSRF token and tenant of the following requests. */
function adopt({ account, csrf_token }: Pick<SessionMe, 'account' | 'csrf_token'>): Membership | undefined {
  const membership = membershipOf(account);
  credentials.csrfToken = csrf_token;
  credentials.tenantId = membership?.tenant.id;
  return membership;
}

interface SessionGateProps {
  /** Shown while the session is loading. */
  pending: ReactNode;
  /** Shown without a session. */
  signedOut: ReactNode;
  /** Shown to an account without memberships. */
  noTenant: ReactNode;
  failed(problem: ApiProblem, retry: () => void): ReactNode;
  children: ReactNode;
}

/** Shows its children with a session, and the sign-in page without. */
export function SessionGate({ pending, signedOut, noTenant, failed, children }: SessionGateProps) {
  const queries = useQueryClient();
  const { data, error, refetch } = useApi('GET /v1/me', {}, { everyMs: 60_000 });
  const me = data?.credential === 'session' ? data : undefined; // always the case for a cookie
  const membership = me && !error ? adopt(me) : undefined;
  const session = useMemo(
    () =>
      me && membership
        ? {
            account: me.account,
            membership,
            sessionId: me.session.id,
            may: (right: Right) => rightsOf(membership.role).has(right),
            switchTenant: (tenantId: string) => {
              localStorage.setItem(STORAGE_KEY, tenantId);
              credentials.tenantId = tenantId;
              void queries.resetQueries();
            },
          }
        : null,
    [me, membership, queries],
  );
  if (error?.status === 401) return signedOut;
  if (error && !me) return failed(error, () => void refetch());
  if (!me) return pending;
  if (!session) return noTenant;
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** Returns a function that reloads the session and clears all cached data, for use after sign-in and sign-out. */
export function useSessionChange(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    credentials.csrfToken = undefined;
    credentials.tenantId = undefined;
    await queries.resetQueries();
  };
}
