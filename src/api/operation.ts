import type { z } from 'zod';
import type { Action } from '../domain/audit-log.ts';
import type { Page } from '../domain/pages.ts';
import type { ProblemCode } from '../domain/problem.ts';
import type { Right } from '../domain/roles.ts';
import type { Caller, CallerOf, CredentialKind } from './caller.ts';
import type { ApiDeps } from './deps.ts';

/**
 * What gives out credentials is counted by these: tokens by address and by user, logins and reset links by account,
 * invitations by tenant and by the address that they are mailed to.
 */
export type IssueLimit = 'ip' | 'token-user' | 'login' | 'login-ip' | 'reset' | 'invitation' | 'invitation-tenant';

/** What a handler knows of a request: who asks, and everything that was sent, checked and parsed. */
export interface OperationRequest<Credential extends CredentialKind, Params, Query, Body> {
  caller: CallerOf<Credential>;
  params: Params;
  query: Query;
  body: Body;
  /** How many bytes the body had. */
  bodyBytes: number;
  /** The value of a request header, in lower case names. */
  header(name: string): string | undefined;
  /** The value of one of our cookies, by its name without prefixes. */
  cookie(name: string): string | undefined;
  /** The address that the request came from, `TRUSTED_PROXY_HOPS` proxies considered. */
  clientIp(): string;
  requestId: string;
  receivedAt: Date;
  /** The sort key where the page of this list begins, from `cursor`; null for the first page. */
  after: string[] | null;
  /** A page of this list with its next cursor and `Link`. */
  page<Row, Item>(page: Page<Row>, present: (row: Row) => Item): OperationReply;
  /** Counts an attempt to get a credential and throws 429 beyond the limit, or 503 when it can't be counted. */
  limitIssue(scope: IssueLimit, key: string): Promise<void>;
  /** Throws 412 when `If-Match` names another version than this representation. */
  requireMatch(representation: unknown): void;
}

/** What is known of a request before its query and its body are read. */
export type Admission<Params> = Pick<
  OperationRequest<CredentialKind, Params, never, never>,
  'params' | 'header' | 'cookie' | 'clientIp' | 'requestId' | 'limitIssue'
>;

/** What a handler gives back when a body alone does not say it all. */
export interface OperationReply {
  status?: number;
  headers?: Record<string, string | string[]>;
  /** An object, or JSON that was made already, as text or bytes. With 204 it is not sent, and tells the audit log what it was about. */
  body?: unknown;
  /**
   * The part of the act that PostgreSQL does not hold, run after the commit and before the reply is sent. Its failure is
   * the request's. It must be safe to repeat: a process that dies in it leaves a key with which the request runs again.
   */
  afterwards?: () => Promise<unknown>;
  /** Starts what nobody waits for, such as a mail, after the commit. It must not throw. */
  announce?: () => void;
}

const REPLY = Symbol('reply');

/** A reply with a status or headers of its own. */
export const reply = (parts: OperationReply): OperationReply => Object.assign(parts, { [REPLY]: true });

export const isReply = (value: unknown): value is OperationReply =>
  typeof value === 'object' && value !== null && REPLY in value;

/** One endpoint as a value: what the router serves, the guard checks and the OpenAPI document says. */
export interface OperationDefinition<
  Credential extends CredentialKind,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> {
  /** The name of the operation in the OpenAPI document, verb first. */
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** The path with its parameters in braces. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** Who may call it; empty for everybody. */
  credentials: Credential[];
  /** Whether keys are accepted as last known while revocations may go unnoticed; the worker then checks what was sent. */
  lastKnownKeys?: boolean;
  /** What the team must be allowed to do: a key by its scopes, a member by the role (`domain/roles.ts`). */
  right?: Right;
  /** What the audit log calls it when the team, or a person, does it: with the line of it in one transaction. */
  audit?: Action;
  /** Whether the reply shows a secret, this once: what is kept of it for a repetition is encrypted. */
  showsSecret?: boolean;
  /** Whether an `Idempotency-Key` is ignored, because the ids in the body already make repeating it safe. */
  ignoresIdempotencyKey?: boolean;
  /** Whether it gives out a session: pages of other sites may not send it, though it takes no credentials. */
  sameOrigin?: boolean;
  /** Whether it is answered at once, whatever the load. */
  isProbe?: boolean;
  params?: Params;
  query?: Query;
  body?: Body;
  /** The status of success. */
  status: 200 | 201 | 202 | 204 | 302;
  /** The schema of the body of success. */
  response?: z.ZodType;
  /** Whether success carries a strong `ETag` and answers `If-None-Match` with 304. */
  etag?: boolean;
  /** Whether its cost depends on how much is stored, though it is no list: bounded as lists are (`heavy-reads.ts`). */
  heavy?: boolean;
  /** Problems of its own, beside those that its credentials, query and body bring along. */
  problems?: ProblemCode[];
  /** How many units of a user's rate limit a body costs, where it is not one a request. An API key pays one in any case. */
  items?(body: z.output<Body>): number;
  /** Checks that come before anything of the query and the body is looked at, where `credentials` can't say them; a promise is waited for. */
  admit?(request: Admission<z.output<Params>>, deps: ApiDeps): unknown;
  handle(
    request: OperationRequest<Credential, z.output<Params>, z.output<Query>, z.output<Body>>,
    deps: ApiDeps,
  ): unknown;
}

/** An operation of whatever types: what the registry holds. */
export type Operation = Omit<
  OperationDefinition<CredentialKind, z.ZodType, z.ZodType, z.ZodType>,
  'admit' | 'handle' | 'items'
> & {
  items?(body: never): number;
  admit?(request: Admission<never>, deps: ApiDeps): unknown;
  handle(request: OperationRequest<CredentialKind, never, never, never>, deps: ApiDeps): unknown;
};

/** Names an endpoint; its handler is typed by its schemas. */
export const operation = <
  Credential extends CredentialKind,
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
>(
  definition: OperationDefinition<Credential, Params, Query, Body>,
): Operation => definition as unknown as Operation;

export type { Caller };
