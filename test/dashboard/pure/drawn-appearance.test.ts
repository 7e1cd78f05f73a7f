import { expect, test } from 'vitest';
import { drawnAppearance } from '../../../dashboard/components/card/drawn-appearance.ts';
import * as server from '../../../src/domain/rules/appearance.ts';

const THEMES = ['auto', 'page', 'light', 'dark'] as const;
const COLORS = [null, '#000000', '#ffffff', '#767676', '#757575', '#1d4ed8', '#facc15', '#0b1f3a', '#bada55'];

test('the preview has the colors that the server derives', () => {
  let count = 0;
  for (const theme of THEMES)
    for (const background of COLORS)
      for (const text of COLORS)
        for (const accent of COLORS) {
          const appearance = { ...server.DEFAULT_APPEARANCE, theme, background, text, accent };
          expect(drawnAppearance(appearance)).toEqual(server.drawnAppearance(appearance));
          count++;
        }
  expect(count).toBe(THEMES.length * COLORS.length ** 3);
});

test('black or white text is chosen as on the server for every gray', () => {
  for (let level = 0; level < 256; level++) {
    const background = `#${level.toString(16).padStart(2, '0').repeat(3)}`;
    const appearance = { ...server.DEFAULT_APPEARANCE, background };
    expect(drawnAppearance(appearance).text).toBe(server.drawnAppearance(appearance).text);
  }
});
