import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Problem } from '../../../src/domain/problem.ts';
import {
  type Appearance,
  changeAppearance,
  completeAppearance,
  DEFAULT_APPEARANCE,
  drawnAppearance,
  findContrastFaults,
} from '../../../src/domain/rules/appearance.ts';
import {
  BLACK,
  contrastOf,
  nearestColor,
  readableOn,
  TEXT_CONTRAST,
  WHITE,
} from '../../../src/domain/rules/contrast.ts';

const color = fc.integer({ min: 0, max: 0xffffff }).map(value => `#${value.toString(16).padStart(6, '0')}`);
const appearance: fc.Arbitrary<Appearance> = fc.record({
  theme: fc.constantFrom('auto', 'light', 'dark', 'page'),
  accent: fc.option(color),
  background: fc.option(color),
  text: fc.option(color),
  radius: fc.constant(12),
  font: fc.constant('inherit'),
  placement: fc.constant('inline'),
});

describe('the contrast of two colors', () => {
  /** Examples of the WebAIM contrast checker. */
  test.each([
    ['#000000', '#ffffff', 21],
    ['#777777', '#ffffff', 4.47],
    ['#767676', '#ffffff', 4.54],
    ['#ff0000', '#ffffff', 3.99],
    ['#0000ff', '#ffffff', 8.59],
    ['#123456', '#123456', 1],
  ])('of %s and %s is %f', (one, other, ratio) => {
    expect(contrastOf(one, other)).toBeCloseTo(ratio, 1);
    expect(contrastOf(other, one)).toBe(contrastOf(one, other));
  });

  test('of any color with black or white is enough for text', () => {
    fc.assert(fc.property(color, on => contrastOf(readableOn(on), on) > TEXT_CONTRAST));
    expect([readableOn('#ffd400'), readableOn('#1d4ed8')]).toEqual([BLACK, WHITE]);
  });
});

describe('the nearest color', () => {
  test('is the color itself if it passes', () => {
    fc.assert(fc.property(color, own => nearestColor(own, () => true) === own));
  });

  test('has the same hue, so that a brand stays recognizable', () => {
    const darkened = nearestColor('#ffd400', each => contrastOf(each, WHITE) >= 3) as string;
    const [red, green, blue] = [1, 3, 5].map(at => Number.parseInt(darkened.slice(at, at + 2), 16)) as number[];
    expect(red).toBeGreaterThan(green as number);
    expect(green).toBeGreaterThan(3 * (blue as number));
    expect(contrastOf(darkened, WHITE)).toBeLessThan(3.1);
  });

  test('does not exist if no lightness passes', () => {
    expect(nearestColor('#ffd400', () => false)).toBeUndefined();
  });
});

describe('the colors of an appearance', () => {
  test('pass by default', () => {
    expect(findContrastFaults(DEFAULT_APPEARANCE)).toEqual([]);
    expect(completeAppearance({})).toEqual(DEFAULT_APPEARANCE);
  });

  test('pass once each is replaced by the suggested one', () => {
    fc.assert(
      fc.property(appearance, wanted => {
        const suggested = findContrastFaults(wanted).map(({ field, nearest }) => [field, nearest]);
        const repaired: Appearance = { ...wanted, ...Object.fromEntries(suggested) };
        expect(findContrastFaults(repaired)).toEqual([]);
        return true;
      }),
    );
  });

  test.each<[Partial<Appearance>, string[]]>([
    [{ accent: '#ffd400' }, ['accent']],
    [{ accent: '#ffd400', theme: 'dark' }, []],
    [{ accent: '#ffd400', theme: 'page' }, ['accent']],
    [{ accent: '#001a4d' }, ['accent']],
    [{ accent: '#001a4d', theme: 'light' }, []],
    [{ accent: '#ffd400', background: '#202020' }, []],
    [{ accent: '#202020', background: '#202020' }, ['accent']],
    [{ text: '#eeeeee', background: '#ffffff' }, ['text']],
    [{ text: '#eeeeee', background: '#ffffff', accent: '#fefefe' }, ['text', 'accent']],
    [{ text: '#eeeeee', theme: 'light' }, ['text']],
    [{ text: '#eeeeee', theme: 'auto' }, []],
    [{ text: '#222222', theme: 'dark' }, ['text']],
    [{ background: '#777777' }, []],
  ])('%j: faults of %j', (set, fields) => {
    expect(findContrastFaults({ ...DEFAULT_APPEARANCE, ...set }).map(({ field }) => field)).toEqual(fields);
  });

  test.each<[Partial<Appearance>, Partial<Appearance>]>([
    [{}, {}],
    [{ accent: '#0f766e' }, {}],
    [{ background: '#102030' }, { text: '#ffffff', accent: '#ffffff' }],
    [{ background: '#ffd400', accent: '#102030' }, { text: '#000000' }],
    [{ text: '#eeeeee' }, { background: '#000000', accent: '#eeeeee' }],
    [{ text: '#eeeeee', theme: 'dark' }, { accent: '#eeeeee' }],
    [{ text: '#eeeeee', background: '#102030' }, { accent: '#eeeeee' }],
  ])('%j are drawn with %j', (set, added) => {
    expect(drawnAppearance({ ...DEFAULT_APPEARANCE, ...set })).toEqual({ ...DEFAULT_APPEARANCE, ...set, ...added });
  });

  test('that follow from others pass', () => {
    fc.assert(
      fc.property(appearance, wanted => {
        fc.pre(findContrastFaults(wanted).length === 0);
        return findContrastFaults(drawnAppearance(wanted)).length === 0;
      }),
    );
  });

  test('are not checked by a change of other fields', () => {
    const stored = { ...DEFAULT_APPEARANCE, accent: '#ffd400' };
    expect(changeAppearance(stored, { radius: 0 })).toEqual({ ...stored, radius: 0 });
    expect(() => changeAppearance(stored, { theme: 'light' })).toThrow(Problem);
    expect(changeAppearance(stored, { theme: 'dark' })).toEqual({ ...stored, theme: 'dark' });
  });
});
