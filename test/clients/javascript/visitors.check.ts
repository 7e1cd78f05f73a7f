/**
 * Visitors of a website who scroll, click, type and leave at random, next to cards: no chosen score is missing from the results, and only
 * those who decline are dismissed. `VISITORS=300 npx vitest run --config test/clients/vitest.config.ts visitors` is the whole.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, createWorker, type TestApi, waitFor } from '../../support/api.ts';
import { openPage } from '../../support/browser.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { makeTenant, publishQuestion, type TestTenant } from '../../support/make.ts';
import { bundleApp, servePage } from './page-server.ts';
import { type Memory, visit } from './visitor.ts';

const VISITORS = Number(process.env.VISITORS ?? 12);
const AT_ONCE = 4;
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const PLACEMENTS = ['popover-bottom-right', 'inline', 'modal', 'popover-top-left'];

const QUESTION = {
  ...{ type: 'nps', title: 'How likely are you to recommend us?', frequency: { ignore_cooldown: true } },
  follow_ups: [{ key: 'why', type: 'text', title: 'Why?', config: {}, required: false }],
};

interface Stored {
  state: string;
  values: { main?: number };
}

describe.runIf(hasBrowser())('visitors of a page with cards', () => {
  const stack = new AsyncDisposableStack();
  let api: TestApi;
  let browser: Browser;
  let tenant: TestTenant;
  let url: string;
  beforeAll(async () => {
    api = stack.use(await createApi());
    stack.use(await createWorker(api));
    const app = await bundleApp();
    tenant = await makeTenant(api);
    await publishQuestion(api, tenant, QUESTION);
    url = stack.use(await servePage(tenant, app, api.baseUrl)).url;
    browser = await openBrowser();
    stack.defer(() => browser.close());
  });
  afterAll(() => stack.disposeAsync());

  /** The requests of each visitor that the service refused or that failed, to explain a fault. */
  const unserved: string[][] = [];

  /** Lets a visitor use the site; resolves with the answer to expect. */
  async function letVisit(number: number): Promise<Memory> {
    const isPhone = number % 2 === 1;
    await using watched = await openPage(browser, isPhone ? PHONE : { viewport: { width: 1280, height: 800 } });
    const refused: string[] = [];
    unserved[number] = refused;
    watched.page.on('response', reply => reply.status() >= 400 && refused.push(`${reply.status()} ${reply.url()}`));
    watched.page.on('requestfailed', request => refused.push(`${request.failure()?.errorText} ${request.url()}`));
    const placement = PLACEMENTS[number % PLACEMENTS.length] as string;
    const query = new URLSearchParams({ user: `user|${number}`, base: api.baseUrl, placement });
    const memory = await visit(watched, { seed: number, isPhone, placement, url: `${url}/?${query}` });
    // a visitor's browser stays open, so its last request arrives; closing the context would abort it
    await waitFor(async () => isRight(memory, await storedOf(number)), 15_000).catch(() => undefined);
    expect([number, watched.complaints]).toEqual([number, []]);
    return memory;
  }

  /** The stored answers of a visitor. A card that was not touched may have been seen on several pages. */
  const storedOf = async (number: number): Promise<Stored[]> => {
    const path = `/v1/answers?limit=100&identity=${encodeURIComponent(`user|${number}`)}`;
    return (await api.request('GET', path, { as: tenant.key.apiKey })).body.data;
  };

  function isRight({ score, hasDeclined }: Memory, answers: Stored[]): boolean {
    const counted = answers.filter(({ state }) => /partial|completed/.test(state)).map(({ values }) => values.main);
    return counted.join() === `${score ?? ''}` && (hasDeclined || answers.every(({ state }) => state !== 'dismissed'));
  }

  test(
    `${VISITORS} visitors: every chosen score is stored, and using the page dismisses nobody`,
    async () => {
      const numbers = Array.from({ length: VISITORS }, (_, number) => number);
      const waiting = [...numbers];
      const memories: Memory[] = [];
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let number = waiting.shift(); number !== undefined; number = waiting.shift())
            memories[number] = await letVisit(number);
        }),
      );
      const answers = await Promise.all(numbers.map(storedOf));
      const faults = memories.flatMap((memory, number) => {
        const stored = (answers[number] ?? []).map(({ state, values }) => [state, values]);
        return isRight(memory, answers[number] ?? [])
          ? []
          : [{ number, ...memory, stored, unserved: unserved[number] }];
      });
      expect(faults).toEqual([]);
      const count = (state: string) => answers.flat().filter(answer => answer.state === state).length;
      const scored = memories.filter(({ score }) => score !== undefined).length;
      expect(scored).toBeGreaterThan(VISITORS / 4); // the visitors do use the cards
      const [question] = (await api.request('GET', '/v1/questions', { as: tenant.key.apiKey })).body.data;
      const results = await waitFor(async () => {
        const { body } = await api.request('GET', `/v1/questions/${question.id}/results`, { as: tenant.key.apiKey });
        return body.score.answers === scored && body;
      });
      expect(results.score.answers).toBe(scored);
      process.stdout.write(
        `visitors ${VISITORS}: ${scored} scores, all stored; completed ${count('completed')}, partial ${count('partial')}, dismissed ${count('dismissed')}, seen ${count('seen')}\n`,
      );
    },
    60_000 + VISITORS * 20_000,
  );
});
