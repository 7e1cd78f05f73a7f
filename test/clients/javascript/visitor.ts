import type { Page } from 'playwright-core';
import type { Watched } from '../../support/browser.ts';

/** The acts of a visitor, and the answer to expect. */
export interface Memory {
  /** The last chosen score. */
  score?: number | undefined;
  /** Whether the visitor has closed a card without a score by its own means. */
  hasDeclined: boolean;
  /** Whether a card has ended. A list that is fetched right after may still have it; this visitor then leaves it alone. */
  isOver: boolean;
  acts: string[];
}

/** Less than the time in which two digits are one number. */
const MOST_MS = 900;

interface Visitor {
  seed: number;
  isPhone: boolean;
  placement: string;
  url: string;
}

/** Random numbers from 0 to 1 (mulberry32), the same for a seed. */
function randomOf(seed: number): () => number {
  let state = seed * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Adds a long text, a field and a link to the page of the app. */
const furnish = (page: Page) =>
  page.evaluate(() => {
    document.querySelector('#site')?.remove();
    const site = Object.assign(document.createElement('section'), { id: 'site' });
    site.append(
      Object.assign(document.createElement('input'), { id: 'search', placeholder: 'Search' }),
      Object.assign(document.createElement('button'), { id: 'menu', textContent: 'Menu' }),
      ...Array.from({ length: 40 }, () =>
        Object.assign(document.createElement('p'), { textContent: 'The page goes on here. '.repeat(12) }),
      ),
    );
    document.body.append(site);
  });

/** Scrolls with a finger or a wheel, wherever the pointer is. */
async function scroll({ page, context }: Watched, { isPhone }: Visitor, random: () => number): Promise<void> {
  const { width, height } = page.viewportSize() as { width: number; height: number };
  const x = 20 + random() * (width - 40);
  const y = 60 + random() * (height - 120);
  const way = (60 + random() * 300) * (random() < 0.3 ? -1 : 1); // never as short as a tap
  if (!isPhone) {
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, way);
    return;
  }
  const session = await context.newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', at: number) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y: at }] });
  await touch('touchStart', y);
  for (let step = 1; step <= 4; step++)
    await touch('touchMove', Math.min(height - 1, Math.max(1, y - (way * step) / 4)));
  await touch('touchEnd', y - way);
  await session.detach();
}

/** The buttons of the card. */
function handOf(page: Page, memory: Memory) {
  const press = async (name: string) => {
    const found = page.getByRole('button', { name, exact: true });
    const isThere = await found.isVisible();
    if (isThere) await found.click();
    return isThere;
  };
  return {
    press,
    isShown: async () => !memory.isOver && (await page.getByRole('radio').first().isVisible()),
    /** Ends the card with a button, if it is there and the card has no fault. */
    async end(name: string): Promise<void> {
      if (memory.isOver || !(await press(name))) return;
      await page.waitForFunction(() => {
        const root = document.querySelector('parley-feedback')?.shadowRoot;
        return !root?.querySelector('form') || root.querySelector('.error:not(:empty)');
      });
      memory.isOver = name !== 'Send' || !(await page.getByRole('button', { name }).isVisible());
      memory.hasDeclined ||= memory.isOver && memory.score === undefined;
    },
  };
}

/** The acts of a visitor on the card, by name. */
function cardActsOf(page: Page, memory: Memory, random: () => number): Record<string, () => Promise<unknown>> {
  const { press, isShown, end } = handOf(page, memory);
  return {
    async choose() {
      if (!(await isShown())) return;
      const score = Math.floor(random() * 11);
      await page.getByRole('radio', { name: new RegExp(`^${score} of 10`) }).check();
      memory.score = score;
    },
    async 'type a score'() {
      if (!(await isShown())) return;
      const score = random() < 0.5 ? 10 : Math.floor(random() * 10);
      await page.getByRole('radio').first().focus();
      for (let begun = -MOST_MS; performance.now() - begun >= MOST_MS; ) {
        begun = performance.now(); // again if the machine was too busy for two digits of one number
        await page.keyboard.type(`${score}`);
      }
      memory.score = score;
    },
    async comment() {
      const field = page.getByRole('textbox', { name: /Anything to add|Why/ });
      if (!(await field.isVisible())) return;
      await field.focus();
      await page.keyboard.type('It is 1 0 of 10');
    },
    next: () => press('Next'),
    back: () => press('Back'),
    send: () => end('Send'),
    async 'Not now'() {
      if (random() < 0.3) await end('Not now');
    },
    async 'close the card'() {
      if (random() < 0.3 && (await page.locator('[part~=cross]').isVisible())) await end('Close');
    },
  };
}

/** The acts of a visitor on the page, by name. */
function pageActsOf(watched: Watched, visitor: Visitor, random: () => number): Record<string, () => Promise<unknown>> {
  const { page } = watched;
  const { placement, url, isPhone } = visitor;
  /** Whether the page can be used: it cannot behind a modal dialog. */
  const isFree = async () => placement !== 'modal' || !(await page.locator('[part~=panel]').isVisible());
  let loads = 0;
  return {
    async 'load a page'() {
      await page.goto(`${url}&load=${loads++}`);
      await furnish(page);
      await page.waitForFunction(() => window.parley);
    },
    scroll: () => scroll(watched, visitor, random),
    async 'click the page'() {
      if (!(await isFree())) return;
      await page.evaluate(() => scrollTo(0, 0));
      await page.mouse.click(4, 4);
      if (isPhone) await page.touchscreen.tap(4, 4);
    },
    async 'type in the page'() {
      if (!(await isFree())) return;
      await page.locator('#search').focus();
      await page.keyboard.type('10 jk');
      await page.keyboard.press('Escape');
    },
    async 'go Back in the app'() {
      if (!(await isFree())) return;
      await page.evaluate(async () => {
        history.pushState(null, '', `${location.search}&view`);
        const isBack = new Promise(resolve => addEventListener('popstate', resolve, { once: true }));
        history.back();
        await isBack;
      });
    },
  };
}

/** Uses the site at random for some acts, and leaves. */
export async function visit(watched: Watched, visitor: Visitor): Promise<Memory> {
  const { page } = watched;
  const random = randomOf(visitor.seed + 1);
  const memory: Memory = { hasDeclined: false, isOver: false, acts: [] };
  const acts = { ...pageActsOf(watched, visitor, random), ...cardActsOf(page, memory, random) };
  const names = Object.keys(acts);
  const count = 7 + Math.floor(random() * 10);
  for (let act = 0; act < count; act++) {
    const name = names[act < 2 ? act : Math.floor(random() * names.length)] as string; // first a page, and a scroll
    memory.acts.push(name);
    await acts[name]?.();
  }
  await page.goto('about:blank');
  return memory;
}
