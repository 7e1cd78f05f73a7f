import { ApiProblem, noReply, unreadableReply } from './problem.ts';
import type { Operations } from './schema.ts';

export type OperationKey = keyof Operations;
export type ReplyOf<K extends OperationKey> = Operations[K]['response'];
export type BodyOf<K extends OperationKey> = Operations[K]['body'];
export type QueryOf<K extends OperationKey> = Operations[K]['query'];

type Part<Name extends string, T> = [T] extends [undefined]
  ? { [N in Name]?: undefined }
  : Partial<T> extends T
    ? { [N in Name]?: T }
    : { [N in Name]: T };

/** The parts of a request, required where the operation requires them. */
export type RequestOf<K extends OperationKey> = Part<'params', Operations[K]['params']> &
  Part<'query', Operations[K]['query']> &
  Part<'body', Operations[K]['body']> & { ifMatch?: string; idempotencyKey?: string };

interface AnyRequest {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  ifMatch?: string;
  /** Keeps a POST that is repeated from being made twice. */
  idempotencyKey?: string;
}

/** CSRF token of the session, sent with every write; set only by `session.tsx`. */
export const credentials: { csrfToken?: string } = {};

/** A response: its document, and its `ETag` for `If-Match`. */
export interface Reply<Body> {
  body: Body;
  etag: string | undefined;
}

export function urlOf(path: string, { params = {}, query = {} }: AnyRequest): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return given.length > 0 ? `${filled}?${search}` : filled;
}

function headersOf(
  method: string,
  { body, ifMatch, idempotencyKey }: AnyRequest,
  tenantId?: string,
): Record<string, string> {
  return {
    Accept: 'application/json, application/problem+json',
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(method !== 'GET' && credentials.csrfToken ? { 'X-CSRF-Token': credentials.csrfToken } : {}),
    ...(tenantId ? { 'Tenant-Id': tenantId } : {}),
    ...(ifMatch ? { 'If-Match': ifMatch } : {}),
    ...(idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {}),
  };
}

/** Parses a JSON object; returns undefined for anything else, such as a proxy's HTML page. */
function parse(response: Response, text: string): Record<string, unknown> | undefined {
  if (!/json/.test(response.headers.get('Content-Type') ?? '')) return undefined;
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null ? (document as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // truncated
  }
}

/**
 * Sends a request to the API: `api('GET /v1/questions/{id}', { params: { id } }, tenantId)`.
 *
 * Throws `ApiProblem` for every status other than 2xx and for a response that is not JSON, and with status 0 if there is
 * no complete response within 30 s. A redirect is not followed: it is that of a proxy with a sign-in of its own, whose
 * page another origin may not read.
 */
export async function api<K extends OperationKey>(
  operation: K,
  request: RequestOf<K>,
  tenantId?: string,
): Promise<Reply<ReplyOf<K>>> {
  const [method = '', path = ''] = operation.split(' ');
  const sent: AnyRequest = request as AnyRequest;
  const response = await fetch(urlOf(path, sent), {
    method,
    headers: headersOf(method, sent, tenantId),
    credentials: 'same-origin',
    redirect: 'manual',
    signal: AbortSignal.timeout(30_000),
    ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
  }).catch(cause => Promise.reject(noReply(cause)));
  const text = await response.text().catch(cause => Promise.reject(noReply(cause)));
  const document = parse(response, text);
  const { ok, status } = response;
  if (!document && (ok || status === 0 || status === 401) && status !== 204) throw unreadableReply(status);
  if (!ok) throw new ApiProblem(status, document ?? {}, response.headers.get('Retry-After'));
  return { body: document as ReplyOf<K>, etag: response.headers.get('ETag') ?? undefined };
}
