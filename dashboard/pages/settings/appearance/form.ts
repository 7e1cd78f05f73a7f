import type { Schemas } from '../../../api/schema.ts';

type Appearance = Schemas['Appearance'];

export const COLORS = ['accent', 'background', 'text'] as const;
export type ColorName = (typeof COLORS)[number];

/** Editor values of the appearance; a color without a value is that of the theme. */
export type AppearanceValues = Omit<Appearance, ColorName> & Record<ColorName, string>;

/** Editor values of a stored appearance. */
export const valuesOf = ({ accent, background, text, ...rest }: Appearance): AppearanceValues => ({
  ...rest,
  accent: accent ?? '',
  background: background ?? '',
  text: text ?? '',
});

/** Whether the text is a color as the API accepts it. */
export const isColor = (text: string): boolean => /^#[\da-f]{6}$/i.test(text);

/** Returns the appearance for the editor values. While a color is being typed, it is that of the theme. */
export function appearanceOf({ accent, background, text, ...rest }: AppearanceValues): Appearance {
  const colorOf = (typed: string) => (isColor(typed) ? typed.toLowerCase() : null);
  return {
    ...rest,
    radius: Number.isFinite(rest.radius) ? rest.radius : 0,
    accent: colorOf(accent),
    background: colorOf(background),
    text: colorOf(text),
  };
}

/** Returns the form's name of the field at a JSON pointer into the body. */
export const fieldNameOf = (pointer: string): string => pointer.replace(/^\/appearance\//, '').replaceAll('/', '.');
