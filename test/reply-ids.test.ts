import { readFile } from 'node:fs/promises';
import { v7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { toTypeId, typeIdOut } from '../src/domain/ids.ts';

interface Schema {
  $ref?: string;
  format?: string;
  pattern?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

interface Document {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: Schema }> }> }>
  >;
  components: { schemas: Record<string, Schema> };
}

const document: Document = JSON.parse(await readFile(new URL('../docs/openapi.json', import.meta.url), 'utf8'));

/** Ids without a form of ours: chosen by clients, or of various kinds. */
const OTHER_IDS = new Set([
  'AuditEntry.request_id',
  'AuditEntry.target.id',
  'Message.author.id',
  'Message.client_message_id',
  'Problem.request_id',
  'Receipt.id',
]);

/** Collects the ids in a schema by their path, which starts with the name of the nearest component. */
function collectIds(schema: Schema, path: string, ids: Map<string, Schema>): void {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) collectIds(document.components.schemas[name] as Schema, name, ids);
  for (const [field, property] of Object.entries(schema.properties ?? {})) {
    const place = `${path}.${field}`;
    if (/^(.*_)?id$/.test(field)) ids.set(place, property);
    collectIds(property, place, ids);
  }
  for (const part of [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]) collectIds(part, path, ids);
}

const ids = new Map<string, Schema>();
for (const item of Object.values(document.paths))
  for (const { responses } of Object.values(item))
    for (const { content = {} } of Object.values(responses))
      for (const { schema } of Object.values(content)) collectIds(schema, '', ids);

describe('an id in a reply', () => {
  test('has a documented form', () => {
    const isFormed = ({ format, pattern, anyOf = [] }: Schema): boolean =>
      format === 'uuid' || pattern !== undefined || anyOf.some(isFormed);
    const formless = [...ids].filter(([, schema]) => !isFormed(schema)).map(([path]) => path);
    expect(formless.sort()).toEqual([...OTHER_IDS].sort());
    expect(ids.size).toBeGreaterThan(OTHER_IDS.size + 20);
  });

  test('has the prefix of its type and 26 characters', () => {
    const id = toTypeId('card', v7());
    expect(typeIdOut('card').safeParse(id).success).toBe(true);
    expect(typeIdOut('question', 'card').safeParse(id).success).toBe(true);
    for (const wrong of [v7(), id.slice(0, -1), `${id}0`, `x${id}`, id.toUpperCase(), toTypeId('question', v7())])
      expect([wrong, typeIdOut('card').safeParse(wrong).success]).toEqual([wrong, false]);
  });
});
