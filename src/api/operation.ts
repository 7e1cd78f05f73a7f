import type { z } from 'zod';
import type { Page } from '../domain/pages.ts';
import type { ProblemCode } from '../domain/problem-catalog.ts';
import type { Action } from '../domain/team/audit-log.ts';
import type { Right } from '../domain/team/roles.ts';
import type { Caller, CallerOf, CredentialKind } from './caller.ts';
import type { ApiDeps } from './deps.ts';

/**
 * The limits for issuing credentials: tokens, logins and links by address (`-ip`), tokens by user, logins and reset links by
 * account, invitations by tenant and by recipient.
 */
export type IssueLimit =
  | 'token-ip'
  | 'token-user'
  | 'login'
  | 'login-account'
  | 'login-ip'
  | 'oidc-login-ip'
  | 'oidc-callback-ip'
  | 'setup-ip'
  | 'reset'
  | 'reset-ip'
  | 'invitation'
  | 'invitation-ip'
  | 'invitation-tenant';

/** Response headers that only some operations send, set by their handlers. */
export type SentHeader = 'Location' | 'Set-Cookie' | 'Content-Language' | 'Vary';

/** A request as its handler receives it: the caller, and all validated input. */
export interface OperationRequest<Credential extends CredentialKind, Params, Query, Body> {
  caller: CallerOf<Credential>;
  params: Params;
  query: Query;
  body: Body;
  /** Size of the body in bytes. */
  bodyBytes: number;
  /** Returns a request header, by its name in lower case. */
  header(name: string): string | undefined;
  /** Returns one of Parley's cookies, by its name without prefix. */
  cookie(name: string): string | undefined;
  /** Whether the client accepts a body compressed with gzip. */
  acceptsGzip(): boolean;
  /** Returns the client's address, considering `TRUSTED_PROXY_HOPS` proxies; null if it is unknown. */
  clientIp(): string | null;
  requestId: string;
  receivedAt: Date;
  /** The sort key where this page of the list begins, from `cursor`; null for the first page. */
  after: string[] | null;
  /** Returns a page of this list with its next cursor and `Link`. */
  page<Row, Item>(page: Page<Row>, present: (row: Row) => Item): OperationReply;
  /**
   * Counts an attempt to get a credential. Throws 429 beyond the limit, or 503 when it cannot be counted. Returns the function
   * that subtracts the attempt again.
   */
  limitIssue(scope: IssueLimit, key: string | null): Promise<() => Promise<void>>;
  /**
   * Throws 412 when `If-Match` does not contain the tag of this representation, or `If-None-Match` does. Pass null for a
   * resource that does not exist yet. Only for operations with `ifMatch`.
   */
  requireMatch(representation: unknown): void;
  /** Like `requireMatch`, by the first part of a tag of `partedTagOf`, or with `content` by the first two. */
  requireTag(etag: string, part: 'settings' | 'content'): void;
}

/** A request before its query and body are read. */
export type UnreadRequest<Params> = Pick<
  OperationRequest<CredentialKind, Params, never, never>,
  'params' | 'header' | 'cookie' | 'clientIp' | 'requestId' | 'limitIssue'
>;

/** A reply with more than a body. */
export interface OperationReply {
  status?: number;
  headers?: Record<string, string | string[]>;
  /** An object, or JSON as text or bytes. With 204 it is not sent, and only describes the target to the audit log. */
  body?: unknown;
  /** The id of the target in the audit log, unless the body or the path has it. */
  target?: string;
  /** Whether the data stayed the same. The audit log then gets no entry. */
  unchanged?: boolean;
  /**
   * The part of the operation outside PostgreSQL, run after the commit and before the reply is sent, with a storage
   * outside of the transaction. If it fails, the request fails. It must be safe to repeat: if the process dies here, the
   * request runs again under its idempotency key.
   */
  afterwards?: (deps: Pick<ApiDeps, 'storage'>) => Promise<unknown>;
  /** Starts work that the reply does not wait for, such as a mail, after the commit. Must not throw. */
  announce?: () => void;
}

const REPLY = Symbol('reply');

/** Creates a reply with its own status or headers. */
export const reply = (parts: OperationReply): OperationReply => Object.assign(parts, { [REPLY]: true });

export const isReply = (value: unknown): value is OperationReply =>
  typeof value === 'object' && value !== null && REPLY in value;

/** An endpoint as a value, used by the router, the authorization and the OpenAPI document. */
export interface OperationDefinition<
  Credential extends CredentialKind,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> {
  /** The name of the operation in the OpenAPI document, verb first. */
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** The path, with parameters in braces. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** The accepted credentials; empty for public operations. */
  credentials: Credential[];
  /** Whether cached keys are accepted while revocations may go unnoticed. The worker checks them again. */
  lastKnownKeys?: boolean;
  /** The right that the team needs: from a key's scopes, or a member's role (`domain/team/roles.ts`). */
  right?: Right;
  /** The action for the audit log. The entry is written in the transaction of the operation. */
  audit?: Action;
  /** Whether the reply shows a secret. The copy stored for repetitions is then encrypted. */
  showsSecret?: boolean;
  /** Whether `Idempotency-Key` is ignored, because the ids in the body already make the operation idempotent. */
  ignoresIdempotencyKey?: boolean;
  /** Whether it starts a session. Pages of other sites may then not send it, although it needs no credentials. */
  sameOrigin?: boolean;
  /** Whether it bypasses load shedding. */
  isProbe?: boolean;
  /** Whether it verifies HTTP Basic authentication itself, in `precheck`. A 401 then challenges with `Basic`. */
  basicAuth?: boolean;
  /** Whether pages of other origins may call it (CORS). By default, whether it accepts users' tokens. */
  crossOrigin?: boolean;
  params?: Params;
  query?: Query;
  body?: Body;
  /** Whether a request may have no body, which is then validated as an empty object. */
  isBodyOptional?: boolean;
  /** The status on success. */
  status: 200 | 201 | 202 | 204 | 302;
  /** The schema of the body on success. */
  response?: z.ZodType;
  /** Other statuses with a body like that of success, and when they are returned. */
  otherStatuses?: Partial<Record<200 | 201 | 503, string>>;
  /**
   * Whether successful replies have an `ETag`. A read then honours `If-None-Match` with 304. A write has it if the
   * resource it returns can be read with one, so that the next write can send it in `If-Match`. The handler sets the tag
   * of a reply that differs from a read, such as a new key with its secrets.
   */
  etag?: boolean;
  /** Whether `If-Match` is honoured: the handler calls `requireMatch`. */
  ifMatch?: boolean;
  /** The headers of a successful reply that the handler sets itself. */
  sends?: SentHeader[];
  /**
   * Whether the cost depends on the amount of stored data, so that it is bounded (`heavy-reads.ts`). By default, whether
   * it is a list: a GET that returns pages.
   */
  heavy?: boolean;
  /** Additional problems, besides those that its credentials, query and body imply. */
  problems?: ProblemCode[];
  /** Returns the cost of a body in units of a user's rate limit; 1 by default. An API key always pays 1. */
  items?(body: z.output<Body>): number;
  /** Runs checks that `credentials` cannot express, before query and body are read. A promise is awaited. */
  precheck?(request: UnreadRequest<z.output<Params>>, deps: ApiDeps): unknown;
  /**
   * Work in transactions of its own, before that of an audited operation, for what would be too much for one. It is not
   * undone if the operation fails, so it must be safe to repeat.
   */
  prepare?(
    request: OperationRequest<Credential, z.output<Params>, z.output<Query>, z.output<Body>>,
    deps: ApiDeps,
  ): Promise<void>;
  handle(
    request: OperationRequest<Credential, z.output<Params>, z.output<Query>, z.output<Body>>,
    deps: ApiDeps,
  ): unknown;
}

/** An operation with its types erased and its defaults resolved, for the registry. */
export type Operation = Omit<
  OperationDefinition<CredentialKind, z.ZodType, z.ZodType, z.ZodType>,
  'precheck' | 'prepare' | 'handle' | 'items'
> & {
  crossOrigin: boolean;
  heavy: boolean;
  items?(body: never): number;
  precheck?(request: UnreadRequest<never>, deps: ApiDeps): unknown;
  prepare?(request: OperationRequest<CredentialKind, never, never, never>, deps: ApiDeps): Promise<void>;
  handle(request: OperationRequest<CredentialKind, never, never, never>, deps: ApiDeps): unknown;
};

const isUserToken = (kind: CredentialKind): boolean =>
  kind === 'access-token' || kind === 'public-access-token' || kind === 'test-token';

const hasField = (response: z.ZodType | undefined, name: string): boolean =>
  name in ((response as z.ZodObject | undefined)?.shape ?? {});

/** Whether a reply is a page of a list, with `Link` if another one follows. */
export const returnsPages = (response: z.ZodType | undefined): boolean => hasField(response, 'next_cursor');

/** Whether a list can be read incrementally: replies to `updated_since` carry `Updated-Until`. */
export const readsIncrementally = ({ query }: Pick<Operation, 'query'>): boolean =>
  'updated_since' in ((query as z.ZodObject | undefined)?.shape ?? {});

/** Whether `Idempotency-Key` is honoured: POST by the team. */
export const takesIdempotencyKey = ({
  method,
  credentials,
  ignoresIdempotencyKey,
}: Pick<Operation, 'method' | 'credentials' | 'ignoresIdempotencyKey'>): boolean =>
  method === 'post' && !ignoresIdempotencyKey && credentials.some(kind => kind === 'api-key' || kind === 'session');

/** Defines an endpoint. Its handler is typed by its schemas. */
export const operation = <
  Credential extends CredentialKind,
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
>(
  definition: OperationDefinition<Credential, Params, Query, Body>,
): Operation =>
  ({
    crossOrigin: definition.credentials.some(isUserToken),
    heavy: definition.method === 'get' && hasField(definition.response, 'has_more'),
    ...definition,
  }) as unknown as Operation;

export type { Caller };
