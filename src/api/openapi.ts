import type { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { NewAnswer } from '../domain/answers/answers.ts';
import { IdentityItem } from '../domain/people/identities.ts';
import { RIGHTS } from '../domain/team/roles.ts';
import { BUILD } from '../platform/build-info.ts';
import { addBodyExamples } from './openapi/body-examples.ts';
import { headerComponents, headerRefs, parameterRefs, requestHeadersOf, responseHeadersOf } from './openapi/headers.ts';
import { describeProblems, FAILURES, problemExamples, problemResponses, problemSchemas } from './openapi/problems.ts';
import { describeParameters, openReplies, removeUnused, simplifySchemas } from './openapi/shapes.ts';
import { ABOUT, SECURITY_SCHEMES } from './openapi/texts.ts';
import type { Operation } from './operation.ts';
import { TAGS } from './routes/index.ts';

const contentOf = (schema: z.ZodType) => ({ 'application/json': { schema } });

function successResponses(operation: Operation): ZodOpenApiResponsesObject {
  const { method, status, response, summary, etag, otherStatuses } = operation;
  const sent = responseHeadersOf(operation);
  const parts = { headers: headerRefs(sent), ...(response ? { content: contentOf(response) } : {}) };
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

function describe(operation: Operation): ZodOpenApiOperationObject {
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
    ...(body ? { requestBody: { required: !isBodyOptional, content: contentOf(body) } } : {}),
    responses: { ...successResponses(operation), ...FAILURES },
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
  const paths: ZodOpenApiObject['paths'] = {};
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
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
        examples: problemExamples(),
        securitySchemes: SECURITY_SCHEMES,
      },
    },
    { override: openReplies },
  );
  addBodyExamples(document);
  simplifySchemas(document);
  describeParameters(document as { paths?: unknown });
  removeUnused(document);
  return toLines(document);
}
