import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { STATUS_OF } from '../src/api/http/problem.ts';
import { OPERATIONS } from '../src/api/routes/index.ts';
import { PROBLEMS, type ProblemCode } from '../src/domain/problem-catalog.ts';
import { RIGHTS } from '../src/domain/team/roles.ts';
import { collisionsIn, schemasByUse, violationsIn } from './support/openapi.ts';

const root = new URL('..', import.meta.url);
const stored = await readFile(new URL('docs/openapi.json', root), 'utf8');

const Schema = z.union([z.boolean(), z.record(z.string(), z.unknown())]);
const Ref = z.strictObject({ $ref: z.string().startsWith('#/components/') });
const Refs = z.record(z.string(), Ref);
const Content = z.record(
  z.string().regex(/^application\/(problem\+)?json$/),
  z.strictObject({ schema: Schema, examples: Refs }),
);
const Header = z.strictObject({ description: z.string(), required: z.boolean().optional(), schema: Schema });
const Parameter = z.strictObject({
  name: z.string().min(1),
  in: z.enum(['query', 'path', 'header']),
  required: z.boolean().optional(),
  description: z.string().optional(),
  example: z.unknown().optional(),
  schema: Schema,
});
const Reply = z.strictObject({ description: z.string().min(1), headers: Refs, content: Content.optional() });
const DocumentedOperation = z.strictObject({
  operationId: z.string().regex(/^[a-z]+[A-Za-z]+$/),
  tags: z.array(z.string()).length(1),
  summary: z.string().min(10).max(120),
  description: z.string().min(20),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(z.union([Parameter, Ref])),
  requestBody: z.strictObject({ required: z.boolean(), content: Content }).optional(),
  responses: z.record(z.string().regex(/^([2-5]\d\d|default)$/), z.union([Reply, Ref])),
});
const name = z.string().regex(/^[A-Za-z0-9._-]+$/);
const named = <T extends z.ZodType>(part: T) => z.record(name, part);
const SecurityScheme = z.union([
  z.strictObject({
    type: z.literal('http'),
    scheme: z.enum(['bearer', 'basic']),
    bearerFormat: z.string().optional(),
    description: z.string(),
  }),
  z.strictObject({ type: z.literal('apiKey'), in: z.literal('cookie'), name: z.string(), description: z.string() }),
]);
/** The members of OpenAPI 3.1 that the document may use. */
const OpenApi = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.strictObject({
    title: z.literal('Parley'),
    version: z.string(),
    description: z.string(),
    license: z.strictObject({ name: z.string(), identifier: z.string() }),
  }),
  servers: z.array(z.strictObject({ url: z.url() })).length(1),
  tags: z.array(z.strictObject({ name: z.string(), description: z.string().min(20) })),
  paths: z.record(
    z.string().startsWith('/'),
    z.partialRecord(z.enum(['get', 'post', 'put', 'patch', 'delete']), DocumentedOperation),
  ),
  components: z.strictObject({
    schemas: named(Schema),
    headers: named(Header),
    parameters: named(Parameter),
    responses: named(Reply),
    examples: named(z.strictObject({ summary: z.string().optional(), value: z.unknown() })),
    securitySchemes: named(SecurityScheme),
  }),
});

const document = OpenApi.parse(JSON.parse(stored));
const documented = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    path,
    method,
    ...(operation as z.infer<typeof DocumentedOperation>),
  })),
);

const resolved = ([status, reply]: [string, z.infer<typeof Reply> | z.infer<typeof Ref>]) =>
  [
    status,
    '$ref' in reply
      ? (document.components.responses[reply.$ref.split('/').at(-1) as string] as z.infer<typeof Reply>)
      : reply,
  ] as const;

function* refsIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === '$ref' && typeof child === 'string') yield child;
    else yield* refsIn(child);
  }
}

describe('docs/openapi.json', () => {
  test("matches the program's output", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['src/main.ts', 'openapi'], {
      cwd: root,
      env: { PATH: process.env.PATH },
      maxBuffer: 10_000_000,
    });
    expect(stored).toBe(stdout);
  });

  test('has at most 500 KB, and describes the nodes of an audience once', () => {
    expect(stored.length).toBeLessThan(500_000);
    const members = (schema: z.infer<typeof Schema>) =>
      Object.keys((typeof schema === 'object' && (schema.properties as object)) || {});
    const nodes = Object.entries(document.components.schemas).filter(([, schema]) => {
      const names = members(schema);
      return names.includes('attribute') && names.includes('platform') && names.includes('app_version');
    });
    expect(nodes.map(([component]) => component).sort()).toEqual(['AudienceNode', 'AudienceNodeInput']);
  });

  test('describes exactly the operations of the router', () => {
    const served = OPERATIONS.map(({ id, method, path }) => `${id} ${method} ${path}`);
    expect(documented.map(({ operationId, method, path }) => `${operationId} ${method} ${path}`).sort()).toEqual(
      served.sort(),
    );
    expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
  });

  test('has examples of headers and paths that a mock server can send', () => {
    const ofHeaders = Object.values(document.components.headers).map(
      ({ schema }) => (schema as { example: unknown }).example,
    );
    for (const example of ofHeaders) expect(String(example)).toMatch(/^[\x20-\x7e]+$/);
    const without = documented.flatMap(({ path, parameters }) =>
      parameters
        .filter(each => 'in' in each && each.in === 'path' && !(each.schema as { example?: unknown }).example)
        .map(() => path),
    );
    expect(without).toEqual([]);
  });

  test('has no escaped slash in patterns, which some generators escape again', () => {
    expect(stored).not.toMatch(/"pattern":\s*"[^"]*\\\\\//);
  });

  test('has no dangling references', () => {
    for (const ref of refsIn(document)) {
      const found = ref
        .split('/')
        .slice(1)
        .reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name.replaceAll('~1', '/')], document);
      expect([ref, typeof found]).toEqual([ref, 'object']);
    }
    const tags = new Set(document.tags.map(({ name }) => name));
    for (const { operationId, tags: own, security } of documented) {
      for (const tag of own) expect([operationId, tags.has(tag)]).toEqual([operationId, true]);
      for (const scheme of security.flatMap(Object.keys))
        expect(document.components.securitySchemes).toHaveProperty(scheme);
    }
  });

  test('declares exactly the parameters of each path', () => {
    for (const { operationId, path, parameters } of documented) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]);
      const own = parameters.filter(parameter => 'name' in parameter);
      const declared = own.filter(parameter => parameter.in === 'path');
      expect([operationId, declared.map(({ name }) => name).sort()]).toEqual([operationId, inPath.sort()]);
      for (const parameter of declared) expect(parameter.required).toBe(true);
      const names = own.map(parameter => `${parameter.in} ${parameter.name}`);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test('has credentials, responses and problems for each operation', () => {
    for (const operation of OPERATIONS) {
      const { security, responses, description } = documented.find(
        ({ operationId }) => operationId === operation.id,
      ) as (typeof documented)[number];
      const isOpen = operation.credentials.length === 0 && operation.id !== 'issuePublicToken';
      expect([operation.id, security.length > 0]).toEqual([operation.id, !isOpen]);
      expect(responses).toHaveProperty(String(operation.status));
      expect([204, 302].includes(operation.status)).toBe(operation.response === undefined);
      expect(responses).toHaveProperty('default');
      if (operation.right) {
        const { scope, roles } = RIGHTS[operation.right];
        if (scope && operation.credentials.includes('api-key')) expect(description).toContain(scope);
        if (operation.credentials.includes('session')) expect(description).toContain(roles.join(', '));
      }
    }
  });

  test('describes every problem in one response, and lists those of an operation with their statuses', () => {
    const { Failure } = document.components.responses;
    const examples = Failure?.content?.['application/problem+json']?.examples;
    expect(Object.keys(examples ?? {}).sort()).toEqual(Object.keys(PROBLEMS).sort());
    const listed = documented.flatMap(({ description }) => [...description.matchAll(/`([a-z-]+)` \((\d{3})\)/g)]);
    expect(listed.length).toBeGreaterThan(40);
    for (const [, code, status] of listed)
      expect([code, STATUS_OF[PROBLEMS[code as ProblemCode]?.kind]]).toEqual([code, Number(status)]);
    const { properties } = document.components.schemas.Problem as { properties: { code: Record<string, string[]> } };
    expect(properties.code['x-extensible-enum']?.sort()).toEqual(Object.keys(PROBLEMS).sort());
  });

  test('uses each component', () => {
    const used = new Set([...refsIn(document)]);
    for (const [kind, components] of Object.entries(document.components)) {
      if (kind === 'securitySchemes') continue;
      const unused = Object.keys(components).filter(each => !used.has(`#/components/${kind}/${each}`));
      expect([kind, unused]).toEqual([kind, []]);
    }
  });

  test.each(Object.entries(violationsIn(document)))('has no %s', (_, places) => {
    expect(places).toEqual([]);
  });

  test('finds each kind of violation in a document that has them', () => {
    const properties = {
      one: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      two: { type: 'object', properties: {}, additionalProperties: false },
      three: { type: 'string', enum: ['a'] },
      four: { type: 'integer', default: 1 },
      eight: { type: 'integer', enum: [5, 7] },
      nine: { oneOf: [{ type: 'string' }, { type: 'number' }] },
      five: { type: 'number', const: 5 },
      six: { type: ['string', 'number'], default: {} },
      seven: { type: 'null' },
      ...Object.fromEntries(['a', 'b', 'c'].map(each => [each, { type: 'string', pattern: '^(?!a)' }])),
    };
    const schema = { type: 'object', properties, required: ['four'] };
    const responses = { 200: { schema: { $ref: '#/components/schemas/A' } } };
    const requestBody = { schema: { $ref: '#/components/schemas/B' } };
    const found = violationsIn({
      paths: { '/': { post: { requestBody, responses } } },
      components: { schemas: { A: schema, B: { anyOf: properties.one.anyOf } } },
    });
    expect(Object.entries(found).filter(([, places]) => places.length === 0)).toEqual([]);
  });

  test('has no component with a name that generators derive from another', () => {
    expect(collisionsIn(document)).toEqual([]);
    const { schemas, responses } = document.components;
    expect(Object.keys(responses).filter(response => response in schemas)).toEqual([]); // both are types in Go
    const status = { properties: { status: { type: 'string', enum: ['stored'] } } };
    const colliding = { Answer: status, NewAnswer: {}, AnswerStatus: {} };
    expect(collisionsIn({ paths: {}, components: { schemas: colliding } })).toEqual(['NewAnswer', 'AnswerStatus']);
  });

  test('keeps requests strict: an unknown member is refused', () => {
    const { requests } = schemasByUse(document);
    for (const request of requests) {
      const { type, properties, additionalProperties } = document.components.schemas[request] as Record<
        string,
        unknown
      >;
      if (type === 'object' && properties) expect([request, additionalProperties]).toEqual([request, false]);
    }
  });

  test.each(OPERATIONS.map(operation => [operation.id, operation] as const))(
    'has valid examples for %s',
    (id, { body, response }) => {
      const { requestBody, responses } = documented.find(
        ({ operationId }) => operationId === id,
      ) as (typeof documented)[number];
      const values = (content: z.infer<typeof Content> = {}) =>
        Object.values(content['application/json']?.examples ?? {}).map(
          ({ $ref }) => document.components.examples[$ref.split('/').at(-1) as string]?.value,
        );
      for (const value of values(requestBody?.content)) expect(body?.safeParse(value).error).toBeUndefined();
      expect(values(requestBody?.content).length > 0).toBe(body !== undefined);
      const replies = Object.entries(responses)
        .map(resolved)
        .filter(([status]) => status.startsWith('2'));
      for (const [, { content }] of replies) {
        expect(values(content).length > 0).toBe(response !== undefined);
        for (const value of values(content)) expect(response?.parse(value)).toEqual(value);
      }
    },
  );
});
