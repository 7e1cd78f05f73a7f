import type { Scope } from '../../domain/scopes.ts';

/** The ways to prove who one is (contract section 1). */
export const CREDENTIAL_KINDS = ['api-key', 'access-token', 'public-access-token'] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/** A tenant's own server. */
export interface KeyCaller {
  kind: 'api-key';
  tenantId: string;
  keyId: string;
  scopes: ReadonlySet<Scope>;
}

/** One of a tenant's users: proven by the tenant's backend, or only claimed with a public token. */
export interface UserCaller<Kind = 'access-token' | 'public-access-token'> {
  kind: Kind;
  tenantId: string;
  keyId: string;
  identity: string;
  verified: boolean;
  expiresAt: Date;
}

export type Caller = KeyCaller | UserCaller;

/** The callers that some kinds of credentials make. */
export type CallerOf<Kind extends CredentialKind> = Kind extends 'api-key' ? KeyCaller : UserCaller<Kind>;

/** Whose view of the tenant's lists a caller has: the team's with any of its keys, or one user's. */
export const viewOf = (caller: Caller): string =>
  caller.kind === 'api-key' ? 'team' : `${caller.verified ? 'verified' : 'claimed'}:${caller.identity}`;
