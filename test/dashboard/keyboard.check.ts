import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATHS, type PathName, pathTo, TENANT_PATHS } from '../../dashboard/paths.ts';
import { panel, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asBearer, asPerson, type ShownKey, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';
import { LOCAL_WEBHOOKS } from '../support/webhooks.ts';

/** More presses of Tab than any page needs. */
const MOST_PRESSES = 400;

/** Records the visited elements, and those without a visible sign of the focus. As a text: see `bidi.ts`. */
const WATCH = `(() => {
  const reached = new Set();
  const invisible = new Set();
  const hasOutline = element => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
  };
  const isMarked = element => {
    const near = [element, element.parentElement, element.nextElementSibling, element.closest('label')];
    return near.some(each => each && hasOutline(each)) || getComputedStyle(element).boxShadow !== 'none';
  };
  window.tour = {
    reached,
    invisible,
    visit(element) {
      reached.add(element);
      if (!isMarked(element)) invisible.add(element.outerHTML.slice(0, 200));
      return [...reached].indexOf(element);
    },
  };
})()`;

/** Visits the element with the focus, also in open shadow roots. Its place in the order of first visits; -1 without one. */
const PLACE = `(() => {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element === document.body || element === null ? -1 : window.tour.visit(element);
})()`;

/** The controls that were not reached. Of radio buttons and of a grid one is enough: arrow keys lead to the others. */
const MISSED = `(() => {
  const controls = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
  const find = root => [...root.querySelectorAll('*')].flatMap(element => [
    ...(element.matches(controls) ? [element] : []),
    ...(element.shadowRoot ? find(element.shadowRoot) : []),
  ]);
  const { reached } = window.tour;
  const isOffered = element => element.checkVisibility({ visibilityProperty: true }) && !element.matches(':disabled')
    && element.tabIndex >= 0 && !element.closest('[inert], [aria-hidden=true]') && element.type !== 'hidden';
  const isRadioOfReached = element => element.type === 'radio'
    && [...reached].some(other => other.type === 'radio' && other.name === element.name);
  const isInReachedGrid = element => [...reached].some(other => element.closest('[role=grid]')?.contains(other));
  return find(document).filter(element => isOffered(element) && !reached.has(element) && !isRadioOfReached(element)
    && !isInReachedGrid(element))
    .map(element => element.outerHTML.slice(0, 200));
})()`;

/** Presses Tab from the start of the page to its end. Returns the number of stops, and their faults. */
async function tour(page: Page): Promise<{ stops: number; missed: string[]; invisible: string[] }> {
  await page.evaluate(WATCH);
  let stops = 0;
  for (let presses = 0; presses < MOST_PRESSES; presses++) {
    await page.keyboard.press('Tab');
    const place = await page.evaluate<number>(PLACE);
    if (place === -1 && stops > 0) break; // the end of the page
    if (place > -1 && place < stops - 1) break; // around again
    stops = Math.max(stops, place + 1);
  }
  const missed = await page.evaluate<string[]>(MISSED);
  return { stops, missed, invisible: await page.evaluate<string[]>('[...window.tour.invisible]') };
}

const OWN = ['me'] as const satisfies PathName[];

describe.runIf(hasBrowser())('with the keyboard only', { timeout: 120_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  let params: Record<string, string>;
  let webhookId: string;
  const paramsOf = (name: PathName) => (name === 'inbox' ? {} : name === 'webhook' ? { id: webhookId } : params);
  const open = (path: string) => dashboard.open(path);

  beforeAll(async () => {
    dashboard = await openDashboard(LOCAL_WEBHOOKS);
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    const key: ShownKey = await asPerson(page, 'POST', '/v1/api-keys', { name: 'backend', kind: 'server' });
    const follow_ups = [{ key: 'why', type: 'text', title: 'Why?' }];
    const { id } = await asPerson(page, 'POST', '/v1/questions', { type: 'nps', title: 'How likely?', follow_ups });
    await asPerson(page, 'POST', `/v1/questions/${id}/publish`);
    const answer = { id: randomUUID(), identity: 'mara', revision: 1, question_id: id, question_version: 1 };
    const given = { ...answer, state: 'completed', values: { main: 4, why: 'Slow' } };
    const send = (path: string, body: object) =>
      asBearer(dashboard.installation.baseUrl, key.api_key, 'POST', path, body);
    await send('/v1/answers', { answers: [given] });
    await send('/v1/conversations', { identity: 'mara', message: 'Hello' });
    await waitFor(async () => (await asPerson(page, 'GET', '/v1/answers')).data.length === 1);
    const url = 'http://127.0.0.1:65535/';
    const webhook = await asPerson(page, 'POST', '/v1/webhooks', { url, event_types: ['question.published'] });
    webhookId = webhook.id;
    params = { id, identity: 'mara' };
  }, 120_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test.each([...(Object.keys(TENANT_PATHS) as PathName[]), ...OWN])(
    'Tab reaches every control of the page %s, and the focus is visible',
    async name => {
      expect(PATHS).toHaveProperty(name);
      await open(pathTo(name, paramsOf(name)));
      const { stops, missed, invisible } = await tour(page);
      expect(stops).toBeGreaterThan(5);
      expect(missed).toEqual([]);
      expect(invisible).toEqual([]);
      expect(ada.complaints).toEqual([]);
    },
  );

  test.each([
    ['apiKeys', 'Create API key'],
    ['apiKeys', 'Revoke'],
    ['webhook', 'Rotate secret'],
    ['webhook', 'Delete'],
    ['members', 'Invite member'],
    ['questionResults', 'Close'],
    ['questionAnswers', 'View answer of mara'],
    ['inbox', 'Keyboard shortcuts'],
  ] as const)(
    'on the page %s, Escape closes the dialog of "%s", whose button has the focus again',
    async (name, label) => {
      await open(pathTo(name, paramsOf(name)));
      const button = page.getByRole('button', { name: label, exact: true }).first();
      await button.focus();
      await page.keyboard.press('Enter');
      const dialog = page.locator('[role=dialog], [role=alertdialog]');
      await dialog.waitFor();
      await waitFor(
        async () =>
          (await dialog.locator(':focus').count()) > 0 || (await dialog.and(page.locator(':focus')).count()) > 0,
      );
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await waitFor(async () => (await button.and(page.locator(':focus')).count()) > 0);
    },
  );

  test('Escape closes the palette, and Enter on a bar of a follow-up opens the answers behind it', async () => {
    await open(`${pathTo('questionResults', params)}`);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const step = panel(page, 'Steps').getByRole('button', { name: '2. Why?' });
    await step.focus();
    await page.keyboard.press('Enter');
    await waitFor(async () => new URL(page.url()).search.includes('step=why'));
  });
});
