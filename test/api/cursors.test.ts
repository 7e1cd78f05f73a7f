import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCursors } from '../../src/api/http/cursors.ts';
import { etagOf, matchesNone, requireMatch } from '../../src/api/http/etag.ts';
import { makeKeychain } from '../support/keychain.ts';

const makeCursors = () => createCursors(makeKeychain());
const part = fc.string({ unit: 'binary', maxLength: 20 }).map(value => value.toWellFormed());

describe('a cursor', () => {
  const cursors = makeCursors();

  test('returns the position that it was created from', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), fc.array(part, { maxLength: 4 }), (context, place) => {
        expect(cursors.open(context, cursors.seal(context, place))).toEqual(place);
      }),
    );
  });

  test('does not open in another context, however its parts are split', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), fc.array(part, { maxLength: 4 }), (context, other) => {
        fc.pre(JSON.stringify(context) !== JSON.stringify(other));
        expect(() => cursors.open(other, cursors.seal(context, ['x']))).toThrow(
          'The cursor was not issued for this list',
        );
      }),
    );
    expect(() => cursors.open(['ab', 'c'], cursors.seal(['a', 'bc'], ['x']))).toThrow();
  });

  test('is not an arbitrary text, nor from another installation', () => {
    fc.assert(
      fc.property(part, value => {
        expect(() => cursors.open([], value)).toThrow('The cursor was not issued for this list');
      }),
    );
    expect(() => cursors.open([], makeCursors().seal([], ['x']))).toThrow();
  });
});

describe('an entity tag', () => {
  const tag = etagOf('{"a":1}');

  test('belongs to one body', () => {
    expect(tag).toMatch(/^"[\w-]{27}"$/);
    expect(etagOf('{"a":1}')).toBe(tag);
    expect(etagOf('{"a":2}')).not.toBe(tag);
  });

  test.each([
    [undefined, false],
    ['', false],
    ['"x"', false],
    [tag, true],
    [`W/${tag}`, true],
    [`"x",${tag}`, true],
    ['*', true],
  ])('matches If-None-Match %s: %s', (header, matches) => {
    expect(matchesNone(header, tag)).toBe(matches);
  });

  test('is compared strongly in If-Match', () => {
    for (const header of [undefined, '*', tag, `"x", ${tag}`])
      expect(() => requireMatch(header, { a: 1 })).not.toThrow();
    for (const header of ['', '"x"', `W/${tag}`, tag.slice(0, -1)])
      expect(() => requireMatch(header, { a: 1 })).toThrow('If-Match does not match the current version');
  });
});
