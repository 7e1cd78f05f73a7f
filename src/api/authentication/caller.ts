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

/** What distinguishes callers of one tenant: for cursors, limits and replays. */
export const callerId = (caller: Caller): string =>
  caller.kind === 'api-key' ? caller.keyId : `${caller.verified ? 'verified' : 'claimed'}:${caller.identity}`;
