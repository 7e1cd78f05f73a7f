import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Operation, operation } from '../../src/api/operation.ts';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { filesUnder, SRC } from '../support/modules.ts';

const ROUTES = join(SRC, 'api/routes');

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'handle' in value && 'path' in value;

const exported = (
  await Promise.all(
    readdirSync(ROUTES)
      .filter(name => name.endsWith('.ts') && name !== 'index.ts')
      .map(async name => Object.entries((await import(join(ROUTES, name))) as Record<string, unknown>)),
  )
).flat();
const constants = exported.filter((entry): entry is [string, Operation] => isOperation(entry[1]));

const NAMES = new Set(OPERATIONS.flatMap(({ id, tag }) => [id, tag]));

/** The ids and tags of operations that a text contains as literals. */
const operationsNamedIn = (text: string): string[] =>
  [...text.matchAll(/['"`]([\w ]+)['"`]/g)].map(([, literal]) => literal as string).filter(name => NAMES.has(name));

const endpoint = (fields: Partial<Operation>): Operation =>
  operation({
    id: 'readThing',
    method: 'get',
    path: '/v1/things',
    tag: 'Things',
    summary: 'Get a thing',
    credentials: [],
    status: 200,
    handle: () => ({}),
    ...(fields as object),
  });

describe('an operation', () => {
  test('has a small body if users may call it, because the schema is compiled at the first request', () => {
    for (const { id, body, credentials } of OPERATIONS) {
      if (!body || !credentials.includes('access-token')) continue;
      const schema = z.toJSONSchema(body, { unrepresentable: 'any', io: 'input' });
      expect(JSON.stringify(schema).length, id).toBeLessThan(5000); // 57,000 took 2 s, in which no other request was served
    }
  });

  test('reads each object that another one changes or deletes', () => {
    const pathsOf = (...methods: string[]) =>
      OPERATIONS.filter(({ method, path }) => methods.includes(method) && path.endsWith('}')).map(({ path }) => path);
    const read = pathsOf('get');
    expect(pathsOf('put', 'patch', 'delete').filter(path => !read.includes(path))).toEqual([]);
  });

  test('that creates replies 201 with a Location', () => {
    const without = OPERATIONS.filter(({ status, sends }) => status === 201 && !sends?.includes('Location'));
    expect(without.map(({ id }) => id)).toEqual([]);
    const created = OPERATIONS.filter(({ audit }) => audit && /\.(created|cloned)$/.test(audit));
    for (const { id, status } of created) expect([id, status]).toEqual([id, 201]);
  });

  test('filters by several values of each closed list', () => {
    const schemaOf = (schema: z.ZodType): z.ZodType => {
      const { innerType, in: input } = schema.def as { innerType?: z.ZodType; in?: z.ZodType };
      return innerType || input ? schemaOf((innerType ?? input) as z.ZodType) : schema;
    };
    const isBoolean = (values: unknown[]) => values.every(value => value === 'true' || value === 'false');
    const closed = OPERATIONS.flatMap(({ id, query }) =>
      Object.entries((query as z.ZodObject | undefined)?.shape ?? {}).flatMap(([name, schema]) => {
        const { values } = schemaOf(schema as z.ZodType)._zod;
        return values && !isBoolean([...values]) ? [`${id} ${name}`] : [];
      }),
    );
    expect(closed).toEqual([
      ...['listConversations sort', 'listMessages order', 'listQuestions include', 'readResults group_by'],
    ]); // no filters
  });

  test('is a constant named like its id', () => {
    expect(constants.map(([name]) => name).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort());
    for (const [name, { id }] of constants) expect(name).toBe(id);
  });

  test('is not known by its id or tag outside the routes', () => {
    const naming = filesUnder(join(SRC, 'api'))
      .filter(path => !path.startsWith('routes/'))
      .flatMap(path => operationsNamedIn(readFileSync(join(SRC, 'api', path), 'utf8')).map(name => `${path}: ${name}`));
    expect(naming).toEqual([]);
    expect(operationsNamedIn("if (operation.id === 'issuePublicToken')")).toEqual(['issuePublicToken']);
    expect(operationsNamedIn("if (tag !== 'Operating')")).toEqual(['Operating']);
  });

  test('may be called by pages of other origins if it accepts tokens of users, unless it decides otherwise', () => {
    expect(endpoint({ credentials: ['access-token', 'session'] }).crossOrigin).toBe(true);
    expect(endpoint({ credentials: ['public-access-token'] }).crossOrigin).toBe(true);
    expect(endpoint({ credentials: ['api-key', 'session', 'person'] }).crossOrigin).toBe(false);
    expect(endpoint({ crossOrigin: true }).crossOrigin).toBe(true);
    expect(OPERATIONS.filter(({ crossOrigin, credentials }) => crossOrigin && credentials.length === 0)).toEqual([
      expect.objectContaining({ id: 'issuePublicToken', basicAuth: true }),
      expect.objectContaining({ id: 'readOpenApi' }),
    ]);
  });

  test('is heavy if it reads a list, unless it decides otherwise', () => {
    const response = z.object({ data: z.array(z.string()), has_more: z.boolean() });
    expect(endpoint({ response }).heavy).toBe(true);
    expect(endpoint({ response, method: 'post' }).heavy).toBe(false);
    expect(endpoint({ response: z.object({}) }).heavy).toBe(false);
    expect(endpoint({ heavy: true }).heavy).toBe(true);
  });
});
