import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Placement } from '../../../clients/javascript/src/index.ts';
import type { Watched } from '../../support/browser.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { bundleGallery, openGallery, show } from './gallery/browser.ts';
import { cardOf, FOLLOWED, STEPS, stepOf } from './gallery/cards.ts';
import type { Shown } from './gallery/page.ts';

const NPS = STEPS.nps as (typeof STEPS)[string];
const THUMBS = STEPS.thumbs as (typeof STEPS)[string];

/** Ids and states of the recorded answers. */
const recorded = (page: Page) =>
  page.evaluate(() => window.gallery.recorded.map(({ id, state, values }) => ({ id, state, values })));

describe.runIf(hasBrowser())('the view on pages that change', () => {
  let browser: Browser;
  let script: string;
  beforeAll(async () => {
    [browser, script] = await Promise.all([openBrowser(), bundleGallery()]);
  });
  afterAll(() => browser?.close());

  const open = (): Promise<Watched> => openGallery(browser, script);

  test.each<Placement>(['inline', 'popover-bottom-right', 'modal'])(
    'a router moves the element: %s keeps its card, its input and its answer',
    async placement => {
      await using watched = await open();
      const { page, complaints } = watched;
      await show(page, { views: [[cardOf([NPS]), cardOf([THUMBS])]], attributes: { placement } });
      await page.getByRole('radio', { name: '7 of 10' }).check();
      await page.getByLabel('Anything to add?').fill('Half a');
      await page.evaluate(() => {
        const other = document.body.appendChild(document.createElement('section'));
        other.append(document.querySelector('parley-feedback') as Node);
      });
      expect(await page.getByRole('radio', { name: '7 of 10' }).isChecked()).toBe(true);
      expect(await page.getByLabel('Anything to add?').inputValue()).toBe('Half a');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('heading', { name: THUMBS.title }).waitFor();
      const answers = (await recorded(page)).filter(({ values }) => values?.main === 7);
      expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
      expect(answers.at(-1)?.state).toBe('completed');
      expect(complaints).toEqual([]);
    },
  );

  test('an element that is removed and put back later starts again', async () => {
    await using watched = await open();
    const { page } = watched;
    await show(page, { views: [[cardOf([NPS])]] });
    await page.getByRole('radio', { name: '7 of 10' }).check();
    await page.evaluate(async () => {
      const view = document.querySelector('parley-feedback') as HTMLElement;
      view.remove();
      await Promise.resolve(); // an earlier microtask may end the view
      await new Promise(done => setTimeout(done));
      document.querySelector('main')?.append(view);
    });
    await page.getByRole('heading', { name: NPS.title }).waitFor();
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0);
    expect((await recorded(page)).map(({ state, values }) => [state, values?.main])).toContainEqual(['partial', 7]);
  });

  test('a card that is answered in one of two views disappears from the other, which shows the next one', async () => {
    await using watched = await open();
    const { page } = watched;
    const cards = [cardOf([stepOf('thumbs', 'First?')]), cardOf([stepOf('thumbs', 'Second?')])];
    await show(page, { views: [cards, cards] });
    const views = page.locator('parley-feedback');
    const titlesOf = (index: number) => views.nth(index).locator('h2').allTextContents();
    expect([await titlesOf(0), await titlesOf(1)]).toEqual([['First?'], ['First?']]);
    await views.nth(0).getByRole('radio').first().check();
    await views.nth(0).getByRole('button', { name: 'Send' }).click();
    await views.nth(1).getByRole('heading', { name: 'Second?' }).waitFor();
    await views.nth(1).getByRole('button', { name: 'Not now' }).click();
    await page.waitForFunction(() =>
      [...document.querySelectorAll('parley-feedback')].every(view => view.dataset.state === 'empty'),
    );
    const ends = (await recorded(page)).map(({ state }) => state).filter(state => /completed|dismissed/.test(state));
    expect(ends).toEqual(['completed', 'dismissed']);
  });

  test('an element that has its properties before the script defines it shows its card', async () => {
    await using watched = await open();
    const { page } = watched;
    await page.evaluate(
      card => {
        document.querySelector('main')?.append(window.gallery.viewOf([card], { views: [], name: 'late-feedback' }));
        window.gallery.define('late-feedback');
        window.gallery.define('late-feedback'); // no effect
      },
      cardOf([NPS]),
    );
    await page.locator('late-feedback').getByRole('heading', { name: NPS.title }).waitFor();
    await page.getByRole('radio', { name: '7 of 10' }).check();
    expect((await recorded(page)).at(-1)?.values).toEqual({ main: 7 });
  });

  /** The first view, as tests use it. */
  interface View extends HTMLElement {
    client: { listCards(): Promise<object[]>; logout(): void };
    reload(): Promise<void>;
  }

  test('a card that the user has begun to answer stays, although the list no longer has it', async () => {
    await using watched = await open();
    const { page } = watched;
    await show(page, { views: [[cardOf([NPS])]] });
    const reload = () =>
      page.evaluate(
        async next => {
          const view = document.querySelector('parley-feedback') as unknown as View;
          view.client.listCards = async () => [next]; // the answer is stored, which has removed the card
          await view.reload();
        },
        cardOf([THUMBS]),
      );
    await page.getByRole('radio', { name: '3 of 10' }).check();
    await page.getByLabel('Anything to add?').fill('Half a');
    await reload();
    expect(await page.getByLabel('Anything to add?').inputValue()).toBe('Half a');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('heading', { name: THUMBS.title }).waitFor();
    expect((await recorded(page)).at(-1)).toMatchObject({ state: 'completed', values: { main: 3 } });
  });

  test('a list without the card that arrives while its answer is being stored does not suppress the thanks', async () => {
    await using watched = await open();
    const { page } = watched;
    await show(page, { views: [[cardOf([THUMBS])]] });
    await page.getByRole('radio').first().check();
    await page.evaluate(async () => {
      const view = document.querySelector('parley-feedback') as unknown as View & { outbox: { record: unknown } };
      let store = () => {};
      view.outbox.record = () => new Promise<void>(resolve => (store = resolve));
      view.shadowRoot?.querySelector<HTMLElement>('[part~=submit]')?.click();
      view.client.listCards = async () => [];
      await view.reload();
      store();
    });
    await page.getByText('Thank you for your feedback.').waitFor({ timeout: 5000 });
  });

  test('the thanks to a user disappear at the logout', async () => {
    await using watched = await open();
    const { page } = watched;
    const thanks = { title: 'Thank you, Ada!', body: '', link: null } as never;
    await show(page, { views: [[cardOf([THUMBS], { thanks })]] });
    await page.getByRole('radio').first().check();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Thank you, Ada!').waitFor();
    await page.evaluate(
      next => {
        const { client } = document.querySelector('parley-feedback') as unknown as View;
        client.listCards = async () => [next];
        client.logout();
      },
      cardOf([NPS]),
    );
    await page.getByRole('heading', { name: NPS.title }).waitFor({ timeout: 3000 }); // the thanks would stay for five seconds
    expect(await page.getByText('Thank you, Ada!').count()).toBe(0);
  });

  test('a double click neither skips a step nor declines the next card', async () => {
    await using watched = await open();
    const { page } = watched;
    await show(page, { views: [[cardOf(FOLLOWED), cardOf([THUMBS]), cardOf([THUMBS])]] });
    await page.getByRole('radio', { name: '6 of 10' }).check();
    await page.getByRole('button', { name: 'Next' }).dblclick();
    await page.getByText('Step 2 of 3').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Step 3 of 3').waitFor();
    await page.getByRole('button', { name: 'Back' }).dblclick();
    await page.getByText('Step 2 of 3').waitFor();
    await page.getByRole('button', { name: 'Not now' }).dblclick();
    await page.getByRole('heading', { name: THUMBS.title }).waitFor();
    await page.waitForTimeout(300);
    const states = (await recorded(page)).map(({ state }) => state);
    expect(states).toContain('partial'); // the first card had a score
    expect(states).not.toContain('dismissed');
  });

  test('a text that cannot be sent yet stays, although the list no longer has its card', async () => {
    await using watched = await open();
    const { page } = watched;
    await show(page, { views: [[cardOf([stepOf('text', 'Your address?', { config: { input: 'email' } })])]] });
    await page.getByRole('textbox').fill('ada@');
    await page.evaluate(
      async next => {
        const view = document.querySelector('parley-feedback') as unknown as View;
        view.client.listCards = async () => [next];
        await view.reload();
      },
      cardOf([THUMBS]),
    );
    expect(await page.getByRole('textbox').inputValue()).toBe('ada@');
  });

  /** Shows a card in a view below an element, next to a button that counts its clicks in its text. */
  const showBelow = (page: Page, parent: 'hidden' | 'shadow', shown: Shown) =>
    page.evaluate(
      ([parent, shown]) => {
        window.gallery.show({ ...shown, views: [] });
        const main = document.querySelector('main') as HTMLElement;
        const button = main.appendChild(document.createElement('button'));
        button.textContent = '0';
        button.onclick = () => (button.textContent = `${Number(button.textContent) + 1}`);
        const outer = main.appendChild(document.createElement('div'));
        const place = parent === 'shadow' ? outer.attachShadow({ mode: 'open' }) : outer;
        outer.hidden = parent === 'hidden';
        for (const cards of shown.views) place.append(window.gallery.viewOf(cards, shown));
        for (const cards of parent === 'hidden' ? shown.views : []) main.append(window.gallery.viewOf(cards, shown));
        if (parent === 'shadow')
          place.append(Object.assign(document.createElement('a'), { id: 'open', textContent: 'Open' }));
      },
      [parent, shown] as const,
    );

  test.each<Placement>(['inline', 'popover-bottom-right', 'modal'])(
    'a second view in a layout that is not displayed does not get in the way: %s',
    async placement => {
      await using watched = await open();
      const { page, complaints } = watched;
      const card = cardOf([NPS]);
      await showBelow(page, 'hidden', { views: [[card]], attributes: { placement } });
      await page.waitForTimeout(1500);
      const view = page.locator('main > parley-feedback');
      await view.getByRole('radio', { name: '7 of 10' }).check();
      await view.getByRole('button', { name: 'Send' }).click();
      await page.waitForFunction(() => window.gallery.recorded.some(({ state }) => state === 'completed'));
      const answers = await recorded(page);
      expect(new Set(answers.map(({ id }) => id)).size).toBe(1); // none of the hidden one, not even as seen
      expect(complaints).toEqual([]);
    },
  );

  test.each<Placement>(['popover-bottom-right', 'modal'])(
    'a view in a layout that is not displayed neither blocks the page nor is dismissed by clicks: %s',
    async placement => {
      await using watched = await open();
      const { page } = watched;
      await showBelow(page, 'hidden', { views: [[cardOf([NPS])]], attributes: { placement } });
      await page.evaluate(() => document.querySelector('main > parley-feedback')?.remove());
      await page.getByRole('button', { name: '0' }).click();
      await page.getByRole('button', { name: '1' }).waitFor({ timeout: 5000 });
      await page.keyboard.press('Escape');
      await page.evaluate(() => document.querySelector('[hidden]')?.removeAttribute('hidden'));
      await page.getByRole('heading', { name: NPS.title }).waitFor({ timeout: 5000 });
      expect(await recorded(page)).toEqual([]);
    },
  );

  test('a view in the shadow root of another element has the language of the page', async () => {
    await using watched = await open();
    await showBelow(watched.page, 'shadow', { views: [[cardOf([NPS])]], lang: 'de' });
    await watched.page.getByRole('button', { name: 'Senden' }).waitFor({ timeout: 5000 });
  });

  test('an element in a shadow root opens the card', async () => {
    await using watched = await open();
    const { page } = watched;
    await showBelow(page, 'shadow', {
      views: [[cardOf([NPS])]],
      attributes: { placement: 'button', opens: '#open' },
    });
    await page.getByText('Open').click();
    await page.getByRole('heading', { name: NPS.title }).waitFor({ timeout: 5000 });
  });

  test('a view in a shadow root of a dark page is dark', async () => {
    await using watched = await open();
    const { page } = watched;
    const appearance = { theme: 'page', accent: null, background: null, text: null, radius: 8, font: 'page' } as never;
    await showBelow(page, 'shadow', { views: [[cardOf([NPS])]], appearance, css: 'body { background: #111 }' });
    const card = page.locator('form');
    await card.waitFor();
    expect(await card.evaluate(node => getComputedStyle(node).colorScheme)).toBe('dark');
  });
});
