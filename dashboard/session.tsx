import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef } from 'react';
import { credentials } from './api/client.ts';
import { useConnectionLoss } from './api/connection.ts';
import { ME, useApi } from './api/hooks.ts';
import type { Account, Membership, SessionMe } from './api/names.ts';
import { type ApiProblem, isSignedOut } from './api/problem.ts';
import { type Right, rightsOf } from './rights.ts';
import { lastTenant, rememberTenant, TenantContext } from './tenant.ts';

/** The signed-in account. */
interface SignedIn {
  account: Account;
  sessionId: string;
}

/** The signed-in account and its membership in the tenant of the address; elsewhere in the last visited tenant. */
export interface Session extends SignedIn {
  membership: Membership;
  /** Whether the role has the permission; the API enforces it. */
  may(right: Right): boolean;
}

const SignedInContext = createContext<SignedIn | null>(null);
const SessionContext = createContext<Session | null>(null);

/** Returns the current session. Throws outside `TenantGate` and `LastTenant`. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession must be used within a tenant.');
  return session;
}

/** Returns the signed-in account. Throws outside `SessionGate`. */
export function useSignedIn(): SignedIn {
  const signedIn = useContext(SignedInContext);
  if (!signedIn) throw new Error('useSignedIn must be used within SessionGate.');
  return signedIn;
}

/** The last visited tenant's membership if the account still has it, else the first. */
export const lastMembership = ({ memberships }: Account): Membership | undefined => {
  const kept = lastTenant();
  return memberships.find(({ tenant }) => tenant.id === kept) ?? memberships[0];
};

/** Poll interval of the session; shorter while there is no connection. */
const EVERY_MS = 60_000;
const LOST_EVERY_MS = 3000;

interface SessionGateProps {
  /** Shown while the session is loading. */
  pending: ReactNode;
  /** Shown without a session. */
  signedOut: ReactNode;
  /** Shown if the session could not be loaded for the first time. */
  failed(problem: ApiProblem, retry: () => void): ReactNode;
  /** Rendered with the state of the connection; its content stays on the screen. */
  children(isLost: boolean): ReactNode;
}

/** Shows its children with a session, and the sign-in page without: only a 401 leads away from the pages. */
export function SessionGate({ pending, signedOut, failed, children }: SessionGateProps) {
  const isLost = useConnectionLoss() !== undefined;
  const { data, error, refetch } = useApi(ME, {}, { everyMs: isLost ? LOST_EVERY_MS : EVERY_MS });
  const me = data?.credential === 'session' ? data : undefined; // always the case for a cookie
  const hasNoSession = useRef(false); // a check while somebody types their password must not remove the form
  if (me && !error) hasNoSession.current = false;
  else if (error) hasNoSession.current = isSignedOut(error);
  credentials.csrfToken = hasNoSession.current ? undefined : me?.csrf_token;
  const signedIn = useMemo(() => me && signedInOf(me), [me]);
  if (hasNoSession.current) return signedOut;
  if (signedIn) return <SignedInContext value={signedIn}>{children(isLost || error !== null)}</SignedInContext>;
  return error ? failed(error, () => void refetch()) : pending;
}

const signedInOf = ({ account, session }: SessionMe): SignedIn => ({ account, sessionId: session.id });

function MembershipProvider({ membership, children }: { membership: Membership; children: ReactNode }) {
  const signedIn = useSignedIn();
  const session = useMemo(
    () => ({ ...signedIn, membership, may: (right: Right) => rightsOf(membership.role).has(right) }),
    [signedIn, membership],
  );
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** Provides the tenant in the address to its children; shows `unknown` if the account is not a member. */
export function TenantGate({
  tenantId,
  unknown,
  children,
}: {
  tenantId: string;
  unknown: ReactNode;
  children: ReactNode;
}) {
  const { account } = useSignedIn();
  const membership = account.memberships.find(({ tenant }) => tenant.id === tenantId);
  const isMember = membership !== undefined;
  useEffect(() => {
    if (isMember) rememberTenant(tenantId);
  }, [tenantId, isMember]);
  if (!membership) return unknown;
  return (
    <TenantContext value={tenantId}>
      <MembershipProvider membership={membership}>{children}</MembershipProvider>
    </TenantContext>
  );
}

/** Provides the membership in the last visited tenant, for pages without a tenant in their address. */
export function LastTenant({ none, children }: { none: ReactNode; children: ReactNode }) {
  const { account } = useSignedIn();
  const membership = lastMembership(account);
  return membership ? <MembershipProvider membership={membership}>{children}</MembershipProvider> : none;
}

/** Returns a function that fetches the account again, with its memberships. */
export function useAccountRefresh(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.refetchQueries({ queryKey: [ME] });
}

/** Returns a function that reloads the session and clears all cached data, for use after sign-in and sign-out. */
export function useSessionChange(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    credentials.csrfToken = undefined;
    await queries.resetQueries();
  };
}
