import { expect, test } from 'vitest';
import { addBodyExamples } from '../src/api/openapi/body-examples.ts';

const text = { type: 'string' };
const idOf = (name: string) => ({ ...text, example: `${name}_1` });
const json = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });

/** Returns the examples of a document with a body of the first schema. */
function examplesOf(schemas: Record<string, object>) {
  const components = { schemas, examples: {} as Record<string, { value: unknown }> };
  addBodyExamples({ paths: { '/': { get: { content: json(Object.keys(schemas)[0] as string) } } }, components });
  return components;
}

test('an example has each required member, and each optional one with an example of its own', () => {
  const properties = {
    id: idOf('card'),
    at: { ...text, format: 'date-time' },
    closed_at: { anyOf: [idOf('x'), { type: 'null' }] },
    steps: { type: 'array', items: { $ref: '#/components/schemas/Step' } },
    note: text,
    hint: idOf('hint'),
  };
  const { examples, schemas } = examplesOf({
    Card: { type: 'object', required: ['id', 'at', 'closed_at', 'steps'], properties },
    Step: { type: 'object', required: ['key'], properties: { key: text, label: text }, example: { key: 'main' } },
  });
  const expected = { id: 'card_1', at: '2026-11-21T07:00:00.000Z', closed_at: null, hint: 'hint_1' };
  expect(examples.Card?.value).toEqual({ ...expected, steps: [{ key: 'main' }] });
  expect(schemas.Step).not.toHaveProperty('example');
});

test('the example of an object replaces members and chooses the optional ones', () => {
  const properties = { id: idOf('card'), name: text, hint: idOf('hint') };
  const { examples } = examplesOf({
    Card: {
      ...{ type: 'object', required: ['id', 'name'], properties },
      ...{ example: { name: 'NPS' }, variants: { created: { name: 'CSAT', hint: 'new' } } },
    },
  });
  expect(examples.Card?.value).toEqual({ id: 'card_1', name: 'NPS' });
  expect(examples['Card.created']?.value).toEqual({ id: 'card_1', name: 'CSAT', hint: 'new' });
});

test('a required member without an example is refused', () => {
  const missing = { Card: { type: 'object', required: ['name'], properties: { name: text } } };
  expect(() => examplesOf(missing)).toThrow('The schema of "name" has no example');
});
