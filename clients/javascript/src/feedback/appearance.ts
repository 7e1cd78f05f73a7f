import type { Appearance } from '../types.ts';
import { parentOf } from './dom.ts';

/** Red, green, blue and alpha (0 to 255) of any CSS color. */
function pixelOf(color: string): Uint8ClampedArray {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (!canvas) return new Uint8ClampedArray(4);
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  return canvas.getImageData(0, 0, 1, 1).data;
}

/** Whether black text on the color has more contrast than white text, by the relative luminance of WCAG. */
function isBright([red = 0, green = 0, blue = 0]: Uint8ClampedArray): boolean {
  const linear = (channel: number) => ((channel / 255 + 0.055) / 1.055) ** 2.4;
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) > 0.1791;
}

/** The color scheme that fits the background behind an element; without one, that of the page. */
function schemeBehind(node: Element): string {
  for (let behind: Element | undefined = node; behind; behind = parentOf(behind)) {
    const pixel = pixelOf(getComputedStyle(behind).backgroundColor);
    if ((pixel[3] ?? 0) > 127) return isBright(pixel) ? 'light' : 'dark';
  }
  return 'inherit';
}

/** An unknown theme of a newer server is `auto`. */
const schemeOf = (host: Element, theme: string): string =>
  theme === 'page' ? schemeBehind(host) : /^(light|dark)$/.test(theme) ? theme : 'light dark';

/** Draws everything in an element of the host with the tenant's appearance. The app's own variables (`--parley-accent`) come first. */
export function applyAppearance(
  { style }: HTMLElement,
  host: Element,
  { theme, accent, background, text, radius, font }: Appearance,
): void {
  /** An empty value removes the property. */
  const set = (name: string, value: string | null) =>
    style.setProperty(name, /^(#[\da-f]{6}|\d+px)$/i.test(`${value}`) ? value : '');
  set('--_a', accent);
  set('--_b', background);
  set('--_t', text);
  set('--_r', `${radius}px`);
  const shown = getComputedStyle(host).getPropertyValue('--parley-accent').trim() || style.getPropertyValue('--_a');
  set('--_o', shown && (isBright(pixelOf(shown)) ? '#000000' : '#ffffff'));
  style.colorScheme = schemeOf(host, theme);
  style.fontFamily = font === 'system' ? 'system-ui, sans-serif' : '';
}
