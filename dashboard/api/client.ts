import { ApiProblem, noReply } from './problem.ts';
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
  Part<'body', Operations[K]['body']> & { ifMatch?: string };

interface AnyRequest {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  ifMatch?: string;
}

/** Credentials sent with every request; set only by `session.tsx`. */
export const credentials: { csrfToken?: string; tenantId?: string } = {};

const etags = new WeakMap<object, string>();

/** Returns the `ETag` a resource was received with, for use in `If-Match`. */
export const etagOf = (resource: object): string | undefined => etags.get(resource);

export function urlOf(path: string, { params = {}, query = {} }: AnyRequest): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return given.length > 0 ? `${filled}?${search}` : filled;
}

function headersOf(method: string, { body, ifMatch }: AnyRequest): Record<string, string> {
  return {
    Accept: 'application/json, application/problem+json',
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(method !== 'GET' && credentials.csrfToken ? { 'X-CSRF-Token': credentials.csrfToken } : {}),
    ...(credentials.tenantId ? { 'Tenant-Id': credentials.tenantId } : {}),
    ...(ifMatch ? { 'If-Match': ifMatch } : {}),
  };
}

/**
 * Sends a request to the API: `api('GET /v1/questions/{id}', { params: { id } })`.
 *
 * Throws `ApiProblem` for every status other than 2xx, and with status 0 if there is no response within 30 s.
 */
export async function api<K extends OperationKey>(operation: K, request: RequestOf<K>): Promise<ReplyOf<K>> {
  const [method = '', path = ''] = operation.split(' ');
  const sent: AnyRequest = request as AnyRequest;
  const response = await fetch(urlOf(path, sent), {
    method,
    headers: headersOf(method, sent),
    credentials: 'same-origin',
    signal: AbortSignal.timeout(30_000),
    ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
  }).catch(cause => Promise.reject(noReply(cause)));
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('Content-Type') ?? '') && text !== '';
  const document = isJson ? JSON.parse(text) : undefined;
  if (!response.ok) throw new ApiProblem(response.status, document ?? {}, response.headers.get('Retry-After'));
  const etag = response.headers.get('ETag');
  if (etag && document) etags.set(document, etag);
  return document;
}
