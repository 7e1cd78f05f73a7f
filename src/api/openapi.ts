import type { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { NewAnswer } from '../domain/answers.ts';
import { FIELD_CODES } from '../domain/field-errors.ts';
import { PROBLEMS, type ProblemCode } from '../domain/problem.ts';
import { RIGHTS } from '../domain/roles.ts';
import { BUILD } from '../platform/build-info.ts';
import { STATUS_OF } from './http/problem.ts';
import type { Operation } from './operation.ts';

const ABOUT = `Feedback cards, answers and conversations of a tenant's users.

Errors are problem documents (RFC 9457) with a stable \`code\`. Lists are paginated with opaque cursors. \`429\` and \`503\` mean that the request was not accepted: send it again after \`Retry-After\` seconds.`;

/** Lists the field codes, which grow with later versions and are therefore no enumeration. */
const describeFieldCodes = (): string =>
  Object.entries(FIELD_CODES)
    .map(([code, { meaning, example }]) => `- \`${code}\`: ${meaning} Valid: ${example}`)
    .join('\n');

const PROBLEM_SCHEMA = {
  type: 'object' as const,
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'],
  properties: {
    type: { type: 'string' as const, format: 'uri' },
    title: { type: 'string' as const },
    status: { type: 'integer' as const },
    detail: { type: 'string' as const },
    instance: { type: 'string' as const },
    code: { type: 'string' as const, enum: Object.keys(PROBLEMS) },
    request_id: { type: 'string' as const },
    narrow: {
      type: 'array' as const,
      description: 'Only with `query-too-expensive`: filters that the request did not use',
      items: { type: 'string' as const },
    },
    errors: {
      type: 'array' as const,
      items: {
        type: 'object' as const,
        required: ['code', 'detail'],
        description: 'Has either `pointer` or `parameter`',
        properties: {
          pointer: {
            type: 'string' as const,
            description: 'JSON Pointer (RFC 6901) to the value in the body; the empty string is the whole body',
          },
          parameter: { type: 'string' as const, description: 'Name of the query parameter or header' },
          code: { type: 'string' as const, description: describeFieldCodes() },
          detail: { type: 'string' as const, description: 'The rule as a sentence' },
        },
      },
    },
  },
};

/** Returns every problem that an operation can reply with, by its inputs. */
function problemsOf(operation: Operation): ProblemCode[] {
  const { credentials, right, params, query, body, method, problems, status, sameOrigin, ignoresIdempotencyKey } =
    operation;
  const codes: ProblemCode[] = ['malformed-request', 'internal-error', ...(problems ?? [])];
  codes.push('unknown-parameter', 'repeated-parameter');
  if (!operation.isProbe) codes.push('service-overloaded');
  if (query) codes.push('validation-failed', 'invalid-cursor');
  if (params) codes.push('resource-not-found');
  if (body) codes.push('malformed-json', 'validation-failed', 'body-too-large', 'unsupported-media-type');
  else if (method !== 'get')
    codes.push('malformed-json', 'validation-failed', 'body-too-large', 'unsupported-media-type');
  if (sameOrigin) codes.push('cross-site-request', 'service-overloaded');
  if (credentials.includes('session')) codes.push('tenant-missing', 'not-a-member');
  if (credentials.includes('session') || credentials.includes('person')) {
    codes.push('session-ended');
    if (method !== 'get') codes.push('csrf-failed', 'cross-site-request');
  }
  if (credentials.length > 0) {
    codes.push('credentials-missing', 'credentials-invalid', 'malformed-token', 'bad-header', 'unknown-issuer');
    codes.push(
      'bad-signature',
      'subject-mismatch',
      'token-expired',
      'lifetime-too-long',
      'not-yet-valid',
      'bad-identity',
    );
    codes.push('insufficient-scope', 'rate-limit-exceeded', 'database-unavailable');
    if (!credentials.includes('public-access-token')) codes.push('public-access-restricted');
  }
  if (operation.heavy) codes.push('query-too-expensive');
  if (right && method === 'post' && status !== 204 && !ignoresIdempotencyKey)
    codes.push('idempotency-key-in-use', 'idempotency-key-reused');
  return [...new Set(codes)];
}

function problemResponses(operation: Operation): ZodOpenApiResponsesObject {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of problemsOf(operation)) {
    const status = STATUS_OF[PROBLEMS[code].kind];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [
        String(status),
        {
          description: codes.map(code => `\`${code}\``).join(', '),
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      ]),
  ) as ZodOpenApiResponsesObject;
}

function successResponses({ status, response, summary, etag, otherStatuses }: Operation): ZodOpenApiResponsesObject {
  const content = response ? { content: { 'application/json': { schema: response } } } : {};
  const success: ZodOpenApiResponsesObject = { [status as 200]: { description: summary, ...content } };
  if (etag) success['304'] = { description: 'Not modified: the entity tag in `If-None-Match` is current' };
  for (const [other, about] of Object.entries(otherStatuses ?? {}))
    success[other as '200'] = { description: about, ...content };
  return success;
}

const SECURITY = {
  'api-key': { apiKey: [] },
  'access-token': { accessToken: [] },
  'public-access-token': { publicAccessToken: [] },
  session: { session: [] },
  person: { session: [] },
};

/** Describes the right that an operation requires: a scope of a key, or a role of a member. */
function rightsOf({ right, credentials }: Operation): string {
  if (right === undefined) return '';
  const { scope, roles } = RIGHTS[right];
  const ways = [
    ...(scope !== null && credentials.includes('api-key') ? [`API keys need the scope \`${scope}\`.`] : []),
    ...(credentials.includes('session') ? [`Sessions need one of the roles ${roles.join(', ')}.`] : []),
  ];
  return ways.join(' ');
}

function describe(operation: Operation): ZodOpenApiOperationObject {
  const { id, tag, summary, description, credentials, basicAuth, params, query, body } = operation;
  const about = [description, rightsOf(operation)].filter(Boolean).join('\n\n');
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(about ? { description: about } : {}),
    security: basicAuth ? [{ publicKey: [] }] : credentials.map(kind => SECURITY[kind]),
    requestParams: {
      ...(params ? { path: params as z.ZodObject } : {}),
      ...(query ? { query: query as z.ZodObject } : {}),
    },
    ...(body ? { requestBody: { required: true, content: { 'application/json': { schema: body } } } } : {}),
    responses: { ...problemResponses(operation), ...successResponses(operation) },
  };
}

/** Returns the OpenAPI 3.1 document of this build as JSON, from the schemas that validate requests. */
export function openApiDocument(operations: Operation[], baseUrl: string): string {
  const paths: ZodOpenApiObject['paths'] = {};
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
  const document = createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version: BUILD.version,
      description: ABOUT,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: [...new Set(operations.map(operation => operation.tag))].map(name => ({ name })),
    paths,
    components: {
      schemas: { Problem: PROBLEM_SCHEMA, NewAnswer },
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `sk_…`; for servers only' },
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'Access token signed by your backend with the secret of an API key',
        },
        publicAccessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'Public access token, issued by Parley for an unverified (claimed) identity',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-parley_session',
          description:
            'Set by the login; named `parley_session` over plain HTTP. Writes require the `X-CSRF-Token` header; operations on a tenant require `Tenant-Id`',
        },
        publicKey: {
          type: 'http',
          scheme: 'basic',
          description: 'User name `api_key`; the password is the id of a public API key',
        },
      },
    },
  });
  return JSON.stringify(document, null, 2);
}
