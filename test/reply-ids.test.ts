import { v7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { OPERATIONS } from '../src/api/routes/index.ts';
import { toTypeId, typeIdOut } from '../src/domain/ids.ts';

interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  format?: string;
  pattern?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

/** Ids without a form of ours: chosen by clients, of various kinds, or the names of built-in templates. */
const OTHER_IDS = new Set([
  'AuditEntry.request_id',
  'AuditTarget.id',
  'ChoiceOption.id',
  'EventObject.id',
  'EventReason.id',
  'Message.client_message_id',
  'MessageAuthor.id',
  'QuestionTemplate.id',
  'Receipt.id',
]);

/** The ids in replies by their path, which starts with the name of the nearest component. */
const ids = new Map<string, Schema>();

function collectIds(schema: Schema, path: string, defs: Record<string, Schema>): void {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) collectIds(defs[name] as Schema, name, defs);
  for (const [field, property] of Object.entries(schema.properties ?? {})) {
    const place = `${path}.${field}`;
    if (/^(.*_)?id$/.test(field)) ids.set(place, property);
    collectIds(property, place, defs);
  }
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.items ? [schema.items] : [])];
  for (const part of parts) collectIds(part, path, defs);
}

for (const { id, response } of OPERATIONS) {
  if (!response) continue;
  const schema = z.toJSONSchema(response, { io: 'output', unrepresentable: 'any' }) as Schema;
  collectIds(schema, response.meta()?.id ?? id, schema.$defs ?? {});
}

describe('an id in a reply', () => {
  // The document leaves ids open; test/openapi.test.ts parses each reply with these schemas.
  test('has a form in the schema of the reply', () => {
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
