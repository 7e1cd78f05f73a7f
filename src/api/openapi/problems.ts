import type { ZodOpenApiExampleObject, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { FIELD_CODES } from '../../domain/field-errors.ts';
import { PROBLEMS, type ProblemCode } from '../../domain/problem-catalog.ts';
import { isOidcPath } from '../http/browser-addresses.ts';
import { STATUS_OF } from '../http/problem.ts';
import { type Operation, takesIdempotencyKey } from '../operation.ts';
import { headerRefs, problemHeadersOf } from './headers.ts';
import { PROBLEM_DETAILS } from './problem-details.ts';

const text = (description: string, more: Record<string, unknown> = {}) => ({ type: 'string', description, ...more });
const list = (description: string) => ({ type: 'array', description, items: { type: 'string' } });

/** The field codes with their meanings, as Markdown. */
const describeFieldCodes = (): string =>
  Object.entries(FIELD_CODES)
    .map(([code, { meaning, example }]) => `- \`${code}\`: ${meaning} Valid: ${example}`)
    .join('\n');

/** One of several faults of a request. */
const FIELD_ERROR = {
  type: 'object',
  description: 'Has either `pointer` or `parameter`',
  required: ['code', 'detail'],
  properties: {
    pointer: text('JSON Pointer (RFC 6901) to the value in the body; the empty string is the whole body', {
      example: '/title',
    }),
    parameter: text('Name of the query parameter or header'),
    code: text(describeFieldCodes(), { 'x-extensible-enum': Object.keys(FIELD_CODES), example: 'unknown-field' }),
    detail: text('The rule as a sentence', { example: 'Must be 1 to 300 characters.' }),
  },
};

/** A color with too little contrast. */
const CONTRAST_FAULT = {
  type: 'object',
  required: ['field', 'ratio', 'required', 'nearest'],
  properties: {
    field: text('`text` or `accent`', { 'x-extensible-enum': ['text', 'accent'] }),
    ratio: { type: 'number', description: 'Contrast with the background of the card, from 1 to 21' },
    required: { type: 'number', description: 'Minimum contrast' },
    nearest: text('Nearest color that passes', { example: '#857200' }),
  },
};

const PROBLEM = {
  type: 'object',
  description: 'An error (RFC 9457). React to `code`; `title` and `detail` are for people and may change',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'],
  properties: {
    type: text('Address of the page about this code', { format: 'uri' }),
    title: text('What the code means'),
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'HTTP status' },
    detail: text('What is wrong with this request'),
    instance: text('Path of the request'),
    code: text('Stable identifier of the problem', { 'x-extensible-enum': Object.keys(PROBLEMS) }),
    request_id: text('As in the `X-Request-Id` header'),
    errors: {
      type: 'array',
      description: 'The faults of the request, at most 50; mostly with `validation-failed`',
      items: { $ref: '#/components/schemas/FieldError' },
    },
    from: text('Only with `invalid-transition`: the current state'),
    allowed: list('Only with `invalid-transition`: the states that can follow'),
    oldest_version: text('Only with `upgrade-unfinished`: the oldest version of a running API process'),
    contrasts: {
      type: 'array',
      description: 'Only with `low-contrast` in `errors`: the colors that are hard to read, and by how much',
      items: { $ref: '#/components/schemas/ContrastFault' },
    },
    now: {
      type: 'object',
      description: 'Only with `conversation-changed`: the present values of the fields in `was` that have changed',
    },
    missed: {
      type: 'array',
      description: 'Only with `conversation-moved`: the newest messages after `after`, at most 50',
      items: { $ref: '#/components/schemas/Message' },
    },
    oldest: {
      type: 'integer',
      format: 'int64',
      description: 'Only with `events-expired`: the first event that is kept',
    },
    etag: text('Only with `precondition-failed`: the entity tag of the current version'),
    narrow: list('Only with `query-too-expensive`: filters that the request did not use'),
  },
};

/** The components of problems. */
export const problemSchemas = { Problem: PROBLEM, FieldError: FIELD_ERROR, ContrastFault: CONTRAST_FAULT } as const;

const TOKEN_PROBLEMS: ProblemCode[] = [
  'credentials-missing',
  'credentials-invalid',
  'malformed-token',
  'bad-header',
  'unknown-issuer',
  'bad-signature',
  'subject-mismatch',
  'token-expired',
  'lifetime-too-long',
  'not-yet-valid',
  'bad-identity',
];

/** Problems that end a request before it reaches its operation. */
const CONNECTION_PROBLEMS: ProblemCode[] = ['request-timed-out', 'headers-too-large', 'method-unknown'];

function problemsOfCredentials({ credentials, method }: Operation): ProblemCode[] {
  const codes: ProblemCode[] = [];
  if (credentials.includes('session')) codes.push('tenant-missing', 'not-a-member');
  if (credentials.includes('session') || credentials.includes('person')) {
    codes.push('session-ended');
    if (method !== 'get') codes.push('csrf-failed', 'cross-site-request');
  }
  if (credentials.length === 0) return codes;
  codes.push(...TOKEN_PROBLEMS, 'insufficient-scope', 'rate-limit-exceeded', 'database-unavailable');
  if (!credentials.includes('public-access-token')) codes.push('public-access-restricted');
  return codes;
}

/** Returns every problem that an operation can reply with, by its inputs. Those of a login are shown by the login page. */
export function problemsOf(operation: Operation): ProblemCode[] {
  if (isOidcPath(operation.path)) return CONNECTION_PROBLEMS;
  const { params, query, body, method, problems, sameOrigin } = operation;
  const codes: ProblemCode[] = ['malformed-request', 'internal-error', ...(problems ?? []), ...CONNECTION_PROBLEMS];
  codes.push('unknown-parameter', 'repeated-parameter');
  if (!operation.isProbe) codes.push('service-overloaded');
  if (query) codes.push('validation-failed', 'invalid-cursor');
  if (params) codes.push('resource-not-found');
  if (body || method !== 'get')
    codes.push('malformed-json', 'validation-failed', 'body-too-large', 'unsupported-media-type');
  if (sameOrigin) codes.push('cross-site-request', 'service-overloaded');
  codes.push(...problemsOfCredentials(operation));
  if (operation.heavy) codes.push('query-too-expensive');
  if (operation.ifMatch) codes.push('precondition-failed');
  if (takesIdempotencyKey(operation)) codes.push('idempotency-key-in-use', 'idempotency-key-reused');
  return [...new Set(codes)];
}

const exampleName = (code: ProblemCode): string => `problem.${code}`;

const exampleOf = (code: ProblemCode) => {
  const { detail, instance, ...more } = PROBLEM_DETAILS[code];
  const { title, kind } = PROBLEMS[code];
  return {
    type: `https://parley.example.com/problems/${code}`,
    title,
    status: STATUS_OF[kind],
    detail,
    instance,
    code,
    request_id: '4f0c1c52-3a0e-4d6e-9a51-6e3c9e4a7c11',
    ...more,
  };
};

/** An example of each problem, by the name of its component. */
export const problemExamples = (): Record<string, ZodOpenApiExampleObject> =>
  Object.fromEntries(
    (Object.keys(PROBLEMS) as ProblemCode[]).map(code => [
      exampleName(code),
      { summary: PROBLEMS[code].title, value: exampleOf(code) },
    ]),
  );

/** The names of responses that several operations share, by their status and codes. */
const SHARED: Record<string, ProblemCode[]> = {
  BadRequest: ['malformed-request', 'unknown-parameter', 'repeated-parameter'],
  BadRequestInTenant: ['malformed-request', 'unknown-parameter', 'repeated-parameter', 'tenant-missing'],
  BadQuery: ['malformed-request', 'unknown-parameter', 'repeated-parameter', 'invalid-cursor'],
  BadQueryInTenant: [
    'malformed-request',
    'unknown-parameter',
    'repeated-parameter',
    'invalid-cursor',
    'tenant-missing',
  ],
  BadBody: ['malformed-request', 'unknown-parameter', 'repeated-parameter', 'malformed-json'],
  BadBodyInTenant: ['malformed-request', 'unknown-parameter', 'repeated-parameter', 'malformed-json', 'tenant-missing'],
  BadToken: TOKEN_PROBLEMS,
  BadCredentials: ['session-ended', ...TOKEN_PROBLEMS],
  BadPasswordOrCredentials: ['login-failed', 'session-ended', ...TOKEN_PROBLEMS],
  BadLogin: ['login-failed', 'totp-required'],
  CrossSite: ['cross-site-request'],
  ForbiddenWrite: ['csrf-failed', 'cross-site-request', 'insufficient-scope', 'public-access-restricted'],
  ForbiddenWriteInTenant: [
    'not-a-member',
    'csrf-failed',
    'cross-site-request',
    'insufficient-scope',
    'public-access-restricted',
  ],
  Forbidden: ['insufficient-scope', 'public-access-restricted'],
  ForbiddenToToken: ['insufficient-scope'],
  ForbiddenInTenant: ['not-a-member', 'insufficient-scope', 'public-access-restricted'],
  LinkNotFound: ['link-not-valid', 'resource-not-found'],
  NotFound: ['resource-not-found'],
  RequestTimedOut: ['request-timed-out'],
  KeyInUse: ['idempotency-key-in-use'],
  WrongState: ['invalid-transition'],
  WrongStateOrLimit: ['invalid-transition', 'limit-reached', 'idempotency-key-in-use'],
  WrongStateOrChanged: ['invalid-transition', 'conversation-changed'],
  LimitReached: ['limit-reached', 'idempotency-key-in-use'],
  LastOwner: ['last-owner'],
  MessageNotEditable: ['message-not-editable'],
  MessageConflictOrLimit: ['message-conflict', 'limit-reached', 'idempotency-key-in-use'],
  ConversationDeleted: ['conversation-deleted'],
  EventsExpired: ['events-expired'],
  PreconditionFailed: ['precondition-failed'],
  BodyTooLarge: ['body-too-large'],
  UnsupportedMediaType: ['unsupported-media-type'],
  Invalid: ['validation-failed'],
  InvalidOrKeyReused: ['validation-failed', 'idempotency-key-reused'],
  RateLimited: ['rate-limit-exceeded'],
  HeadersTooLarge: ['headers-too-large'],
  InternalError: ['internal-error'],
  MethodUnknown: ['method-unknown'],
  Overloaded: ['service-overloaded'],
  Unavailable: ['service-overloaded', 'database-unavailable'],
  UnavailableOrTooExpensive: ['service-overloaded', 'database-unavailable', 'query-too-expensive'],
  UnavailableWithQueue: ['queue-unavailable', 'service-overloaded', 'database-unavailable'],
};

const keyOf = (codes: readonly ProblemCode[]): string => [...codes].sort().join(' ');
const NAMES = new Map(Object.entries(SHARED).map(([name, codes]) => [keyOf(codes), name]));

function responseOf(status: number, codes: readonly ProblemCode[]): ZodOpenApiResponseObject {
  const examples = codes.map(code => [code, { $ref: `#/components/examples/${exampleName(code)}` }]);
  return {
    description: codes.map(code => `\`${code}\``).join(', '),
    headers: headerRefs(problemHeadersOf(status)),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(examples),
      },
    },
  } as ZodOpenApiResponseObject;
}

const statusOf = ([code]: readonly ProblemCode[]): number => STATUS_OF[PROBLEMS[code as ProblemCode].kind];

/** The responses that several operations share, by name. */
export const problemResponses = (): Record<string, ZodOpenApiResponseObject> =>
  Object.fromEntries(Object.entries(SHARED).map(([name, codes]) => [name, responseOf(statusOf(codes), codes)]));

/** Returns the problems of an operation by status, shared ones as references. */
export function problemResponsesOf(operation: Operation): ZodOpenApiResponsesObject {
  const byStatus = Map.groupBy(problemsOf(operation), code => STATUS_OF[PROBLEMS[code].kind]);
  const responses = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => {
      const name = NAMES.get(keyOf(codes));
      return [String(status), name ? { $ref: `#/components/responses/${name}` } : responseOf(status, codes)];
    });
  return Object.fromEntries(responses) as ZodOpenApiResponsesObject;
}
