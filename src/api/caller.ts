import type { Role } from '../domain/team/roles.ts';
import type { Scope } from '../domain/team/scopes.ts';

/**
 * The kinds of credentials (contract section 1).
 *
 * `person` and `session` use the same cookie. A `session` is a member of the tenant in `Tenant-Id`; a `person` is the
 * logged-in user, independent of tenants.
 */
export const CREDENTIAL_KINDS = [
  'api-key',
  'access-token',
  'public-access-token',
  'test-token',
  'session',
  'person',
] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/** The API key behind a credential. */
interface KeyUse {
  keyId: string;
  /** When the key's previous secret expires, as known when the credential was checked; undefined without rotation. */
  keyOverlapUntil?: string | undefined;
}

/** A tenant's own server. */
export interface KeyCaller extends KeyUse {
  kind: 'api-key';
  tenantId: string;
  name: string;
  scopes: ReadonlySet<Scope>;
}

/** One of a tenant's users: verified by the tenant's backend, or only claimed with a public token. */
export interface UserCaller<Kind = 'access-token' | 'public-access-token'> extends KeyUse {
  kind: Kind;
  tenantId: string;
  identity: string;
  verified: boolean;
  /** A unique name for the user across tenants (`userName`). */
  user: string;
  expiresAt: Date;
}

/** A member who tries out one question, as a user of its own. */
export interface TestCaller {
  kind: 'test-token';
  tenantId: string;
  identity: string;
  verified: true;
  /** The name of the user, as of any other (`userName`). */
  user: string;
  questionId: string;
  memberId: string;
}

/**
 * A unique name for a tenant's user, verified or only claimed, used as the key of caches.
 *
 * Created once per token: every request uses it for several lookups, and a new string would be hashed each time.
 */
export const userName = ({ tenantId, verified, identity }: Pick<UserCaller, 'tenantId' | 'verified' | 'identity'>) =>
  `${tenantId} ${verified} ${identity}`;

/** A logged-in person. */
export interface PersonCaller<Kind = 'person'> {
  kind: Kind;
  accountId: string;
  sessionId: string;
  email: string;
  name: string;
  createdAt: Date;
  expiresAt: Date;
}

/** A logged-in person as a member of one tenant. */
export interface SessionCaller extends PersonCaller<'session'> {
  tenantId: string;
  memberId: string;
  role: Role;
}

/** Callers with the rights of the tenant itself: its servers and its members. */
export type TeamCaller = KeyCaller | SessionCaller;
export type Caller = TeamCaller | UserCaller | TestCaller | PersonCaller;
/** Callers that can take part in conversations. */
export type Participant = TeamCaller | UserCaller<'access-token'>;

/** The callers that result from some kinds of credentials. */
export type CallerOf<Kind extends CredentialKind> = Kind extends 'api-key'
  ? KeyCaller
  : Kind extends 'session'
    ? SessionCaller
    : Kind extends 'person'
      ? PersonCaller
      : Kind extends 'access-token' | 'public-access-token'
        ? UserCaller<Kind>
        : Kind extends 'test-token'
          ? TestCaller
          : never;

/** Whether a caller belongs to the team rather than being one of its users. */
export const isTeam = (caller: Caller): caller is TeamCaller => caller.kind === 'api-key' || caller.kind === 'session';

/** Identifies whose lists a caller sees: a tenant's team, one of its users, or a person. */
export function viewOf(caller: Caller): string[] {
  if (caller.kind === 'person') return [caller.accountId];
  if (isTeam(caller)) return [caller.tenantId, 'team'];
  return [caller.tenantId, `${caller.verified ? 'verified' : 'claimed'}:${caller.identity}`];
}
