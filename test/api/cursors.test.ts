import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCursors } from '../../src/api/http/cursors.ts';
import { etagOf, matchesNone, requireMatch, versionTagOf } from '../../src/api/http/etag.ts';
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
    [tag.replace(/"$/, '-gzip"'), true],
    [`W/${tag.replace(/"$/, '-br"')}`, true],
    [tag.replace(/"$/, '-zip"'), false],
    [`"x",${tag}`, true],
    ['*', true],
  ])('matches If-None-Match %s: %s', (header, matches) => {
    expect(matchesNone(header, tag)).toBe(matches);
  });

  const withSuffix = (suffix: string) => tag.replace(/"$/, `-${suffix}"`);

  test('and its copies from compressing proxies match If-Match', () => {
    const copies = [`W/${tag}`, withSuffix('gzip'), withSuffix('br'), withSuffix('zstd'), `W/${withSuffix('gzip')}`];
    for (const header of [undefined, '*', tag, `"x", ${tag}`, ...copies, `"x", ${withSuffix('gzip')}`])
      expect(() => requireMatch({ 'if-match': header }, { a: 1 })).not.toThrow();
    for (const header of ['', '"x"', 'W/"x"', '"x-gzip"', withSuffix('zip'), withSuffix('gzip-gzip'), tag.slice(0, -1)])
      expect(() => requireMatch({ 'if-match': header }, { a: 1 })).toThrow(
        'If-Match does not match the current version',
      );
  });

  test('in If-None-Match of a write must not be that of the current version', () => {
    for (const header of [undefined, '', '"x"'])
      expect(() => requireMatch({ 'if-none-match': header }, { a: 1 })).not.toThrow();
    for (const header of ['*', tag, `W/${tag}`, withSuffix('gzip'), `"x", ${tag}`])
      expect(() => requireMatch({ 'if-none-match': header }, { a: 1 })).toThrow(
        'If-None-Match matches the current version',
      );
    for (const header of ['*', versionTagOf(null)])
      expect(() => requireMatch({ 'if-none-match': header }, null)).not.toThrow();
  });

  test('of an object that does not exist matches no If-Match', () => {
    for (const header of ['*', versionTagOf(null)])
      expect(() => requireMatch({ 'if-match': header }, null)).toThrow('If-Match does not match the current version');
  });

  test('does not depend on the order of members, but on that of lists', () => {
    const at = new Date();
    expect(versionTagOf({ b: [{ d: at, c: null }], a: 1 })).toBe(versionTagOf({ a: 1, b: [{ c: null, d: at }] }));
    expect(versionTagOf({ a: [1, 2] })).not.toBe(versionTagOf({ a: [2, 1] }));
    expect(versionTagOf({ a: 1 })).toBe(tag);
  });
});
