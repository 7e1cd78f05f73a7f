import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { bundleGallery, openGallery, show } from './gallery/browser.ts';
import { ARABIC, cardOf, ENGLISH, FOLLOWED, STEPS, stepOf } from './gallery/cards.ts';
import { type Cell, inspect, STATES } from './gallery/matrix.ts';
import { measure } from './gallery/measure.ts';

/** The part of the matrix that every change passes; `npm run gallery` is the whole. */
const CELLS = [280, 375, 1280].flatMap(width =>
  (['light', 'dark'] as const).flatMap(theme =>
    STATES.filter(state => theme === 'light' || state !== 'before').map(
      (state): Cell => ({ width, theme, dir: width === 375 ? 'rtl' : 'ltr', state }),
    ),
  ),
);

describe.runIf(hasBrowser())('the look of cards', () => {
  let browser: Browser;
  let script: string;
  beforeAll(async () => {
    [browser, script] = await Promise.all([openBrowser(), bundleGallery()]);
  });
  afterAll(() => browser?.close());

  test.each(CELLS)('every type at $width px, $theme, $dir, $state', async cell => {
    expect((await inspect(browser, script, cell)).problems).toEqual([]);
  });

  /** Visibility of the actions of a view in the window. */
  const seen = () => {
    const root = document.querySelector('parley-feedback')?.shadowRoot as ShadowRoot;
    const boxOf = (selector: string) => root.querySelector(selector)?.getBoundingClientRect() as DOMRect;
    const [submit, dismiss, title] = [boxOf('[part~=submit]'), boxOf('[part~=dismiss]'), boxOf('[part~=title]')];
    const isInView = ({ top, bottom }: DOMRect) => top >= 0 && bottom <= innerHeight;
    return { submit: isInView(submit), dismiss: isInView(dismiss), overlaps: submit.top < title.bottom };
  };

  test('Send and Not now stay in view on a small phone, below the question', async () => {
    await using watched = await openGallery(browser, script, { viewport: { width: 280, height: 480 } });
    const { page } = watched;
    for (const [name, step] of Object.entries(STEPS).filter(([name]) => name !== 'statement')) {
      await show(page, {
        views: [[cardOf([step])]],
        css: 'body { margin: 8px; font: 16px sans-serif } main { padding-bottom: 2000px }',
      });
      expect(await page.evaluate(seen), name).toEqual({ submit: true, dismiss: true, overlaps: false });
      const boxes = page.getByRole('radio').or(page.getByRole('checkbox'));
      if ((await boxes.count()) > 0) await boxes.last().check();
      await page.evaluate(() => scrollTo(0, 0));
      expect(await page.evaluate(seen), `${name}, chosen`).toEqual({ submit: true, dismiss: true, overlaps: false });
    }
    // A card that begins at the lower edge of the window shows its question first.
    await show(page, { views: [[cardOf([STEPS.multi as never])]], css: 'main { padding: 400px 0 }' });
    expect((await page.evaluate(seen)).overlaps).toBe(false);
  });

  test('one thing at a time: the comment and the text of Other appear when they are needed', async () => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    const focused = () =>
      page.evaluate(() => document.querySelector('parley-feedback')?.shadowRoot?.activeElement?.ariaLabel);
    await show(page, { views: [[cardOf(FOLLOWED)]] });
    expect(await page.getByRole('textbox').count()).toBe(0);
    await page.getByRole('radio', { name: '7 of 10' }).check();
    expect(await page.getByRole('textbox', { name: 'Anything to add? (optional)' }).isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Next' }).click();
    expect(await page.getByRole('textbox').count()).toBe(0);
    await page.locator('fieldset:not([hidden]) [part=optional]').getByText('(optional)').waitFor();

    for (const name of ['single', 'multi'] as const) {
      await show(page, { views: [[cardOf([STEPS[name] as never])]] });
      expect(await page.getByRole('textbox').count()).toBe(0);
      await page.getByLabel('Other').check();
      expect(await focused()).toBe('Please specify');
      await page.getByLabel('Reports').check();
      expect(await page.getByRole('textbox').count()).toBe(name === 'single' ? 0 : 1);
    }
  });

  test('digits answer a scale, and Enter sends', async () => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    await show(page, {
      views: [[cardOf([STEPS.nps as never], { thanks: { title: 'Thanks!' } }), cardOf([STEPS.csat as never])]],
    });
    await page.getByRole('radio', { name: '3 of 10' }).focus();
    await page.keyboard.press('0');
    expect(await page.getByRole('radio', { name: '0 of 10, Not at all likely' }).isChecked()).toBe(true);
    await page.keyboard.press('Control+5'); // the browser's
    await page.keyboard.press('8');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByText('Thanks!').waitFor();
    await page.getByRole('button', { name: 'Close' }).press('Enter');
    await page.getByRole('heading', { name: STEPS.csat?.title as string }).waitFor();
    await page.keyboard.press('6'); // not on this scale
    await page.keyboard.press('4');
    expect(await page.getByRole('radio', { name: '4 of 5' }).isChecked()).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByText('Thank you for your feedback.').waitFor();
    const recorded = await page.evaluate(() => window.gallery.recorded.filter(({ state }) => state === 'completed'));
    expect(recorded.map(({ values }) => values)).toEqual([{ main: 9 }, { main: 4 }]);
  });

  test('the thanks of a question come before the next card, stay while used, and give the focus back', async () => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    const thanks = {
      title: 'Thank you, that helps.',
      body: 'We read every answer.',
      link: { label: 'See what we changed', url: 'https://example.com/changes' },
    };
    const hostile = { title: '<b>Hm</b>', link: { label: 'click', url: 'javascript:alert(1)' } };
    await page.clock.install();
    await show(page, {
      views: [[cardOf([STEPS.thumbs as never], { thanks }), cardOf([STEPS.consent as never], { thanks: hostile })]],
    });
    await page.evaluate(() => {
      const button = Object.assign(document.createElement('button'), { id: 'own', textContent: 'Of the app' });
      document.querySelector('main')?.prepend(button);
      button.focus();
    });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await page.getByText(thanks.body).waitFor();
    const link = page.getByRole('link', { name: thanks.link.label });
    expect(await link.getAttribute('href')).toBe(thanks.link.url);
    await link.focus();
    await page.clock.runFor(20_000);
    expect(await link.isVisible()).toBe(true);
    await page.locator('[part=title]').focus();
    await page.clock.runFor(11_000);
    await page.getByRole('heading', { name: STEPS.consent?.title as string }).waitFor();
    await page.getByRole('checkbox').press('Space');
    await page.keyboard.press('Enter');
    await page.getByText('<b>Hm</b>').waitFor();
    expect(await page.getByRole('link').count()).toBe(0);
    await page.clock.runFor(6000);
    await page.getByText('<b>Hm</b>').waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('own');
  });

  test('"optional" is as light after the label of the comment as after a title, and the thanks have a simple focus ring', async () => {
    await using watched = await openGallery(browser, script, { viewport: { width: 280, height: 800 } });
    const { page } = watched;
    const thanks = { title: 'Thank you, that helps us a great deal.', body: null, link: null } as never;
    await show(page, { views: [[cardOf([stepOf('thumbs', 'Helpful?', { required: false })], { thanks })]] });
    await page.getByRole('radio').first().check();
    const weights = await page
      .getByText('(optional)')
      .evaluateAll(nodes => nodes.map(node => getComputedStyle(node).fontWeight));
    expect(weights).toEqual(['400', '400']);
    await page.keyboard.press('Enter');
    const title = page.getByText('Thank you');
    await title.waitFor();
    expect(await title.evaluate(node => node.closest('[part~=title]')?.getClientRects().length)).toBe(1);
  });

  test('a card that is declined is not thanked for', async () => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    await show(page, { views: [[cardOf([STEPS.nps as never])]] });
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.locator('parley-feedback[data-state=empty]').waitFor({ state: 'attached' });
    expect(await page.getByText('Thank you').count()).toBe(0);
  });

  /** Style sheets that a page should not have, and some have. */
  const HOSTILE = {
    'unsets everything': '* { all: unset }',
    'keeps words together': '* { white-space: nowrap; text-indent: 60px; text-transform: uppercase }',
    'has a large font': '* { font-size: 30px }',
    'hides buttons and inputs': 'button, input, label, fieldset { display: none !important }',
    'puts the view into a row': 'main { display: flex } main::before { content: "Menu"; flex: none; width: 90px }',
  };

  test.each(Object.entries(HOSTILE))('a page that %s changes neither boxes nor targets', async (_, css) => {
    await using watched = await openGallery(browser, script, { viewport: { width: 375, height: 3600 } });
    const { page } = watched;
    await show(page, {
      views: Object.values(STEPS).map(step => [cardOf([step])]),
      css: `${css}\nmain { flex-direction: column }`,
    });
    expect(await page.evaluate(measure)).toEqual([]);
    await page.getByRole('radio', { name: '9 of 10' }).first().check();
    expect(await page.getByRole('button', { name: 'Send' }).count()).toBe(Object.keys(STEPS).length - 1);
  });

  test('long words and long options wrap, at 400 % zoom too', async () => {
    await using watched = await openGallery(browser, script, { viewport: { width: 280, height: 3600 } });
    const { page } = watched;
    const word = 'Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz';
    const options = [word, 'x'.repeat(200), `${'Wort '.repeat(40)}`].map((label, index) => ({ id: `${index}`, label }));
    const labels = { low: word, high: `sehr ${word.toLowerCase()}` };
    const steps = [
      stepOf('nps', word, { description: word.repeat(3), config: { labels } }),
      stepOf('rating', word, { config: { style: 'star', scale: 10, labels } }),
      stepOf('multi_choice', word, { config: { options, allow_other: true } }),
      stepOf('statement', word, { config: { url: 'https://example.com' } }),
    ];
    for (const dir of ['ltr', 'rtl'] as const) {
      await show(page, { views: steps.map(step => [cardOf([step])]), dir, lang: 'de', css: 'body { margin: 0 }' });
      expect(await page.evaluate(measure)).toEqual([]);
    }
  });

  test('a right-to-left page mirrors the card, and the scale keeps its order of value', async () => {
    await using watched = await openGallery(browser, script, { viewport: { width: 375, height: 800 } });
    const { page } = watched;
    await show(page, { views: [[cardOf([STEPS.nps as never])]], dir: 'rtl', lang: 'ar' });
    const leftOf = (name: string) =>
      page.getByRole('radio', { name, exact: true }).evaluate(node => node.getBoundingClientRect().left);
    expect(await leftOf('0 من 10, Not at all likely')).toBeGreaterThan(await leftOf('10 من 10, Extremely likely'));
    expect(
      await page
        .locator('[part=ends] span')
        .first()
        .evaluate(node => node.textContent),
    ).toBe('Not at all likely');
    await page.getByRole('radio').first().focus();
    await page.keyboard.press('4');
    await page.keyboard.press('ArrowDown'); // the next value, in both directions
    expect(await page.getByRole('radio', { name: '5 من 10' }).isChecked()).toBe(true);
    await page.getByRole('button', { name: 'إرسال' }).waitFor();
  });

  /** The texts of the views whose last character, a punctuation mark, is not at their end, or that are not at the edge. */
  const misplaced = (side: 'left' | 'right') => {
    const faults: string[] = [];
    for (const view of document.querySelectorAll('parley-feedback')) {
      const root = view.shadowRoot as ShadowRoot;
      const edge = root.querySelector('[part~=step], [part=thanks] > div')?.getBoundingClientRect()[side] as number;
      const nodes = document.createTreeWalker(root.querySelector('[part~=frame]') as Element, NodeFilter.SHOW_TEXT);
      for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
        const text = node.textContent as string;
        const parent = node.parentElement?.closest('[part]') as Element;
        if (!parent.matches('[part=title], [part=description], [part=option], [part=ends]')) continue;
        const boxOf = (from: number, to: number) => {
          const range = document.createRange();
          range.setStart(node as Node, from);
          range.setEnd(node as Node, to);
          return range.getBoundingClientRect();
        };
        const whole = boxOf(0, text.length);
        const last = boxOf(text.length - 1, text.length);
        const isAtEnd = /[\u0600-\u06ff]/.test(text) ? last.left < whole.left + 1 : last.right > whole.right - 1;
        if (/[?!.)؟]$/.test(text) && !isAtEnd) faults.push(text);
        const isAligned = Math.abs(whole[side] - edge) < 1;
        if (parent.matches('[part=title], [part=description]') && !isAligned) faults.push(`${text} at ${whole[side]}`);
      }
    }
    return faults;
  };

  test.each([
    ['English', 'rtl', ENGLISH, 'Thank you, that helps!'],
    ['Arabic', 'ltr', ARABIC, 'شكرًا لك!'],
    ['English', 'ltr', ENGLISH, 'Thank you, that helps!'],
    ['Arabic', 'rtl', ARABIC, 'شكرًا لك!'],
  ] as const)('a card in %s on a page that is %s has its punctuation at the end', async (_, dir, steps, title) => {
    const [lang, side] = dir === 'rtl' ? (['ar', 'right'] as const) : (['en', 'left'] as const);
    await using watched = await openGallery(browser, script, { viewport: { width: 700, height: 3000 } });
    const { page } = watched;
    await show(page, { views: steps.map(step => [cardOf([step], { thanks: { title, body: title } })]), dir, lang });
    expect(await page.evaluate(misplaced, side)).toEqual([]);
    await page.getByRole('radio').first().check();
    await page.locator('[part~=submit]').first().click();
    await page.locator('[part=thanks]').waitFor();
    expect(await page.evaluate(misplaced, side)).toEqual([]);
  });

  test('the tenant sets colors, corners and theme; the variables of the app come first', async () => {
    await using watched = await openGallery(browser, script, { colorScheme: 'dark' });
    const { page } = watched;
    const appearance = {
      accent: '#facc15',
      background: null,
      text: null,
      radius: 3,
      font: 'system',
      placement: 'inline',
    } as const;
    const styles = () =>
      page.evaluate(() => {
        const root = document.querySelector('parley-feedback')?.shadowRoot as ShadowRoot;
        const styleOf = (part: string) => getComputedStyle(root.querySelector(`[part~=${part}]`) as Element);
        const { backgroundColor, color } = styleOf('submit');
        return [backgroundColor, color, styleOf('card').borderRadius, styleOf('frame').colorScheme];
      });
    const view = [cardOf([STEPS.nps as never])];
    await show(page, { views: [view], appearance: { ...appearance, theme: 'light' } });
    expect(await styles()).toEqual(['rgb(250, 204, 21)', 'rgb(0, 0, 0)', '3px', 'light']);
    const css =
      'body { background: oklch(0.97 0.01 90) } parley-feedback { --parley-accent: #123456; --parley-radius: 9px }';
    await show(page, { views: [view], appearance: { ...appearance, theme: 'page' }, css });
    expect(await styles()).toEqual(['rgb(18, 52, 86)', 'rgb(255, 255, 255)', '9px', 'light']);
    await show(page, {
      views: [view],
      appearance: { ...appearance, accent: 'red;}', theme: 'page' },
      css: 'main { background: #111 }',
    });
    expect(await styles()).toEqual(['rgb(37, 99, 235)', 'rgb(255, 255, 255)', '3px', 'dark']);
    await show(page, { views: [view] }); // a server before 0.2
    expect(await styles()).toEqual(['rgb(37, 99, 235)', 'rgb(255, 255, 255)', '12px', 'normal']);
  });
});
