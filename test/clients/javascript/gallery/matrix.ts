import type { Browser, Page } from 'playwright-core';
import { axeViolations } from '../../../support/browser.ts';
import { openGallery, show } from './browser.ts';
import { cardOf, STEPS } from './cards.ts';
import { measure } from './measure.ts';

export const WIDTHS = [280, 320, 375, 768, 1280];
export const THEMES = ['light', 'dark', 'forced'] as const;
export const DIRECTIONS = ['ltr', 'rtl'] as const;
export const STATES = ['before', 'chosen', 'error', 'thanks'] as const;

/** The page of an app, with the cards of every type one below the other, or next to each other if it is wide. */
const PAGE =
  'body { margin: 0; font: 16px/1.4 sans-serif } main { display: grid; gap: 8px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 380px), 1fr)); align-items: start }';

export interface Cell {
  width: number;
  theme: (typeof THEMES)[number];
  dir: (typeof DIRECTIONS)[number];
  state: (typeof STATES)[number];
}

export const nameOf = ({ width, theme, dir, state }: Cell): string => `${width} px, ${theme}, ${dir}, ${state}`;

/** Chooses the last option, or the third point, of each card that has some. */
function choose(): void {
  for (const view of document.querySelectorAll('parley-feedback')) {
    const boxes = [
      ...(view.shadowRoot as ShadowRoot).querySelectorAll<HTMLInputElement>('[type=radio], [type=checkbox]'),
    ];
    (boxes[0]?.closest('[part~=point]') && boxes[2] ? boxes[2] : boxes.at(-1))?.click();
  }
}

function submit(): void {
  for (const view of document.querySelectorAll('parley-feedback'))
    view.shadowRoot?.querySelector<HTMLElement>('[part~=submit]')?.click();
}

/** Completes each card with a valid answer. */
function complete(): void {
  for (const view of document.querySelectorAll('parley-feedback')) {
    const root = view.shadowRoot as ShadowRoot;
    const fill = (selector: string, value: string) => {
      const field = root.querySelector<HTMLInputElement>(selector);
      if (field) field.value = value;
    };
    root.querySelector<HTMLElement>('[type=radio], [type=checkbox]')?.click();
    fill('fieldset textarea', 'Dark mode.');
    fill('[type=date]', '2026-12-01');
    root.querySelector<HTMLElement>('[part~=submit]')?.click();
  }
}

async function enter(page: Page, state: Cell['state']): Promise<void> {
  if (state === 'chosen') await page.evaluate(choose);
  if (state === 'error') await page.evaluate(submit);
  if (state === 'thanks') {
    await page.evaluate(complete);
    await page.waitForFunction(() => !document.querySelector('parley-feedback:not([data-state=thanks])'));
  }
}

/** The thanks of one question has all parts. */
const THANKS = {
  title: 'Thank you, that helps.',
  body: 'We read every answer.',
  link: { label: 'See what we changed', url: 'https://example.com/changes' },
};

export interface Inspected {
  problems: string[];
  /** Screenshot of the page as PNG. */
  picture: Buffer;
}

/** Shows a card of each type in one state, measures it, and looks for violations with axe. */
export async function inspect(browser: Browser, script: string, cell: Cell): Promise<Inspected> {
  const { width, theme, dir, state } = cell;
  const watched = await openGallery(browser, script, {
    viewport: { width, height: 3600 }, // the actions of a card at the lower edge of a window would be higher up
    colorScheme: theme === 'dark' ? 'dark' : 'light',
    forcedColors: theme === 'forced' ? 'active' : 'none',
  });
  const { page, complaints } = watched;
  try {
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 1000); // the thanks stay
    const steps = Object.entries(STEPS).filter(([name]) => state !== 'error' || name !== 'statement');
    const views = steps.map(([name, step]) => [cardOf([step], { thanks: name === 'csat' ? THANKS : null })]);
    await show(page, { views, dir, lang: dir === 'rtl' ? 'ar' : 'en', css: PAGE });
    await enter(page, state);
    const problems = [
      ...(await page.evaluate(measure)),
      ...(await axeViolations(watched, ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])),
    ];
    return { problems: [...problems, ...complaints], picture: await page.screenshot({ fullPage: true }) };
  } finally {
    await page.context().close();
  }
}
