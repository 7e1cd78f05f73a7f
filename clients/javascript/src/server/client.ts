import { checkBaseUrl } from '../base-url.ts';
import { ParleyError } from '../errors.ts';
import { newId } from '../ids.ts';
import { createList, type Page } from '../pages.ts';
import { fillPath, type Query, withQuery } from '../path.ts';
import { persist, REQUEST_POLICY, type RetryPolicy } from '../retry.ts';
import { exchange, openWire, type Reply, type Wire } from '../wire.ts';
import { OPERATIONS, type OperationName } from './operations.ts';
import type { IdentityOptions, Operations } from './types.ts';

export interface ServerClientOptions {
  /** Base URL of Parley: `https://…`, or `http://localhost` in development. */
  baseUrl: string;
  /** Bearer value of a server key, `sk_…`. Use it on servers only. */
  apiKey: string;
  retry?: Partial<RetryPolicy>;
  wire?: Partial<Wire>;
}

/** Client for a tenant's backend. */
export type ServerClient = Operations;

/** ETags by resource object. */
const etags = new WeakMap<object, string>();

/** Returns the ETag a resource was read with, for `ifMatch`. */
export const etagOf = (resource: object): string | undefined => etags.get(resource);

interface Parsed {
  path: string;
  query: Query;
  body: unknown;
  options: IdentityOptions;
  /** Whether the request carries an `Idempotency-Key`. */
  isKeyed: boolean;
}

/** Answer ids make retries safe; the server ignores `Idempotency-Key` here. */
const [, RECORD_ANSWERS] = OPERATIONS.recordAnswers;

/** Splits the arguments of an operation: path parameters, query or body, options. */
function parse(method: string, pattern: string, args: unknown[]): Parsed {
  const names = pattern.match(/\{\w+\}/g) ?? [];
  const path = fillPath(pattern, args.slice(0, names.length) as string[]);
  const rest = args.slice(names.length);
  if (method === 'GET') return { path, query: { ...(rest[0] as Query) }, body: undefined, options: {}, isKeyed: false };
  const takesBody = method !== 'DELETE' && !/\/(publish|pause|resume|close|archive|clone|replay)$/.test(pattern);
  const options = (takesBody ? rest[1] : rest[0]) as IdentityOptions | undefined;
  return {
    path,
    query: { verified: options?.verified },
    body: takesBody ? rest[0] : undefined,
    options: options ?? {},
    isKeyed: method === 'POST' && pattern !== RECORD_ANSWERS,
  };
}

/** Creates a client with an API key, for a tenant's backend. Throws `insecure-url`, `invalid-argument`. */
export function createServerClient({ baseUrl, apiKey, retry, wire: parts }: ServerClientOptions): ServerClient {
  const base = checkBaseUrl(baseUrl);
  if (!/^sk_[\x21-\x7e]+$/.test(apiKey))
    throw new ParleyError('invalid-argument', 'apiKey must be the bearer value of a server key, sk_….', {
      code: 'apiKey',
    });
  const wire = openWire(parts);
  const policy = { ...REQUEST_POLICY, ...retry };

  async function send(method: string, { path, query, body, options, isKeyed }: Parsed): Promise<unknown> {
    const headers = {
      Authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(options.ifMatch === undefined ? {} : { 'If-Match': options.ifMatch }),
      ...(isKeyed ? { 'Idempotency-Key': options.idempotencyKey ?? newId() } : {}),
    };
    const outgoing = { method, url: base + withQuery(path, query), headers, body: body && JSON.stringify(body) };
    const reply = await persist(wire, policy, async before => {
      try {
        return await exchange(wire, outgoing as never);
      } catch (error) {
        if (before > 0 && method === 'DELETE' && error instanceof ParleyError && error.kind === 'not-found') return;
        throw error; // 404 for a retried DELETE is a success: the first response was lost
      }
    });
    return remember(reply);
  }

  /** Like `send`, but rejects on invalid arguments instead of throwing. */
  const sendOne = async (method: string, pattern: string, args: unknown[]) =>
    send(method, parse(method, pattern, args));

  const call = (name: OperationName, args: unknown[]): unknown => {
    const [method, pattern, list] = OPERATIONS[name] as readonly [string, string, 'list'?];
    if (!list) return sendOne(method, pattern, args);
    const parsed = parse(method, pattern, args);
    return createList(parsed.query, query => send(method, { ...parsed, query }) as Promise<Page<unknown>>);
  };
  const names = Object.keys(OPERATIONS) as OperationName[];
  const operations = names.map(name => [name, (...args: unknown[]) => call(name, args)]);
  return Object.fromEntries(operations) as ServerClient;
}

function remember(reply: Reply | undefined): unknown {
  const etag = reply?.headers.get('ETag');
  if (etag && typeof reply?.json === 'object' && reply.json !== null) etags.set(reply.json, etag);
  return reply?.json;
}
