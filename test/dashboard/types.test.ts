import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { typeOf, typesModule } from '../../dashboard/generate-types.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(resolve(ROOT, path), 'utf8');

test('the types of the dashboard are those of the OpenAPI document', () => {
  expect(read('dashboard/api/schema.ts')).toBe(typesModule(JSON.parse(read('docs/openapi.json'))));
});

test.each([
  [{ type: 'string' }, 'string'],
  [{ type: 'integer' }, 'number'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
  [{ enum: ['a', 'b'] }, '"a" | "b"'],
  [{ const: true }, 'true'],
  [{ $ref: '#/components/schemas/Answer' }, 'Schemas["Answer"]'],
  [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }, '(string | number)[]'],
  [{ type: 'object', additionalProperties: {} }, 'Record<string, unknown>'],
  [
    { type: 'object', properties: { id: { type: 'string' }, of: {} }, required: ['id'] },
    '{ id: string; of?: unknown }',
  ],
  [{ allOf: [{ type: 'string' }, { enum: ['a', 'b'] }] }, 'string & ("a" | "b")'],
])('%j is the type %s', (schema, type) => {
  expect(typeOf(schema)).toBe(type);
});
