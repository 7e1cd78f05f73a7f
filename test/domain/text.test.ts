import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { AssignmentRulesInput } from '../../src/domain/conversations/assignment-rules.ts';
import { CustomFields } from '../../src/domain/conversations/custom-fields.ts';
import { MacroPatch, NewMacro } from '../../src/domain/conversations/macros.ts';
import { NewView, ViewPatch } from '../../src/domain/conversations/views.ts';
import { ClientUuid, parseTypeId, toTypeId, typeId } from '../../src/domain/ids.ts';
import { queryInt } from '../../src/domain/pages.ts';
import { FollowUps } from '../../src/domain/questions/follow-ups.ts';
import { NewQuestion, QuestionPatch } from '../../src/domain/questions/questions.ts';
import { ThanksInput } from '../../src/domain/questions/thanks.ts';
import { AccountPatch } from '../../src/domain/team/accounts.ts';
import { keyIdOfBearer, NewApiKey } from '../../src/domain/team/api-keys.ts';
import { NewTenant, TenantPatch } from '../../src/domain/tenants.ts';
import { Identity, isStorable, Tag, Tags, Timestamp, text } from '../../src/domain/text.ts';
import { leastMs } from '../support/least-ms.ts';

const takes = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;
const anyText = fc.string({ unit: 'binary', maxLength: 40 });

describe('storable text', () => {
  test('survives UTF-8 unchanged and has no NUL', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.constantFrom('\ud800', 'a\udc00', '\udc00\ud800', 'a\u0000b')), value => {
        const survives = Buffer.from(value, 'utf8').toString('utf8') === value;
        expect(isStorable(value)).toBe(survives && !value.includes('\0'));
        expect(takes(text(40), value)).toBe(isStorable(value) && value.length <= 40);
      }),
    );
  });
});

describe('an identity', () => {
  test.each(['user|42', '42', ' ', 'a b', 'é', '😀', '__proto__', 'x'.repeat(256), '\u202eabc', "'; drop table --"])(
    '%j is accepted unchanged',
    value => {
      expect(Identity.parse(value)).toBe(value);
    },
  );

  test.each([
    '',
    'x'.repeat(257),
    'a\u0000',
    'a\n',
    '\t',
    '\u007f',
    '\u0085',
    'e\u0301',
    '\u212b',
    '\ud83d',
    42,
    null,
    ['a'],
  ])('%j is rejected', value => {
    expect(takes(Identity, value)).toBe(false);
  });

  test('of any text is accepted exactly if it is in NFC and free of control characters', () => {
    fc.assert(
      fc.property(anyText, value => {
        const isPlain = [...value].every(character => {
          const code = character.codePointAt(0) as number;
          return code >= 0x20 && (code < 0x7f || code > 0x9f);
        });
        const isGood = value.length > 0 && isPlain && value.isWellFormed() && value.normalize('NFC') === value;
        expect(takes(Identity, value)).toBe(isGood);
      }),
    );
  });
});

describe('names and titles', () => {
  const faults = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues.length ?? 0;
  const asName = (name: string) => ({ name });
  const fields: [string, z.ZodType, (value: string) => unknown][] = [
    ['tenant', NewTenant, asName],
    ['tenant, changed', TenantPatch, asName],
    ['account', AccountPatch, asName],
    ['API key', NewApiKey, name => ({ name, scopes: ['answers:read'] })],
    ['macro', NewMacro, name => ({ name, body: 'x' })],
    ['macro, changed', MacroPatch, asName],
    ['view', NewView, asName],
    ['view, changed', ViewPatch, asName],
    ['rule', AssignmentRulesInput, name => ({ data: [{ name, then: { priority: 'high' } }] })],
    ['field', CustomFields, label => [{ key: 'a', label, type: 'text' }]],
    ['choice of a field', CustomFields, option => [{ key: 'a', label: 'A', type: 'choice', options: [option] }]],
    ['question', NewQuestion, name => ({ type: 'nps', title: 'x', name })],
    ['question, changed', QuestionPatch, title => ({ title })],
    ['step', FollowUps, title => [{ key: 'a', type: 'nps', title }]],
    ['thanks', ThanksInput, title => ({ title })],
  ];

  test.each(fields)('of a %s are not blank', (_, schema, body) => {
    expect(faults(schema, body(' x '))).toBe(0);
    for (const blank of ['', ' ', '\t\n', '\u00a0\u3000']) expect(faults(schema, body(blank))).toBe(1);
  });
});

describe('tags', () => {
  test.each([[[]], [['a', 'b']], [Array.from({ length: 20 }, (_, index) => `tag ${index}`)], [['x'.repeat(50)]]])(
    '%j are accepted',
    value => {
      expect(Tags.parse(value)).toEqual(value);
    },
  );

  test.each([
    [['a', 'a']],
    [['']],
    [[' a']],
    [['a ']],
    [['x'.repeat(51)]],
    [['a\u0000']],
    [[1]],
    ['a'],
    [Array.from({ length: 21 }, String)],
  ])('%j are rejected', value => {
    expect(takes(Tags, value)).toBe(false);
  });
});

describe('a timestamp', () => {
  test.each([
    ['2026-11-21T07:00:00Z', '2026-11-21T07:00:00.000Z'],
    ['2026-11-21T07:00:00.123456+02:00', '2026-11-21T05:00:00.123Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (value, iso) => {
    expect(Timestamp.parse(value).toISOString()).toBe(iso);
  });

  test.each([
    '2026-11-21',
    '2026-11-21T07:00:00',
    '2026-02-30T00:00:00Z',
    '2026-11-21T25:00:00Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '+010000-01-01T00:00:00Z',
    `2026-11-21T07:00:00.${'1'.repeat(40)}Z`,
    'yesterday',
    '',
    1_700_000_000,
  ])('%s is rejected', value => {
    expect(takes(Timestamp, value)).toBe(false);
  });
});

describe('a wire id', () => {
  test('decodes to its UUID, and no other text does', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.nat(100), anyText, (uuid, at, odd) => {
        const id = toTypeId('key', uuid);
        expect(parseTypeId('key', id)).toBe(uuid);
        expect(parseTypeId('tenant', id)).toBeUndefined();
        const position = at % id.length;
        const changed = id.slice(0, position) + odd + id.slice(position + 1);
        const read = parseTypeId('key', changed);
        if (read !== undefined) expect(toTypeId('key', read)).toBe(changed);
      }),
    );
  });
});

describe('adversarial text', () => {
  const evil = ['a', ' ', '0', '-', '.', ':', '_', '\u0301', 'é', '[', 'key_', 'sk_0', 'http://', '2026-'].flatMap(
    part => [
      part.repeat(50_000 / part.length),
      `${part.repeat(50_000 / part.length)}!`,
      `2026-01-01T00:00:00.${part.repeat(50_000 / part.length)}`,
    ],
  );
  const schemas: [string, (value: string) => unknown][] = [
    ['an identity', value => Identity.safeParse(value)],
    ['a tag', value => Tag.safeParse(value)],
    ['a text', value => text(5000).safeParse(value)],
    ['a timestamp', value => Timestamp.safeParse(value)],
    ['a wire id', value => typeId('key').safeParse(value)],
    ['a client UUID', value => ClientUuid.safeParse(value)],
    ['a number in a query', value => queryInt(1, 100).safeParse(value)],
    ['a bearer value', value => keyIdOfBearer(value)],
    ['an origin', value => NewApiKey.safeParse({ name: 'a', allowed_origins: [value] })],
  ];

  test.each(schemas)('takes a few milliseconds at most as %s', (_, check) => {
    check('warm');
    for (const value of evil) expect(leastMs(() => check(value))).toBeLessThan(100);
  });
});
