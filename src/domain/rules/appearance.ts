import { z } from 'zod';
import { Problem } from '../problem.ts';
import { contrastOf, nearestColor, PART_CONTRAST, readableOn, TEXT_CONTRAST, WHITE } from './contrast.ts';

/** Where a card appears (contract section 7). */
export const PLACEMENTS = [
  'inline',
  'popover-top-left',
  'popover-top-center',
  'popover-top-right',
  'popover-bottom-left',
  'popover-bottom-center',
  'popover-bottom-right',
  'modal',
  'button',
] as const;
export const Placement = z.enum(PLACEMENTS).meta({
  id: 'Placement',
  description:
    'Where a card appears: within the page, at an edge of the window, above a dimmed page, or after a press on a feedback button',
});
export type Placement = z.infer<typeof Placement>;

const Color = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, 'Must be a color of the form #rrggbb, such as #1d4ed8.')
  .toLowerCase()
  .meta({ id: 'Color', description: 'Red, green and blue: `#rrggbb`', example: '#0f766e' });

const fields = {
  theme: z.enum(['auto', 'light', 'dark', 'page']).meta({
    description:
      'Colors that are not set: `auto` follows the system of the visitor, `page` the background of the page around the card',
  }),
  accent: Color.nullable().meta({
    description:
      'Color of chosen values and of the main button; null: that of the theme, or with a color of your own the text color. Text on it is black or white',
  }),
  background: Color.nullable().meta({
    description:
      'Background of the card in every theme; null: that of the theme, which with `auto` and `page` becomes black or white below a `text` color',
  }),
  text: Color.nullable().meta({
    description: 'Color of texts in every theme; null: that of the theme, or black or white on a `background` color',
  }),
  radius: z.int().min(0).max(24).meta({ description: 'Radius of corners in CSS pixels or points' }),
  font: z.enum(['inherit', 'system']).meta({ description: 'Font of the app around the card, or of the system' }),
  placement: Placement,
};

/** How cards look. */
export const Appearance = z.object(fields).meta({
  id: 'Appearance',
  description: 'How cards of the tenant look. In card lists with the colors that follow from others',
  example: { theme: 'light', accent: '#0f766e', radius: 12 },
});
export type Appearance = z.output<typeof Appearance>;

/** A change of the appearance; omitted fields stay. */
export const AppearancePatch = z.strictObject(fields).partial().meta({ id: 'AppearancePatch' });
export type AppearancePatch = z.output<typeof AppearancePatch>;

export const DEFAULT_APPEARANCE: Appearance = {
  theme: 'auto',
  accent: null,
  background: null,
  text: null,
  radius: 12,
  font: 'inherit',
  placement: 'inline',
};

/** Returns the complete appearance of a tenant that has stored these fields. */
export const completeAppearance = (stored: Partial<Appearance>): Appearance => ({ ...DEFAULT_APPEARANCE, ...stored });

type Scheme = 'light' | 'dark';

/** The backgrounds of the themes. Of the dark ones that clients use, the lightest: an accent that is visible on it is so on darker ones. */
const BACKGROUNDS: Record<Scheme, string> = { light: WHITE, dark: '#1e1e1e' };

const SCHEMES: Record<Appearance['theme'], readonly Scheme[]> = {
  auto: ['light', 'dark'],
  page: ['light', 'dark'],
  light: ['light'],
  dark: ['dark'],
};

/**
 * Returns the appearance as clients draw it, with the colors that follow from others: a text that is readable on a
 * background of the tenant, or the reverse if both themes are used, and with either of them the accent.
 */
export function drawnAppearance(appearance: Appearance): Appearance {
  const isFixed = SCHEMES[appearance.theme].length === 1;
  const background = appearance.background ?? (appearance.text && !isFixed ? readableOn(appearance.text) : null);
  const text = appearance.text ?? (background && readableOn(background));
  return { ...appearance, background, text, accent: appearance.accent ?? text };
}

/** A color with too little contrast. */
export interface ContrastFault {
  field: 'text' | 'accent';
  color: string;
  /** The background of a theme in which the contrast is lowest. */
  background: string;
  scheme: Scheme;
  ratio: number;
  required: number;
  /** The nearest color that passes in every theme. */
  nearest: string;
}

const REQUIRED = { text: TEXT_CONTRAST, accent: PART_CONTRAST } as const;

/**
 * Returns the colors whose contrast with the background is below WCAG AA in a theme in which the card may appear: texts
 * below 4.5:1, the accent below 3:1.
 */
export function findContrastFaults(appearance: Appearance): ContrastFault[] {
  const { background } = drawnAppearance(appearance);
  const backgrounds = SCHEMES[appearance.theme].map(scheme => ({
    scheme,
    background: background ?? BACKGROUNDS[scheme],
  }));
  return (['text', 'accent'] as const).flatMap(field => {
    const color = appearance[field];
    if (!color) return [];
    const required = REQUIRED[field];
    const [lowest] = backgrounds
      .map(each => ({ ...each, ratio: contrastOf(color, each.background) }))
      .sort((one, other) => one.ratio - other.ratio);
    if (!lowest || lowest.ratio >= required) return [];
    const passes = (other: string) => backgrounds.every(each => contrastOf(other, each.background) >= required);
    const nearest = nearestColor(color, passes) ?? readableOn(lowest.background);
    return [{ field, color, required, nearest, ...lowest }];
  });
}

/** The fields that decide the contrast, in the order in which a fault is attributed to one that was sent. */
const COLOR_FIELDS = ['background', 'theme', 'text', 'accent'] as const;

const round = (ratio: number): number => Math.floor(ratio * 100) / 100;

/** Describes a fault. The theme matters only if the background is its own. */
function sentenceOf(fault: ContrastFault, { background }: Appearance): string {
  const { field, color, scheme, ratio, required, nearest } = fault;
  const on = `${fault.background}${background ? '' : ` of the ${scheme} theme`}`;
  return `The ${field} color ${color} has a contrast of ${round(ratio)}:1 with the background ${on}; at least ${required}:1 is required. The nearest color that passes is ${nearest}.`;
}

/**
 * Returns an appearance with a change. Throws 422 `low-contrast` if the change makes colors hard to read; `contrasts` in
 * the problem has the numbers.
 */
export function changeAppearance(before: Appearance, change: AppearancePatch): Appearance {
  const after = { ...before, ...change };
  const sent = COLOR_FIELDS.filter(field => change[field] !== undefined);
  const faults = sent.length === 0 ? [] : findContrastFaults(after);
  if (faults.length === 0) return after;
  const pointerOf = ({ field }: ContrastFault) => `/appearance/${change[field] === undefined ? sent[0] : field}`;
  throw new Problem('validation-failed', 'Colors of the appearance are hard to read.', {
    errors: faults.map(fault => ({
      pointer: pointerOf(fault),
      code: 'low-contrast',
      detail: sentenceOf(fault, after),
    })),
    extra: {
      contrasts: faults.map(({ field, ratio, required, nearest }) => ({
        field,
        ratio: round(ratio),
        required,
        nearest,
      })),
    },
  });
}
