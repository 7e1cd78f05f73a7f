import {
  type Operation,
  readsIncrementally,
  returnsPages,
  type SentHeader,
  takesIdempotencyKey,
} from '../operation.ts';
import { KEY_FORM } from '../pipeline/idempotency.ts';

type Header = {
  description: string;
  schema: Record<string, unknown>;
  /** Whether it is in every request or response that declares it. */
  required?: boolean;
};

const text = (example: string): Record<string, unknown> => ({ type: 'string', example });

/** The request headers of operations, apart from those that every HTTP client sets itself. */
export const REQUEST_HEADERS = {
  'If-Match': {
    description: '`ETag` of the version to change. If the object has changed since, the reply is 412',
    schema: text('"EZ9MrUzPRmNPfCQKRfUa1YUnvG0"'),
  },
  'If-None-Match': {
    description: '`ETag` of the version that you have. If it is still current, the reply is 304 without a body',
    schema: text('"EZ9MrUzPRmNPfCQKRfUa1YUnvG0"'),
  },
  'Idempotency-Key': {
    description:
      'Name of this request, chosen by the client, for 24 hours. A repetition with the same key and body returns the first reply instead of acting again. Only with an API key or a session',
    schema: { ...text('8e03978e-40d5-43e8-bc93-6894a57f9324'), pattern: KEY_FORM.source, maxLength: 257 },
  },
  'Tenant-Id': {
    description: 'The tenant to act in, one of `memberships` of `GET /v1/me`. Required with a session',
    schema: text('tenant_01jdpnx3r0e008000000000001'),
  },
  'X-CSRF-Token': {
    description: '`csrf_token` of the login or of `GET /v1/me`. Required with a session',
    schema: text('OTgxYmU2NGYtYjc5MS00NGM2LWE4ZTQtZGYxYjE0ZjQ3NjFj'),
  },
  'X-Request-Id': {
    description:
      'An id for this request, which the reply and the log repeat: 1 to 128 letters, digits, `.`, `_` and `-`. Without one, or if it has another form, the server chooses one',
    schema: text('checkout-7d1f'),
  },
} as const satisfies Record<string, Header>;
export type RequestHeader = keyof typeof REQUEST_HEADERS;

/** The response headers of operations, apart from those for browsers, caches and proxies. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description: 'The id of the request, for support',
    schema: text('4f0c1c52-3a0e-4d6e-9a51-6e3c9e4a7c11'),
    required: true,
  },
  ETag: {
    description: 'The version of the object, for `If-Match` and `If-None-Match`',
    schema: text('"EZ9MrUzPRmNPfCQKRfUa1YUnvG0"'),
    required: true,
  },
  Location: {
    description: 'The address of the object, or of the page to open',
    schema: text('/v1/questions/question_01jdpnx3r0e008000000000001'),
    required: true,
  },
  Link: {
    description: 'The address of the next page, with `rel="next"` (RFC 8288); missing on the last page',
    schema: text('<https://parley.example.com/v1/questions?cursor=eyJrIjpb>; rel="next"'),
  },
  'Updated-Until': {
    description: 'With `updated_since`: once `has_more` is false, all changes before this time have been returned',
    schema: { type: 'string', format: 'date-time', example: '2026-11-21T07:00:00.000Z' },
  },
  'Retry-After': {
    description: 'With status 409, 429 or 503: seconds after which to send the request again',
    schema: { type: 'integer', minimum: 0, maximum: 2_147_483_647, example: 5 },
  },
  'RateLimit-Policy': {
    description: 'The rate limit of the caller: `q` requests in `w` seconds',
    schema: text('"api-key";q=1000;w=60'),
  },
  RateLimit: {
    description: 'The remaining requests (`r`) and the seconds until the limit is full again (`t`)',
    schema: text('"api-key";r=994;t=21'),
  },
  'Idempotency-Replayed': {
    description: '`true` in the repetition of a reply under the same `Idempotency-Key`',
    schema: text('true'),
  },
  'Set-Cookie': {
    description: 'Starts or ends the session, or marks the browser as known',
    schema: text('__Host-parley_session=Zt4Vx9Qm2Lr7; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure'),
  },
  'WWW-Authenticate': {
    description: 'With status 401: the scheme of credentials to send, and the fault of an invalid token',
    schema: text('Bearer error="invalid_token", error_description="The access token has expired"'),
  },
  'Content-Language': { description: 'The language of the cards (BCP 47)', schema: text('en'), required: true },
  Vary: {
    description: 'The request headers on which the reply depends',
    schema: text('Authorization, Accept-Language'),
    required: true,
  },
} as const satisfies Record<string, Header>;
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** `If-Match` as `IfMatch`: the name of a component. */
const componentName = (header: string): string => header.replaceAll('-', '');

/** Returns the request headers that an operation reads, by the same values by which they are checked. */
export function requestHeadersOf(operation: Operation): RequestHeader[] {
  const { credentials, method, etag, ifMatch } = operation;
  const isPerson = credentials.includes('session') || credentials.includes('person');
  return [
    ...(ifMatch ? (['If-Match'] as const) : []),
    ...((etag && method === 'get') || ifMatch ? (['If-None-Match'] as const) : []),
    ...(takesIdempotencyKey(operation) ? (['Idempotency-Key'] as const) : []),
    ...(credentials.includes('session') ? (['Tenant-Id'] as const) : []),
    ...(isPerson && method !== 'get' ? (['X-CSRF-Token'] as const) : []),
    'X-Request-Id',
  ];
}

const isCounted = ({ credentials, problems = [] }: Operation): boolean =>
  credentials.length > 0 || problems.includes('rate-limit-exceeded');

/** Returns the headers of successful replies. */
export function responseHeadersOf(operation: Operation): ResponseHeader[] {
  const sent: SentHeader[] = operation.sends ?? [];
  return [
    'X-Request-Id',
    ...(operation.etag ? (['ETag'] as const) : []),
    ...(returnsPages(operation.response) ? (['Link'] as const) : []),
    ...(readsIncrementally(operation) ? (['Updated-Until'] as const) : []),
    ...(isCounted(operation) ? (['RateLimit-Policy', 'RateLimit'] as const) : []),
    ...(takesIdempotencyKey(operation) ? (['Idempotency-Replayed'] as const) : []),
    ...sent,
  ];
}

/** The headers of problems, some of which only a few statuses have. */
export const PROBLEM_HEADERS: readonly ResponseHeader[] = [
  'X-Request-Id',
  'RateLimit-Policy',
  'RateLimit',
  'Retry-After',
  'WWW-Authenticate',
];

/** Returns references to the components of request headers. */
export const parameterRefs = (names: readonly RequestHeader[]) =>
  names.map(name => ({ $ref: `#/components/parameters/${componentName(name)}` }));

/** Returns references to the components of response headers, by name. */
export const headerRefs = (names: readonly ResponseHeader[]) =>
  Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${componentName(name)}` }]));

const byComponent = <T>(
  headers: Record<string, Header>,
  build: (name: string, header: Header) => T,
): Record<string, T> =>
  Object.fromEntries(Object.entries(headers).map(([name, header]) => [componentName(name), build(name, header)]));

/** The components of request and response headers. */
export const headerComponents = () => ({
  parameters: byComponent(REQUEST_HEADERS, (name, { description, schema }) => ({
    name,
    in: 'header' as const,
    description,
    schema,
  })),
  headers: byComponent(RESPONSE_HEADERS, (_, header) => header),
});
