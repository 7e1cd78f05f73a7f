import type { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiExampleObject,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { NewAnswer } from '../domain/answers.ts';
import { IdentityItem } from '../domain/identities.ts';
import { RIGHTS } from '../domain/roles.ts';
import { BUILD } from '../platform/build-info.ts';
import { examples } from './openapi/examples.ts';
import { headerComponents, headerRefs, parameterRefs, requestHeadersOf, responseHeadersOf } from './openapi/headers.ts';
import { describeProblems, FAILURES, problemExamples, problemResponses, problemSchemas } from './openapi/problems.ts';
import { describeParameters, openReplies, removeUnused, simplifySchemas } from './openapi/shapes.ts';
import { ABOUT, SECURITY_SCHEMES } from './openapi/texts.ts';
import type { Operation } from './operation.ts';
import { TAGS } from './routes/index.ts';

/** Returns the examples of the components in the document; those of pages follow from their items. */
function bodyExamples(operations: Operation[]): Record<string, ZodOpenApiExampleObject> {
  const known = examples();
  for (const { response } of operations) {
    const id = response?.meta()?.id;
    const item = id?.endsWith('Page') ? known[id.slice(0, -'Page'.length)] : undefined;
    if (id && item) known[id] = { data: [item], has_more: false, next_cursor: null };
  }
  return Object.fromEntries(Object.entries(known).map(([name, value]) => [name, { value }]));
}

/** Returns the content of a body, with references to its examples. */
function contentOf(schema: z.ZodType, known: Record<string, ZodOpenApiExampleObject>) {
  const id = schema.meta()?.id;
  const names = Object.keys(known).filter(name => name === id || name.startsWith(`${id}.`));
  const refs = names.map(name => [name.split('.')[1] ?? 'default', { $ref: `#/components/examples/${name}` }]);
  return {
    'application/json': { schema, ...(refs.length > 0 ? { examples: Object.fromEntries(refs) } : {}) },
  };
}

function successResponses(
  operation: Operation,
  known: Record<string, ZodOpenApiExampleObject>,
): ZodOpenApiResponsesObject {
  const { method, status, response, summary, etag, otherStatuses } = operation;
  const sent = responseHeadersOf(operation);
  const parts = { headers: headerRefs(sent), ...(response ? { content: contentOf(response, known) } : {}) };
  const success: ZodOpenApiResponsesObject = { [status as 200]: { description: summary, ...parts } };
  if (etag && method === 'get')
    success['304'] = {
      description: 'Not modified: the entity tag in `If-None-Match` is current',
      headers: headerRefs(sent.filter(name => name !== 'Link' && name !== 'Set-Cookie')),
    };
  for (const [other, about] of Object.entries(otherStatuses ?? {}))
    success[other as '200'] = { description: about, ...parts };
  return success;
}

const ACCESS_TOKEN = { accessToken: [] };

const SECURITY = {
  'api-key': { apiKey: [] },
  'access-token': ACCESS_TOKEN,
  'public-access-token': { publicAccessToken: [] },
  'test-token': ACCESS_TOKEN,
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

function describe(operation: Operation, known: Record<string, ZodOpenApiExampleObject>): ZodOpenApiOperationObject {
  const { id, tag, summary, description, credentials, basicAuth, params, query, body, isBodyOptional } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, rightsOf(operation), describeProblems(operation)].filter(Boolean).join('\n\n'),
    security: basicAuth ? [{ publicKey: [] }] : [...new Set(credentials.map(kind => SECURITY[kind]))],
    requestParams: {
      ...(params ? { path: params as z.ZodObject } : {}),
      ...(query ? { query: query as z.ZodObject } : {}),
    },
    parameters: parameterRefs(requestHeadersOf(operation)),
    ...(body ? { requestBody: { required: !isBodyOptional, content: contentOf(body, known) } } : {}),
    responses: { ...successResponses(operation, known), ...FAILURES },
  };
}

/**
 * Returns JSON with a line per operation and per component: a review shows which of them changed, without the indentation
 * that made up two fifths of the document.
 */
function toLines(part: object, depth = 0): string {
  const pad = ' '.repeat(2 * (depth + 1));
  const members = Object.entries(part).map(([name, value]) => {
    const isBranch = depth < 2 && typeof value === 'object' && value !== null && !Array.isArray(value);
    return `${pad}${JSON.stringify(name)}: ${isBranch ? toLines(value, depth + 1) : JSON.stringify(value)}`;
  });
  return `{\n${members.join(',\n')}\n${pad.slice(2)}}`;
}

/** Returns the OpenAPI 3.1 document of this build as JSON, from the schemas that validate requests. */
export function openApiDocument(operations: Operation[], baseUrl: string): string {
  const known = bodyExamples(operations);
  const paths: ZodOpenApiObject['paths'] = {};
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation, known) };
  const tags = [...new Set(operations.map(operation => operation.tag))];
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Parley',
        version: BUILD.version,
        description: ABOUT,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: baseUrl }],
      tags: tags.map(name => ({ name, description: TAGS[name] ?? '' })),
      paths,
      components: {
        schemas: { ...problemSchemas, NewAnswer, IdentityItem } as never,
        ...headerComponents(),
        responses: problemResponses(),
        examples: { ...known, ...problemExamples() },
        securitySchemes: SECURITY_SCHEMES,
      },
    },
    { override: openReplies },
  );
  simplifySchemas(document);
  describeParameters(document as { paths?: unknown });
  removeUnused(document);
  return toLines(document);
}
