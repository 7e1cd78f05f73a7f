import type { Role } from '../domain/roles.ts';
import type { Scope } from '../domain/scopes.ts';

/**
 * The ways to prove who one is (contract section 1).
 *
 * `person` and `session` are one cookie: as `session` it speaks for a member of the tenant that `Tenant-Id` names, as
 * `person` for whoever logged in, whatever tenants they belong to.
 */
export const CREDENTIAL_KINDS = ['api-key', 'access-token', 'public-access-token', 'session', 'person'] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/** The API key behind a credential. */
interface KeyUse {
  keyId: string;
  /** Until when the key's former secret is valid, as known when the credential was checked; never rotated without. */
  keyOverlapUntil?: string | undefined;
}

/** A tenant's own server. */
export interface KeyCaller extends KeyUse {
  kind: 'api-key';
  tenantId: string;
  name: string;
  scopes: ReadonlySet<Scope>;
}

/** One of a tenant's users: proven by the tenant's backend, or only claimed with a public token. */
export interface UserCaller<Kind = 'access-token' | 'public-access-token'> extends KeyUse {
  kind: Kind;
  tenantId: string;
  identity: string;
  verified: boolean;
  /** One name for the user, of all tenants' (`userName`). */
  user: string;
  expiresAt: Date;
}

/**
 * One name for a tenant's user, proven or only claimed, under which a process remembers what is theirs.
 *
 * Made once for each token: every request looks several things up by it, and a new text would be hashed each time.
 */
export const userName = ({ tenantId, verified, identity }: Pick<UserCaller, 'tenantId' | 'verified' | 'identity'>) =>
  `${tenantId} ${verified} ${identity}`;

/** Somebody who is logged in. */
export interface PersonCaller<Kind = 'person'> {
  kind: Kind;
  accountId: string;
  sessionId: string;
  email: string;
  name: string;
  createdAt: Date;
  expiresAt: Date;
}

/** Somebody who is logged in, as a member of one tenant. */
export interface SessionCaller extends PersonCaller<'session'> {
  tenantId: string;
  memberId: string;
  role: Role;
}

/** Whoever asks for a tenant's data with that tenant's own rights: its servers and its members. */
export type TeamCaller = KeyCaller | SessionCaller;
export type Caller = TeamCaller | UserCaller | PersonCaller;
/** Whoever takes part in conversations. */
export type Participant = TeamCaller | UserCaller<'access-token'>;

/** The callers that some kinds of credentials make. */
export type CallerOf<Kind extends CredentialKind> = Kind extends 'api-key'
  ? KeyCaller
  : Kind extends 'session'
    ? SessionCaller
    : Kind extends 'person'
      ? PersonCaller
      : Kind extends 'access-token' | 'public-access-token'
        ? UserCaller<Kind>
        : never;

/** Whether a caller is of the team, not one of its users. */
export const isTeam = (caller: Caller): caller is TeamCaller => caller.kind === 'api-key' || caller.kind === 'session';

/** Whose view of its lists a caller has: a tenant's team, one of its users, or a person. */
export function viewOf(caller: Caller): string[] {
  if (caller.kind === 'person') return [caller.accountId];
  if (isTeam(caller)) return [caller.tenantId, 'team'];
  return [caller.tenantId, `${caller.verified ? 'verified' : 'claimed'}:${caller.identity}`];
}
