import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
