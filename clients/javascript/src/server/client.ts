import type { Attempt } from '../attempt.ts';
import { checkBaseUrl } from '../base-url.ts';
import { withDefaults } from '../defaults.ts';
import { ParleyError, unreadable } from '../errors.ts';
import { newId } from '../ids.ts';
import { toJson } from '../json.ts';
import { createList, type Page, readPage } from '../pages.ts';
import { fillPath, type Query, withQuery } from '../path.ts';
import type { RetryPolicy } from '../policy.ts';
import { persist, REQUEST_POLICY } from '../retry.ts';
import { exchange, openWire, type Reply, type Wire } from '../wire.ts';
import { sendInParts } from './batches.ts';
import { createFeed, type EventPage, type EventQuery } from './feed.ts';
import { OPERATIONS, type OperationName, RESOURCES } from './operations.ts';
import type { Operations } from './resources.ts';
import type { IdentityOptions, ServerAnswer } from './types.ts';

export interface ServerClientOptions {
  /** Base URL of Parley: `https://…`, or `http://localhost` in development. */
  baseUrl: string;
  /** Bearer value of a server key, `sk_…`. Use it on servers only. */
  apiKey: string;
  /** Also accept `http://` for other hosts, such as a Service inside a cluster. The key is then readable in that network. */
  allowHttp?: boolean;
  retry?: Partial<RetryPolicy>;
  /** Called after each attempt of a call, for logs and metrics. Its errors reach the caller. */
  onAttempt?: (attempt: Attempt) => void;
  wire?: Partial<Wire>;
}

/** Client for a tenant's backend. */
export type ServerClient = Operations;

/** ETags by resource object. */
const etags = new WeakMap<object, string>();

/** Returns the ETag a resource was read with, for `ifMatch`. */
export const etagOf = (resource: object): string | undefined => etags.get(resource);

interface Parsed {
  method: string;
  path: string;
  query: Query;
  body: unknown;
  options: IdentityOptions;
  /** Whether the request carries an `Idempotency-Key`. */
  isKeyed: boolean;
}

/** Answer ids make retries safe; the server ignores `Idempotency-Key` here. */
const [, RECORD_ANSWERS] = OPERATIONS.recordAnswers;

/** Paths of POSTs without a body. */
const ACTIONS = /\/(publish|pause|resume|close|archive|clone|test|quarantine\/\{id\}\/replay|\{delivery_id\}\/replay)$/;

/** Splits the arguments of an operation: path parameters, query or body, options. */
function parse(name: OperationName, args: unknown[]): Parsed {
  const [method, pattern, kind]: readonly [string, string, string?] = OPERATIONS[name];
  const names = pattern.match(/\{\w+\}/g) ?? [];
  const path = fillPath(pattern, args.slice(0, names.length) as string[]);
  const rest = args.slice(names.length);
  const takesMore = kind !== undefined || !(method === 'GET' || method === 'DELETE' || ACTIONS.test(pattern));
  const [more, options] = takesMore ? rest : [undefined, rest[0]];
  const { verified } = (options ?? {}) as IdentityOptions;
  return {
    method,
    path,
    query: kind ? { ...(more as Query) } : { verified },
    body: kind ? undefined : more,
    options: options ?? {},
    isKeyed: method === 'POST' && pattern !== RECORD_ANSWERS,
  };
}

/** Returns the value of a header. Throws `invalid-argument` for one that HTTP cannot transport as it is. */
function checkHeader(argument: string, value: string): string {
  if (/^[\x20-\x7e]+$/.test(value)) return value;
  throw new ParleyError('invalid-argument', `${argument} must be printable ASCII.`, { code: argument });
}

/** Creates a client with an API key, for a tenant's backend. Throws `insecure-url`, `invalid-argument`. */
export function createServerClient(settings: ServerClientOptions): ServerClient {
  const { apiKey, retry, onAttempt } = settings;
  const base = checkBaseUrl(settings.baseUrl, settings.allowHttp);
  if (!/^sk_[\x21-\x7e]+$/.test(apiKey))
    throw new ParleyError('invalid-argument', 'apiKey must be the bearer value of a server key, sk_….', {
      code: 'apiKey',
    });
  const wire = openWire(settings.wire, onAttempt);
  const policy = withDefaults(REQUEST_POLICY, retry);

  async function send(operation: OperationName, { method, path, query, body, options, isKeyed }: Parsed) {
    const { ifMatch, idempotencyKey = newId() } = options;
    const headers = {
      Authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(ifMatch === undefined ? {} : { 'If-Match': checkHeader('ifMatch', ifMatch) }),
      ...(isKeyed ? { 'Idempotency-Key': checkHeader('idempotencyKey', idempotencyKey) } : {}),
    };
    const text = body === undefined ? undefined : toJson(body);
    const outgoing = { method, url: base + withQuery(path, query), headers, body: text };
    const about = { method, operation };
    let isPerhapsDone = false;
    const reply = await persist({ wire, policy, about, options }, async () => {
      try {
        return await exchange(wire, outgoing, options);
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        // Deleted by an earlier attempt, whose response was lost.
        if (isPerhapsDone && method === 'DELETE' && error.kind === 'not-found') return;
        isPerhapsDone ||= error.status === 0 || error.status >= 500;
        throw error;
      }
    });
    if (reply && method === 'GET' && !reply.json) throw unreadable(reply.status, reply.headers);
    return reply;
  }

  /** Like `send`, but rejects on invalid arguments instead of throwing. */
  const sendOne = async (operation: OperationName, args: unknown[]) =>
    remember(await send(operation, parse(operation, args)));

  async function recordAnswers(args: unknown[]) {
    const parsed = parse('recordAnswers', args);
    const { answers, ...others } = Object(parsed.body) as { answers: ServerAnswer[] };
    if (!(answers?.length > 1)) return remember(await send('recordAnswers', parsed));
    const results = await sendInParts(
      answers,
      async part => (await send('recordAnswers', { ...parsed, body: { ...others, answers: part } })) as Reply,
    );
    return { results };
  }

  const call = (operation: OperationName, args: unknown[]): unknown => {
    if (operation === 'recordAnswers') return recordAnswers(args);
    const [, , kind]: readonly [string, string, string?] = OPERATIONS[operation];
    if (kind !== 'list' && kind !== 'feed') return sendOne(operation, args);
    const parsed = parse(operation, args);
    const fetchPage = async <Found extends { data: unknown[] }>(query: Query) =>
      readPage<Found>((await send(operation, { ...parsed, query })) as Reply);
    if (kind === 'feed') return createFeed(parsed.query as EventQuery, fetchPage<EventPage>);
    return createList(parsed.query, fetchPage<Page<unknown>>);
  };
  const methodsOf = (names: Record<string, OperationName>) =>
    Object.fromEntries(Object.entries(names).map(([name, id]) => [name, (...args: unknown[]) => call(id, args)]));
  return Object.fromEntries(
    Object.entries(RESOURCES).map(([name, names]) => [name, methodsOf(names)]),
  ) as unknown as ServerClient;
}

function remember(reply: Reply | undefined): unknown {
  const etag = reply?.headers.get('ETag');
  if (etag && typeof reply?.json === 'object' && reply.json !== null) etags.set(reply.json, etag);
  return reply?.json;
}
