import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { credentials } from './api/client.ts';
import { useApi } from './api/hooks.ts';
import type { Account, Membership, SessionMe } from './api/names.ts';
import type { ApiProblem } from './api/problem.ts';
import { type Right, rightsOf } from './rights.ts';

/** Who is signed in, and for which of their tenants the pages are shown. */
export interface Session {
  account: Account;
  membership: Membership;
  sessionId: string;
  /** Whether the role lets them; the API decides again. */
  may(right: Right): boolean;
  switchTenant(tenantId: string): void;
}

const KEPT_UNDER = 'parley.tenant';
const SessionContext = createContext<Session | null>(null);

/** The session of the pages behind the login. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('This page stands behind the login.');
  return session;
}

/** The tenant looked at last, while one still belongs to it. */
function membershipOf({ memberships }: Account): Membership | undefined {
  const kept = localStorage.getItem(KEPT_UNDER);
  return memberships.find(({ tenant }) => tenant.id === kept) ?? memberships[0];
}

/** What the next request carries: the token against forged requests, and the tenant. */
function adopt({ account, csrf_token }: Pick<SessionMe, 'account' | 'csrf_token'>): Membership | undefined {
  const membership = membershipOf(account);
  credentials.csrfToken = csrf_token;
  credentials.tenantId = membership?.tenant.id;
  return membership;
}

interface SessionGateProps {
  /** Shown while it is asked who is there. */
  pending: ReactNode;
  /** For nobody: the pages before the login. */
  signedOut: ReactNode;
  /** For somebody who belongs to no tenant any more. */
  homeless: ReactNode;
  failed(problem: ApiProblem, retry: () => void): ReactNode;
  children: ReactNode;
}

/** Shows the pages to those who are signed in, and the login to others. */
export function SessionGate({ pending, signedOut, homeless, failed, children }: SessionGateProps) {
  const queries = useQueryClient();
  const { data, error, refetch } = useApi('GET /v1/me', {}, { everyMs: 60_000 });
  const me = data?.credential === 'session' ? data : undefined; // a cookie is never answered as anything else
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
              localStorage.setItem(KEPT_UNDER, tenantId);
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
  if (!session) return homeless;
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** Reads anew who is signed in, after a login or a logout; nothing of the one before is kept. */
export function useSessionChange(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    credentials.csrfToken = undefined;
    credentials.tenantId = undefined;
    await queries.resetQueries();
  };
}
