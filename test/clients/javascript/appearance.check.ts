import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Appearance, Card, Placement, Thanks } from '../../../clients/javascript/src/index.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { contract } from '../contract.ts';
import { bundleGallery, openGallery, show } from './gallery/browser.ts';
import { cardOf, STEPS } from './gallery/cards.ts';

interface Drawn {
  name: string;
  appearance?: Appearance;
  system: 'light' | 'dark';
  behind?: string;
  expect: {
    scheme: 'light' | 'dark';
    accent: string | null;
    on_accent: string | null;
    background: string | null;
    text: string | null;
    radius: number | null;
    font: 'inherit' | 'system';
  };
}

interface Thanked {
  name: string;
  thanks?: Thanks | null;
  expect: Thanks | null;
}

interface Placed {
  name: string;
  card?: string | null;
  tenant?: string;
  expect: Placement;
}

const CASES: { drawn: Drawn[]; thanks: Thanked[]; placed: Placed[] } = contract('appearance');

/** The computed look of the card in a page. */
const lookOf = (page: Page) =>
  page.evaluate(() => {
    const root = document.querySelector('parley-feedback')?.shadowRoot as ShadowRoot;
    const styleOf = (part: string) => getComputedStyle(root.querySelector(`[part~=${part}]`) as Element);
    const [frame, card, submit] = [styleOf('frame'), styleOf('card'), styleOf('submit')];
    return {
      scheme: frame.colorScheme,
      accent: submit.backgroundColor,
      on_accent: submit.color,
      background: card.backgroundColor,
      text: frame.color,
      radius: card.borderRadius,
      isSystemFont: frame.fontFamily.startsWith('system-ui'),
    };
  });

const toCss = (color: string): string =>
  `rgb(${[1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16)).join(', ')})`;

describe.runIf(hasBrowser())('the cases of appearance.json', () => {
  let browser: Browser;
  let script: string;
  beforeAll(async () => {
    [browser, script] = await Promise.all([openBrowser(), bundleGallery()]);
  });
  afterAll(() => browser?.close());

  test.each(CASES.drawn)('drawn: $name', async ({ appearance, system, behind, expect: expected }) => {
    await using watched = await openGallery(browser, script, { colorScheme: system });
    const { page } = watched;
    const views = [[cardOf([STEPS.nps as never])]];
    const css = 'body { font-family: serif }';
    await show(page, { views, css, appearance: { theme: expected.scheme } as Appearance });
    const own = await lookOf(page);
    // An appearance places the card: here, all are shown in the page.
    const attributes = { placement: 'inline' };
    await show(page, { views, attributes, appearance, css: behind ? `${css} main { background: ${behind} }` : css });
    const { scheme, ...look } = await lookOf(page);
    expect(['light', 'dark'].includes(scheme) ? scheme : system).toBe(expected.scheme);
    const { accent, on_accent, background, text, radius, font } = expected;
    expect(look).toEqual({
      accent: accent ? toCss(accent) : own.accent,
      on_accent: on_accent ? toCss(on_accent) : own.on_accent,
      background: background ? toCss(background) : own.background,
      text: text ? toCss(text) : own.text,
      radius: radius === null ? own.radius : `${radius}px`,
      isSystemFont: font === 'system',
    });
  });

  test.each(CASES.thanks)('thanks: $name', async ({ thanks, expect: expected }) => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    const { thanks: _, ...card } = cardOf([STEPS.nps as never]);
    await show(page, { views: [[thanks === undefined ? card : { ...card, thanks }]] });
    await page.getByRole('radio').last().check();
    await page.getByRole('button', { name: 'Send' }).click();
    const panel = page.locator('[part=thanks]');
    expect(await panel.locator('[part=title]').textContent()).toBe(expected?.title ?? 'Thank you for your feedback.');
    const bodies = panel.locator('[part=description]');
    expect(await bodies.allTextContents()).toEqual(expected?.body ? [expected.body] : []);
    const links = await panel.locator('a').evaluateAll(all => all.map(a => [a.textContent, a.getAttribute('href')]));
    expect(links).toEqual(expected?.link ? [[expected.link.label, expected.link.url]] : []);
  });

  test.each(CASES.placed)('placed: $name', async ({ card, tenant, expect: expected }) => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    const { placement: _, ...rest } = cardOf([STEPS.nps as never]);
    const views = [[(card === undefined ? rest : { ...rest, placement: card }) as Card]];
    await show(page, { views, ...(tenant ? { appearance: { placement: tenant } as Appearance } : {}) });
    const panels = page.locator('[part=panel]');
    const places = await panels.evaluateAll(all => all.map(panel => panel.getAttribute('data-at')));
    expect(places).toEqual(expected === 'inline' ? [] : [expected]);
  });

  test('an unknown placement of the element counts as not set', async () => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    await show(page, {
      views: [[cardOf([STEPS.nps as never], { placement: 'modal' })]],
      attributes: { placement: 'banner' },
    });
    expect(await page.locator('[part=panel]').getAttribute('data-at')).toBe('modal');
  });
});
