import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, findFormFault } from '../../src/domain/json.ts';
import { leastMs } from '../support/least-ms.ts';

const faultOf = (text: string, maxLevels: number) => findFormFault(text, JSON.parse(text), maxLevels);

/** The pointer of a repeated member. */
const find = (text: string): string | undefined => {
  const fault = faultOf(text, 20);
  return typeof fault === 'object' ? fault.repeated : undefined;
};

describe('a member that its object has twice', () => {
  test.each([
    ['{"a":1,"a":2}', '/a'],
    ['{"a":1,"a" :2}', '/a'],
    ['{"a":1,"a"\n:\n2}', '/a'],
    ['{"a":1,"\\u0061":2}', '/a'],
    ['{"list":[{},{"x":{"b/c":1,"b/c":1}}]}', '/list/1/x/b~1c'],
    ['{"":1,"":1}', '/'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__'],
    ['[{"a":{"a":1}},{"a":1},[{"b":1,"a":1,"b":1}]]', '/2/0/b'],
    ['{"text":"\\":","a":1,"a":"}"}', '/a'],
  ])('is found in %s', (text, pointer) => {
    expect(find(text)).toBe(pointer);
  });

  test.each([
    '{}',
    '5',
    '"a"',
    '{"a":{"a":1},"b":[{"a":1},{"a":1}]}',
    '{"text":"{\\"a\\":1,\\"a\\":2}"}',
    '{"__proto__":{"a":1},"a":"\\\\"}',
    '{"time":"2026-11-21T07:00:00Z","a":"\\"\\\\\\":"}',
    '{"a":": :",":":":"}',
  ])('is not found in %s', text => {
    expect(find(text)).toBeUndefined();
  });

  test('is not found in any serialized document, and is found wherever one is added', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), document => {
        const text = JSON.stringify(document);
        expect(find(text)).toBeUndefined();
        expect(find(`{"x":${text},"y":[${text},{"a":1,"b":${text},"a":${text}}]}`)).toBe('/y/1/a');
      }),
    );
  });

  test('is searched in 256 KB that defeat the shortcut in less than a second', () => {
    const text = `{"a":"${'\\":'.repeat(80_000)}"}`;
    expect(leastMs(() => expect(find(text)).toBeUndefined())).toBeLessThan(1000);
  });
});

describe('depth', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

  test('counts objects and arrays, not scalars', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(8), (document, levels) => {
        expect(faultOf(JSON.stringify(document), levels) === 'too-deep').toBe(depthOf(document) > levels);
      }),
    );
  });

  test('of a hundred thousand levels is refused without a stack overflow', () => {
    expect(faultOf(`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 20)).toBe('too-deep');
  });
});

describe('size', () => {
  const fault = (text: string) => faultOf(text, 20);

  test('of 10,000 members, or objects and arrays in arrays, is accepted, and one more is not', () => {
    for (const part of ['{"":1}', '{}', '[]', '{"":[0]}']) {
      const parts = part.includes('"') ? 5000 : 10_000;
      expect(fault(JSON.stringify(Array(parts).fill(JSON.parse(part))))).toBeUndefined();
      expect(fault(JSON.stringify(Array(parts + 1).fill(JSON.parse(part))))).toBe('too-many');
    }
    expect(fault(JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`m${at}`, 1]))))).toBe(
      'too-many',
    );
    expect(fault(JSON.stringify(Array(60_000).fill('text')))).toBeUndefined();
  });
});

test('equal values have one canonical text, whatever their order and notation', () => {
  expect(canonicalJson(JSON.parse('{"b":[1.0,{"d":1,"c":"\\u0061"}],"a":1e2}'))).toBe(
    '{"a":100,"b":[1,{"c":"a","d":1}]}',
  );
  expect(canonicalJson({ a: [1, 2] })).not.toBe(canonicalJson({ a: [2, 1] }));
});
