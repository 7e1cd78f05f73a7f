import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Card } from '../../../clients/javascript/src/index.ts';
import { expectNoViolations } from '../../support/browser.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { bundleGallery, openGallery, show } from './gallery/browser.ts';
import { cardOf, FOLLOWED, STEPS, stepOf } from './gallery/cards.ts';

const snapshot = (page: Page) => page.locator('main').ariaSnapshot();
const points = ['0 of 10, Not at all likely', ...Array.from({ length: 9 }, (_, index) => `${index + 1} of 10`)];
const radios = (checked?: string) =>
  [...points, '10 of 10, Extremely likely']
    .map(name => `      - radio "${name}"${name === checked ? ' [checked]' : ''}`)
    .join('\n');

describe.runIf(hasBrowser())('the use of cards', () => {
  let browser: Browser;
  let script: string;
  beforeAll(async () => {
    [browser, script] = await Promise.all([openBrowser(), bundleGallery()]);
  });
  afterAll(() => browser?.close());

  test('a screen reader has names of groups, positions, errors and thanks', async () => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    const [main, reason] = FOLLOWED.map(({ title }) => title) as [string, string];
    const thanks = {
      title: 'Thank you!',
      body: 'We read it.',
      link: { label: 'Changes', url: 'https://example.com/c' },
    };
    await show(page, { views: [[cardOf(FOLLOWED, { thanks })]] });
    const group = (content: string) => `    - paragraph: Step 1 of 3
    - group "${main}":
      - heading "${main}" [level=2]
${content}
      - paragraph: Not at all likely Extremely likely`;
    expect(await snapshot(page)).toContain(group(radios()));
    await page.getByRole('button', { name: 'Next' }).click();
    expect(await snapshot(page)).toContain(`${group(radios())}\n      - alert: Please answer the question.`);
    await page.getByRole('radio', { name: '6 of 10' }).click();
    const chosen = await snapshot(page);
    expect(chosen).toContain(`${group(radios('6 of 10'))}\n    - text: Anything to add? (optional)`); // no alert any more
    await page.getByRole('button', { name: 'Next' }).click();
    expect(await snapshot(page)).toContain(`    - paragraph: Step 2 of 3
    - group "${reason} (optional)":
      - heading "${reason}" [level=2]
      - text: (optional)
      - checkbox "Reports"`);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    expect(await snapshot(page)).toContain(`  - status:
    - paragraph: Thank you!
    - paragraph: We read it.
    - paragraph:
      - link "Changes":`);
  });

  test('a digit of a text selects no option, whatever the ids of the options', async () => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    await show(page, { views: [[cardOf([STEPS.single as never])]] });
    await page.getByRole('radio', { name: 'Other' }).check();
    await page.keyboard.type('13');
    expect(await page.getByRole('textbox', { name: 'Please specify' }).inputValue()).toBe('13');
    expect(await page.getByRole('radio', { name: 'Other' }).isChecked()).toBe(true);
  });

  /** Dispatches a key on the control that has the focus, at a time in milliseconds. */
  const pressAt = (page: Page, key: string, at: number) =>
    page.evaluate(
      ([key, at]) => {
        const event = new KeyboardEvent('keydown', { key, bubbles: true, composed: true, cancelable: true });
        Object.defineProperty(event, 'timeStamp', { value: at });
        document.querySelector('parley-feedback')?.shadowRoot?.activeElement?.dispatchEvent(event);
      },
      [key, at] as const,
    );
  const checked = (page: Page) =>
    page
      .getByRole('radio', { checked: true })
      .evaluateAll(all => all.map(radio => (radio as HTMLInputElement).value).join());

  test.each([
    [
      '10 at once',
      [
        ['1', 0],
        ['0', 1],
      ],
      '10',
    ],
    [
      '10 within a second',
      [
        ['1', 0],
        ['0', 999],
      ],
      '10',
    ],
    [
      '0 after a second',
      [
        ['1', 0],
        ['0', 1001],
      ],
      '0',
    ],
    [
      '1, 1, 0',
      [
        ['1', 0],
        ['1', 900],
        ['0', 1800],
      ],
      '10',
    ],
    [
      '1, Shift, 0',
      [
        ['1', 0],
        ['Shift', 100],
        ['0', 200],
      ],
      '10',
    ],
    [
      '1, 5, 0',
      [
        ['1', 0],
        ['5', 100],
        ['0', 200],
      ],
      '0',
    ],
    [
      '1, 0, 0',
      [
        ['1', 0],
        ['0', 100],
        ['0', 200],
      ],
      '0',
    ],
  ] as [string, [string, number][], string][])('%s typed on a scale to 10', async (_, keys, point) => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    await show(page, { views: [[cardOf([STEPS.nps as never])]] });
    await page.getByRole('radio', { name: '5 of 10' }).focus(); // the first digit moves the focus
    for (const [key, at] of keys) await pressAt(page, key, at);
    expect(await checked(page)).toBe(point);
  });

  test('10 is typed from the title, on the keypad, on ten stars and in a moved element; a scale to 7 has none', async () => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    await show(page, { views: [[cardOf(FOLLOWED)]] });
    await page.getByRole('radio', { name: '5 of 10' }).check();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Back' }).click(); // the focus is on the title
    await page.keyboard.type('10');
    expect(await checked(page)).toBe('10');
    await page.keyboard.press('Digit1');
    await page.evaluate(() => {
      const other = document.body.appendChild(document.createElement('section'));
      other.append(document.querySelector('parley-feedback') as Node);
    });
    await page.getByRole('radio', { name: '1 of 10' }).first().focus();
    await page.keyboard.press('Digit0');
    expect(await checked(page)).toBe('10');
    for (const [name, point] of [
      ['ten-stars', '10'],
      ['ces', '1'],
    ] as const) {
      await page.evaluate(() => document.querySelector('section')?.remove());
      await show(page, { views: [[cardOf([STEPS[name] as never])]] });
      await page.getByRole('radio').first().focus();
      await page.keyboard.press('Shift+Numpad1'); // with Num Lock off, Shift makes it a digit
      await page.keyboard.press('Shift+Numpad0');
      expect(await checked(page)).toBe(point);
    }
  });

  test('keys of a card do not reach the shortcuts of the page, except for Escape, Tab, and those with Ctrl or Meta', async () => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    await show(page, { views: [[cardOf([STEPS.single as never]), cardOf([STEPS.nps as never])]] });
    await page.evaluate(() => {
      Object.assign(window, { heard: [] });
      for (const type of ['keydown', 'keypress', 'keyup'])
        for (const target of [window, document, document.body])
          target.addEventListener(type, event =>
            (window as never as { heard: string[] }).heard.push((event as KeyboardEvent).key),
          );
    });
    const heard = () => page.evaluate(() => [...new Set((window as never as { heard: string[] }).heard.splice(0))]);
    await page.getByRole('radio', { name: 'Other' }).check();
    await page.keyboard.type('jk? 1/e');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Shift+A');
    expect(await heard()).toEqual([]);
    expect(await page.getByRole('textbox').inputValue()).toBe('jk? 1/A');
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Meta+j');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await heard()).toEqual(expect.arrayContaining(['k', 'j', 'Escape', 'Tab']));
    await page.getByRole('textbox').focus();
    await page.evaluate(() => {
      const field = document.querySelector('parley-feedback')?.shadowRoot?.activeElement;
      const send = (init: KeyboardEventInit) =>
        field?.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, composed: true, ...init }));
      send({ key: 'Process', isComposing: true });
      send({ key: 'Escape', isComposing: true }); // ends the composition only
      send({ key: 'Enter', isComposing: true });
      send({ key: '@', ctrlKey: true, altKey: true, modifierAltGraph: true });
    });
    expect(await heard()).toEqual([]);
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByRole('radio', { name: '5 of 10' }).focus();
    await page.keyboard.type('7 ');
    await page.keyboard.press('ArrowRight');
    expect(await heard()).toEqual([]);
    expect(await checked(page)).toBe('8');
    await page.keyboard.press('g'); // no key of a scale
    expect(await heard()).toEqual(['g']);
  });

  test('a text that is too long is kept, and marked at once', async () => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    await page.evaluate(() => {
      const header = document.createElement('header');
      header.append(Object.assign(document.createElement('h1'), { textContent: 'App' }));
      document.body.prepend(header);
    });
    const text = stepOf('text', 'What is missing?', { key: 'more', required: false, config: { max_length: 20 } });
    const single = { ...(STEPS.single as ReturnType<typeof stepOf>), key: 'why', required: false };
    await show(page, { views: [[cardOf([STEPS.nps as never, single, text])]] });
    await page.getByRole('radio', { name: '6 of 10' }).check();
    const states: [string, number, string, string][] = [
      ['Anything to add?', 5001, '5000', 'Next'],
      ['Please specify', 5001, '5000', 'Next'],
      ['What is missing?', 21, '20', 'Send'],
    ];
    for (const [name, length, limit, go] of states) {
      const field = page.getByRole('textbox', { name });
      if (name === 'Please specify') await page.getByRole('radio', { name: 'Other' }).check();
      await field.evaluate((input: HTMLInputElement, pasted) => {
        input.focus();
        document.execCommand('insertText', false, pasted);
      }, 'x'.repeat(length));
      const message = page.getByText(`Please enter no more than ${limit} characters.`);
      await message.waitFor();
      expect([(await field.inputValue()).length, await field.getAttribute('aria-invalid')]).toEqual([length, 'true']);
      await page.getByRole('button', { name: go }).click();
      expect(await field.evaluate(node => node === (node.getRootNode() as ShadowRoot).activeElement)).toBe(true);
      await expectNoViolations(watched);
      await field.press('End');
      await field.press('Backspace');
      await message.waitFor({ state: 'detached' });
      expect(await field.getAttribute('aria-invalid')).toBe('false');
      await page.getByRole('button', { name: go }).click();
    }
    await page.getByText('Thank you for your feedback.').waitFor();
    const recorded = await page.evaluate(() => window.gallery.recorded);
    const longest = Math.max(...recorded.map(({ comment }) => comment?.length ?? 0));
    expect(longest).toBe(5000); // never one that the server refuses
    expect(recorded.at(-1)).toMatchObject({ state: 'completed', values: { main: 6, more: 'x'.repeat(20) } });
  });

  test('shuffled options have one order for each card', async () => {
    await using watched = await openGallery(browser, script);
    const { page } = watched;
    const options = Array.from({ length: 8 }, (_, index) => ({ id: `${index}`, label: `Option ${index}` }));
    const step = stepOf('multi_choice', 'Which ones?', { config: { options, shuffle: true, allow_other: true } });
    const orderOf = async (card: Card) => {
      await show(page, { views: [[card]] });
      return (await page.locator('.option').allTextContents()).join();
    };
    const cards = Array.from({ length: 6 }, () => cardOf([step]));
    const orders = new Set<string>();
    for (const card of cards) {
      const order = await orderOf(card);
      expect(await orderOf(card)).toBe(order);
      expect(order.endsWith('Other')).toBe(true);
      orders.add(order);
    }
    expect(orders.size).toBeGreaterThan(1);
  });

  test.each([
    ['nps', '8 of 10'],
    ['thumbs', 'Thumbs up'],
    ['single', 'Export'],
  ])('%s takes two taps', async (type, name) => {
    await using watched = await openGallery(browser, script, { hasTouch: true, viewport: { width: 375, height: 667 } });
    const { page } = watched;
    await show(page, { views: [[cardOf([STEPS[type] as never])]] });
    await page.getByRole('radio', { name }).tap();
    await page.getByRole('button', { name: 'Send' }).tap();
    await page.getByText('Thank you for your feedback.').waitFor();
    const states = await page.evaluate(() => window.gallery.recorded.map(({ state }) => state));
    expect(states.at(-1)).toBe('completed');
  });

  test('an inline card shifts the page at most once, when it appears', async () => {
    await using watched = await openGallery(browser, script, { viewport: { width: 768, height: 900 } });
    const { page } = watched;
    await page.evaluate(() => {
      const after = Object.assign(document.createElement('p'), { textContent: 'The page goes on here. '.repeat(30) });
      document.body.append(after);
      Object.assign(window, { shifts: 0 });
      new PerformanceObserver(list => {
        for (const entry of list.getEntries()) {
          // A shift right after an input is expected by the user, and not counted by CLS.
          if (!(entry as never as { hadRecentInput: boolean }).hadRecentInput)
            Object.assign(window, { shifts: (window as never as { shifts: number }).shifts + 1 });
        }
      }).observe({ type: 'layout-shift' });
    });
    await show(page, { views: [[cardOf([STEPS.nps as never])]] });
    await page.waitForTimeout(300);
    await page.getByRole('radio', { name: '8 of 10' }).click();
    await page.waitForTimeout(300);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Thank you for your feedback.').waitFor();
    await page.waitForTimeout(300);
    expect(await page.evaluate(() => (window as never as { shifts: number }).shifts)).toBeLessThanOrEqual(1);
  });

  test('Send stays in view above the keyboard of a phone', async () => {
    await using watched = await openGallery(browser, script, { viewport: { width: 375, height: 667 } });
    const { page } = watched;
    const options = Array.from({ length: 20 }, (_, index) => ({ id: `${index}`, label: `Option ${index}` }));
    await show(page, { views: [[cardOf([stepOf('multi_choice', 'Which ones?', { config: { options } })])]] });
    const bottom = () =>
      page.getByRole('button', { name: 'Send' }).evaluate(node => node.getBoundingClientRect().bottom);
    expect(await bottom()).toBeLessThanOrEqual(667);
    await page.evaluate(() => {
      Object.defineProperty(visualViewport, 'height', { value: innerHeight - 260 });
      visualViewport?.dispatchEvent(new Event('resize'));
    });
    expect(await bottom()).toBeLessThanOrEqual(667 - 260);
  });
});
