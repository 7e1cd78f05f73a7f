import type { Appearance } from '../../../clients/javascript/src/types.ts';

/** The luminance of a color `#rrggbb`, from 0 for black to 1 for white (WCAG). */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map(at => Number.parseInt(color.slice(at, at + 2), 16) / 255)
    .map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Black or white, whichever has more contrast with the color. */
const readableOn = (color: string): string =>
  1.05 / (luminanceOf(color) + 0.05) > (luminanceOf(color) + 0.05) / 0.05 ? '#ffffff' : '#000000';

/**
 * Returns an appearance that is not saved yet as card lists have it: with the colors that the server derives from
 * others (`drawnAppearance` in `src/domain/rules/appearance.ts`).
 */
export function drawnAppearance(appearance: Appearance): Appearance {
  const { theme, accent } = appearance;
  const isFixed = theme === 'light' || theme === 'dark';
  const background = appearance.background ?? (appearance.text && !isFixed ? readableOn(appearance.text) : null);
  const text = appearance.text ?? (background && readableOn(background));
  return { ...appearance, background, text, accent: accent ?? text };
}

/** Returns the appearance for a screen of the dashboard, on which the theme of the visitor is that of the screen. */
export const onScreen = (appearance: Appearance): Appearance => ({
  ...appearance,
  theme: appearance.theme === 'auto' ? 'page' : appearance.theme,
});
