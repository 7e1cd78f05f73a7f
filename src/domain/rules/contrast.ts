/** Colors and their contrast (WCAG 2.2). A color is `#rrggbb` in lower case. */
export type Color = string;

/** Minimum contrast of text, and of parts that show a state, such as the chosen point of a scale (WCAG 2.2, 1.4.3 and 1.4.11, level AA). */
export const TEXT_CONTRAST = 4.5;
export const PART_CONTRAST = 3;

export const BLACK: Color = '#000000';
export const WHITE: Color = '#ffffff';

type Triple = [number, number, number];

/** Returns red, green and blue from 0 to 1 as light, without the gamma of sRGB. */
const toLight = (color: Color): Triple =>
  [1, 3, 5]
    .map(at => Number.parseInt(color.slice(at, at + 2), 16) / 255)
    .map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as Triple;

const fromLight = (light: Triple): Color =>
  `#${light
    .map(part => (part <= 0.0031308 ? part * 12.92 : 1.055 * part ** (1 / 2.4) - 0.055))
    .map(part => Math.round(Math.min(1, Math.max(0, part)) * 255))
    .map(part => part.toString(16).padStart(2, '0'))
    .join('')}`;

/** Returns the relative luminance, from 0 for black to 1 for white. */
function luminanceOf(color: Color): number {
  const [red, green, blue] = toLight(color);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast of two colors, from 1 to 21. */
export function contrastOf(one: Color, other: Color): number {
  const [a, b] = [luminanceOf(one), luminanceOf(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** Returns black or white, whichever is easier to read on the color. Its contrast is always above 4.58. */
export const readableOn = (color: Color): Color =>
  contrastOf(BLACK, color) >= contrastOf(WHITE, color) ? BLACK : WHITE;

const combine = ([x, y, z]: Triple, rows: Triple[]): Triple => rows.map(([a, b, c]) => a * x + b * y + c * z) as Triple;

/** Returns the color in OKLab (Björn Ottosson, 2020): lightness from 0 to 1, green to red, blue to yellow. */
const toLab = (color: Color): Triple =>
  combine(
    combine(toLight(color), [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ]).map(Math.cbrt) as Triple,
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
  );

const labToLight = (lab: Triple): Triple =>
  combine(
    combine(lab, [
      [1, 0.3963377774, 0.2158037573],
      [1, -0.1055613458, -0.0638541728],
      [1, -0.0894841775, -1.291485548],
    ]).map(part => part ** 3) as Triple,
    [
      [4.0767416621, -3.3077115913, 0.2309699292],
      [-1.2684380046, 2.6097574011, -0.3413193965],
      [-0.0041960863, -0.7034186147, 1.707614701],
    ],
  );

const isDisplayable = (light: Triple): boolean => light.every(part => part > -0.0005 && part < 1.0005);

/** Halvings of the interval in which the saturation is found: beyond a step of 8-bit colors. */
const HALVINGS = 10;

/** Returns the color of that lightness and the hue of `a` and `b`, as saturated as displays allow but at most as they are. */
function withLightness(lightness: number, a: number, b: number): Color {
  const at = (share: number) => labToLight([lightness, a * share, b * share]);
  if (isDisplayable(at(1))) return fromLight(at(1));
  let [possible, impossible] = [0, 1];
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (possible + impossible) / 2;
    if (isDisplayable(at(middle))) possible = middle;
    else impossible = middle;
  }
  return fromLight(at(possible));
}

const STEPS = 512;

/**
 * Returns the color nearest to `color` that passes, of the same hue but lighter or darker; `undefined` if no lightness
 * passes. A color that passes is its own nearest. Distances are those of OKLab.
 */
export function nearestColor(color: Color, passes: (color: Color) => boolean): Color | undefined {
  if (passes(color)) return color;
  const lab = toLab(color);
  const distance = (other: Color) => Math.hypot(...toLab(other).map((part, index) => part - (lab[index] as number)));
  const candidates = Array.from({ length: STEPS + 1 }, (_, step) => withLightness(step / STEPS, lab[1], lab[2]));
  return candidates.filter(passes).sort((one, other) => distance(one) - distance(other))[0];
}
