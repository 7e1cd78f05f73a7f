import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CardStep } from '../../clients/javascript/src/index.ts';
import type { WorkerProcess } from '../../src/worker/worker.ts';
import { cardOf, STEPS } from '../clients/javascript/gallery/cards.ts';
import { measure } from '../clients/javascript/gallery/measure.ts';
import { bundleApp, servePage } from '../clients/javascript/page-server.ts';
import { type SmallSite, serveSmallSite } from '../clients/javascript/small-site.ts';
import { createApi, createWorker, type TestApi, waitFor } from '../support/api.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { type Driver, type Person, personAt, type Theme } from './driver.ts';
import { firefoxPath, openFirefox } from './firefox.ts';
import { answer, type Way } from './hand.ts';
import { hasWebKit, openWebKit } from './webkit.ts';

interface Engine {
  engine: string;
  isInstalled: boolean;
  open(theme: Theme): Promise<Driver>;
}

const ENGINES: Engine[] = [
  { engine: 'firefox', isInstalled: firefoxPath() !== undefined, open: theme => openFirefox(theme) },
  { engine: 'webkit', isInstalled: hasWebKit(), open: openWebKit },
];

/** Whether the tests of an engine can run. Otherwise prints a message, or throws if `TESTS_REQUIRE` contains its name. */
function canRun({ engine, isInstalled }: Engine): boolean {
  if (isInstalled) return true;
  if (process.env.TESTS_REQUIRE?.includes(engine))
    throw new Error(`TESTS_REQUIRE contains ${engine}, which was not found.`);
  process.stderr.write(`\n*** No ${engine}: the card view is NOT TESTED in it. See test/browsers/README.md. ***\n\n`);
  return false;
}

/** Every theme is answered in both ways, each at one width. */
const RUNS: { theme: Theme; width: number; way: Way }[] = [
  { theme: 'light', width: 320, way: 'click' },
  { theme: 'light', width: 768, way: 'keyboard' },
  { theme: 'dark', width: 320, way: 'keyboard' },
  { theme: 'dark', width: 768, way: 'click' },
];
/** 0 is the window itself, 1000 px wide. */
const PLACES = (['popover-bottom-right', 'modal', 'button'] as const).flatMap(placement =>
  [320, 0].map(width => ({ placement, width })),
);

/** Values of the answers of `hand.ts`, by the name of the step. */
const EXPECTED: Record<string, unknown> = {
  ...{ nps: 3, csat: 3, ces: 3, stars: 3, 'ten-stars': 3, thumbs: true, text: 'Dark mode.', date: '2026-12-01' },
  ...{ single: { option_id: '0' }, multi: { option_ids: ['0'] }, consent: true, statement: undefined },
};

interface Stored {
  identity: string;
  question_id: string;
  state: string;
  values: Record<string, unknown>;
  comment: string | null;
}

/** Whether the card is dark, with light text. */
function isDark(): boolean {
  const root = document.querySelector('parley-feedback')?.shadowRoot as ShadowRoot;
  const card = root.querySelector('[part~=card]') as Element;
  const lightness = (color: string) =>
    (color.match(/[\d.]+/g) ?? []).slice(0, 3).reduce((sum, channel) => sum + Number(channel), 0) / 765;
  return lightness(getComputedStyle(card).backgroundColor) < 0.3 && lightness(getComputedStyle(card).color) > 0.7;
}

const hasState = (state: string) => document.querySelector('parley-feedback')?.dataset.state === state;
const asks = (title: string) =>
  document.querySelector('parley-feedback')?.shadowRoot?.querySelector('fieldset:not([hidden]) h2')?.textContent ===
  title;

/** Position of the open panel in its window, once it has moved there. */
async function panelBox() {
  const panel = document.querySelector('parley-feedback')?.shadowRoot?.querySelector('[part~=panel]');
  if (!panel) return undefined;
  await Promise.allSettled(panel.getAnimations().map(({ finished }) => finished));
  const { left, right, top, bottom } = panel.getBoundingClientRect();
  const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return {
    left,
    right: innerWidth - right,
    top,
    bottom: innerHeight - bottom,
    isOnTop: hit?.localName === 'parley-feedback',
  };
}

describe.each(ENGINES.filter(canRun))('the card view in $engine', ({ engine, open }) => {
  let api: TestApi;
  let worker: WorkerProcess & AsyncDisposable;
  let tenant: TestTenant;
  let other: TestTenant;
  let app: string;
  const titles = new Map<string, string>();
  const servers: Awaited<ReturnType<typeof servePage>>[] = [];
  let users = 0;

  beforeAll(async () => {
    [api, app] = await Promise.all([createApi(), bundleApp()]);
    worker = await createWorker(api);
    tenant = await makeTenant(api);
    other = await makeTenant(api);
    const frequency = { ignore_cooldown: true };
    for (const [index, [name, { type, title, description, config }]] of Object.entries(STEPS).entries()) {
      const question = { type, title, description, config, frequency, priority: 100 - index };
      titles.set((await publishQuestion(api, tenant, question)).id, name);
    }
    const { type, title, config } = STEPS.nps as (typeof STEPS)[string];
    await publishQuestion(api, other, { type, title, config, frequency });
    servers.push(await servePage(tenant, app, api.baseUrl), await servePage(other, app, api.baseUrl));
  });
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
    await worker?.[Symbol.asyncDispose]();
    await api?.[Symbol.asyncDispose]();
  });

  /** Opens the app of a tenant as a new user, in a frame of this width or in the window. */
  async function visit({ driver }: Person, of: TestTenant, width: number, more: Record<string, string> = {}) {
    const user = `user|${++users}`;
    const query = new URLSearchParams({ user, base: api.baseUrl, lang: 'en', width: String(width), ...more });
    await driver.goTo(`${servers[of === tenant ? 0 : 1]?.url}${width > 0 ? '/frame' : '/'}?${query}`);
    if (width > 0) await driver.enterFrame();
    return user;
  }

  const answersOf = async (of: TestTenant, user: string): Promise<Stored[]> => {
    const { body } = await api.request('GET', '/v1/answers?limit=100', { as: of.key.apiKey });
    return (body.data as Stored[]).filter(({ identity }) => identity === user);
  };
  const answersOnce = (of: TestTenant, user: string, state: string, count = 1) =>
    waitFor(async () => {
      const found = (await answersOf(of, user)).filter(each => each.state === state);
      return found.length === count && found;
    });

  test.runIf(engine === 'firefox')(
    'a browser that resists fingerprinting has black text on a bright accent',
    async () => {
      await using driver = await openFirefox('light', { 'privacy.resistFingerprinting': true });
      const person = personAt(driver);
      await visit(person, tenant, 0);
      await person.until(hasState, 'card');
      await person.run(() =>
        document.querySelector('parley-feedback')?.style.setProperty('--parley-accent', '#facc15'),
      );
      await answer(person, STEPS.nps as (typeof STEPS)[string], 'click');
      await person.until(asks, STEPS.csat?.title as string);
      const colors = await person.run(() => {
        const submit = document
          .querySelector('parley-feedback')
          ?.shadowRoot?.querySelector('[part~=submit]') as Element;
        const { backgroundColor, color } = getComputedStyle(submit);
        return [backgroundColor, color];
      });
      expect(colors).toEqual(['rgb(250, 204, 21)', 'rgb(0, 0, 0)']);
    },
  );

  describe('a page in a frame, and one that is kept for Back', () => {
    let driver: Driver;
    let person: Person;
    let site: SmallSite;
    const { nps, thumbs } = STEPS as { nps: CardStep; thumbs: CardStep };
    beforeAll(async () => {
      [driver, site] = await Promise.all([open('light'), serveSmallSite(app)]);
      person = personAt(driver);
    });
    afterAll(async () => {
      await driver?.[Symbol.asyncDispose]();
      await site?.[Symbol.asyncDispose]();
    });

    test.each([
      ['/sandbox', '127.0.0.1'],
      ['/third-party', 'localhost'],
      ['/srcdoc', '127.0.0.1'],
    ])('%s: an answer is sent', async (path, host) => {
      Object.assign(site, { cards: [cardOf([nps])], answers: [] });
      await driver.goTo(site.url(path, host));
      await driver.enterFrame();
      await person.until(hasState, 'card');
      await person.click('[part~=point] input[value="7"]');
      await person.click('[part~=submit]');
      await person.until(hasState, 'thanks');
      await waitFor(async () => site.answers.at(-1)?.state === 'completed');
      expect(await person.run(() => window.parley.errors)).toEqual([]);
    });

    test('Back shows the next card if another page has asked the question meanwhile', async () => {
      Object.assign(site, { cards: [cardOf([nps])], answers: [] });
      await driver.goTo(site.url('/'));
      await person.until(asks, nps.title);
      site.cards = [cardOf([thumbs])];
      await driver.goTo(site.url('/left'));
      await driver.goBack();
      await person.until(asks, thumbs.title);
    });
  });

  describe.each(['light', 'dark'] as const)('%s', theme => {
    let driver: Driver;
    let person: Person;
    beforeAll(async () => {
      driver = await open(theme);
      person = personAt(driver);
      process.stdout.write(`${driver.name}, ${theme}\n`);
    });
    afterAll(() => driver?.[Symbol.asyncDispose]());

    test.each(RUNS.filter(run => run.theme === theme))(
      'every type at $width px, answered by $way',
      async ({ width, way }) => {
        const user = await visit(person, tenant, width);
        await person.until(hasState, 'card');
        await person.click('h1'); // the keyboard's focus enters the frame
        const problems: string[] = [];
        for (const step of Object.values(STEPS)) {
          await person.until(asks, step.title);
          problems.push(...(await person.run(measure)));
          expect(await person.run(isDark)).toBe(theme === 'dark');
          await answer(person, step, way);
        }
        await person.until(hasState, 'thanks');
        problems.push(...(await person.run(measure)));
        expect(problems).toEqual([]);
        const stored = await answersOnce(tenant, user, 'completed', Object.keys(STEPS).length);
        expect(Object.fromEntries(stored.map(each => [titles.get(each.question_id), each.values.main]))).toEqual(
          EXPECTED,
        );
        expect(await person.run(() => window.parley.errors)).toEqual([]);
      },
    );

    test.each(PLACES)('$placement in a window of $width px', async ({ placement, width }) => {
      const user = await visit(person, other, width, { placement });
      if (placement === 'button') await person.click('[part~=tab]');
      const box = await waitFor(() => person.run(panelBox), 20_000);
      expect(box.isOnTop).toBe(true);
      if (width === 320) expect([box.left, box.right, box.bottom].map(Math.round)).toEqual([0, 0, 0]);
      else
        for (const distance of [box.left, box.right, box.top, box.bottom]) expect(distance).toBeGreaterThanOrEqual(16);
      expect(await person.run(measure)).toEqual([]);
      await answer(person, STEPS.nps as (typeof STEPS)[string], 'click');
      await person.until(hasState, 'thanks');
      const [stored] = await answersOnce(other, user, 'completed');
      expect(stored?.values).toEqual({ main: 3 });
      await person.press('Escape');
      await waitFor(async () => (await person.run(panelBox)) === null);
    });

    test.each(['popover-bottom-right', 'modal'])('Esc inside closes a %s, and its score counts', async placement => {
      const user = await visit(person, other, 0, { placement });
      await waitFor(() => person.run(panelBox), 20_000);
      await person.click('[part~=point] input[value="4"]');
      await person.press('Escape');
      await person.until(hasState, 'empty');
      expect(await person.run(panelBox)).toBeNull();
      expect((await answersOnce(other, user, 'partial'))[0]?.values).toEqual({ main: 4 });
    });

    test('Back returns to a card that is half answered, and finishes the same answer', async () => {
      const user = await visit(person, other, 0);
      await person.until(hasState, 'card');
      await person.click('[part~=point] input[value="7"]');
      await person.click('[part~=comment] textarea');
      await person.write('Half a');
      await person.run(() => void Object.assign(window, { isSamePage: true }));
      await driver.goTo(`${servers[1]?.url}/frame?width=100`);
      await waitFor(async () => (await answersOf(other, user)).find(({ comment }) => comment === 'Half a'));
      await driver.goBack();
      await person.until(() => document.readyState === 'complete' && document.querySelector('parley-feedback'));
      const isKept = await person.run(() => 'isSamePage' in window);
      process.stdout.write(`${driver.name}: the page was ${isKept ? 'kept' : 'loaded again'} for Back\n`);
      await person.until(hasState, 'card'); // a page that is loaded again shows the draft
      await person.click('[part~=submit]');
      await person.until(hasState, 'thanks');
      const [stored] = await answersOnce(other, user, 'completed');
      expect(stored?.values).toEqual({ main: 7 });
      expect(await answersOf(other, user)).toHaveLength(1);
    });
  });
});
