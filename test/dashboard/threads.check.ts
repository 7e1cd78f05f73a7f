import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { parseTypeId } from '../../src/domain/ids.ts';
import { expectNoViolations, expectNoViolationsOn, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { SEED_CONVERSATIONS, SEED_THREAD } from '../support/large-tenant.ts';
import { asPerson, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

const MESSAGES = 10_000;
const CONVERSATIONS = 5000;
/** More rows than this in the DOM would mean that the thread is not virtualized. */
const MOST_ROWS = 60;

describe.runIf(hasBrowser())(
  `a thread of ${MESSAGES} messages next to ${CONVERSATIONS} conversations`,
  { timeout: 240_000 },
  () => {
    let dashboard: OpenDashboard;
    let ada: Watched;
    let page: Page;
    let id: string;
    let cdp: CDPSession;
    const list = () => page.getByRole('list', { name: 'Messages' });
    const message = (number: number) => list().getByText(new RegExp(`^Message ${number}( and so on)*$`));
    const composer = () => page.getByRole('textbox', { name: 'Reply to the user' });
    const openThread = () => dashboard.open(pathTo('conversation', { id }));
    const metric = async (name: string): Promise<number> =>
      (await cdp.send('Performance.getMetrics')).metrics.find(each => each.name === name)?.value ?? Number.NaN;
    /** The requests for the API during an act: method and path. */
    const requestsDuring = async (act: () => Promise<unknown>): Promise<string[]> => {
      const sent: string[] = [];
      const note = (request: { method(): string; url(): string }) => {
        const { pathname, search } = new URL(request.url());
        if (pathname.startsWith('/v1/')) sent.push(`${request.method()} ${pathname}${search}`);
      };
      page.on('request', note);
      await act();
      page.off('request', note);
      return sent;
    };

    beforeAll(async () => {
      dashboard = await openDashboard();
      ({ person: ada, page } = dashboard);
      await setUp(page, dashboard.installation.setupLink);
      ({ id } = await asPerson(page, 'POST', '/v1/conversations', { identity: 'ux|1', message: 'Message 1' }));
      const { query } = dashboard.installation.database;
      await query(SEED_CONVERSATIONS, [CONVERSATIONS]);
      await query(SEED_THREAD, [parseTypeId('conversation', id), MESSAGES]);
      await query('analyze conversations, messages');
      cdp = await page.context().newCDPSession(page);
      await cdp.send('Performance.enable');
    }, 300_000);
    afterAll(() => dashboard?.[Symbol.asyncDispose]());

    test('shows its newest message with two pages of messages at most', async () => {
      await dashboard.open(pathTo('inbox'));
      const row = page.getByRole('grid', { name: 'Conversations' }).getByRole('row', { name: 'ux|1', exact: true });
      await row.waitFor();
      const sent = await requestsDuring(async () => {
        await row.click();
        await message(MESSAGES).waitFor();
        await page.waitForTimeout(1000);
      });
      expect(sent.filter(path => path.includes('/messages')).length).toBeLessThanOrEqual(2);
      expect(await list().getByRole('listitem').count()).toBeLessThan(MOST_ROWS);
      await expectNoViolations(ada);
    });

    test('is shown by its address too', async () => {
      await page.goto(page.url());
      await message(MESSAGES).waitFor();
    });

    test('requests no messages and hardly any time while it is idle', async () => {
      await page.waitForTimeout(3000);
      const before = await metric('TaskDuration');
      const seconds = 20;
      const sent = await requestsDuring(() => page.waitForTimeout(seconds * 1000));
      const share = ((await metric('TaskDuration')) - before) / seconds;
      console.log(`idle: ${(share * 100).toFixed(2)} % of a core, ${sent.length} requests in ${seconds} s`);
      expect(sent.filter(path => path.includes('/messages'))).toEqual([]);
      expect(share).toBeLessThan(0.1); // one that renders all the time needs a quarter and more
    });

    test('requests only new messages, notes and events', async () => {
      const sent = await requestsDuring(async () => {
        await asPerson(page, 'POST', `/v1/conversations/${id}/messages`, { body: 'A note', kind: 'note' });
        await list().getByText('A note', { exact: true }).waitFor();
        await asPerson(page, 'PATCH', `/v1/conversations/${id}`, { subject: 'Ten thousand' });
        await list().getByText('Ada changed the subject to “Ten thousand”').waitFor();
      });
      const lists = sent.filter(path => path.startsWith('GET') && path.includes('/messages'));
      expect(lists.length).toBeLessThanOrEqual(3);
      for (const path of lists.slice(1)) expect(path).toMatch(/after_seq=\d{3,}.*after_note_seq=0/);
    });

    test('needs at most 3 requests for a reply, and takes 50 replies in a row', async () => {
      const polls = (path: string) => path.startsWith('GET') && !path.includes('/messages');
      const one = await requestsDuring(async () => {
        await composer().fill('Reply 0');
        await page.keyboard.press('Control+Enter');
        await list().getByText('Reply 0', { exact: true }).waitFor();
        await page.waitForTimeout(4000);
      });
      expect(one.filter(path => !polls(path)).length).toBeLessThanOrEqual(2); // and one GET of the conversation
      let refused = 0;
      page.on('response', reply => {
        if (reply.status() === 429) refused++;
      });
      const before = Date.now();
      const all = await requestsDuring(async () => {
        for (let number = 1; number <= 50; number++) {
          await composer().fill(`Reply ${number}`);
          await page.keyboard.press('Control+Enter');
          await waitFor(async () => (await composer().inputValue()) === '');
        }
        await list().getByText('Reply 50', { exact: true }).waitFor();
      });
      expect(refused).toBe(0);
      expect(all.filter(path => path.startsWith('POST'))).toHaveLength(50);
      console.log(`50 replies: ${all.length} requests in ${((Date.now() - before) / 1000).toFixed(1)} s`);
      expect(all.length).toBeLessThanOrEqual(150);
      const { data } = await asPerson(page, 'GET', `/v1/conversations/${id}/messages?order=desc&limit=60`);
      const replies = data.filter(({ kind }: { kind: string }) => kind === 'reply'); // the first one is also an event
      expect(replies.slice(0, 51).map(({ body }: { body: string }) => body)).toEqual(
        Array.from({ length: 51 }, (_, index) => `Reply ${50 - index}`),
      );
    });

    test('can be read back to its first message, once each and in order', async () => {
      await list().focus();
      const seen = new Set<number>();
      const read = async () => {
        const numbers = await list()
          .getByText(/^Message \d+/)
          .allTextContents();
        const shown = numbers.map(text => Number(/\d+/.exec(text)?.[0]));
        expect(shown).toEqual(shown.toSorted((one, other) => one - other));
        for (const number of shown) seen.add(number);
      };
      await list().hover();
      for (let turns = 0; (await message(1).count()) === 0; turns++) {
        expect(turns).toBeLessThan(3000);
        await page.mouse.wheel(0, -1500);
        await page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))');
        if (turns % 5 === 0) await read();
        expect(await list().getByRole('listitem').count()).toBeLessThan(MOST_ROWS);
      }
      await read();
      expect(seen.size).toBeGreaterThan(MESSAGES / 4); // of each fifth screen: the view never jumped over pages
      await cdp.send('HeapProfiler.collectGarbage');
      const heapMb = (await metric('JSHeapUsedSize')) / 1e6;
      console.log(`read back: ${heapMb.toFixed(1)} MB of heap, ${seen.size} messages read`);
      expect(heapMb).toBeLessThan(30);
    });

    test('does not move while somebody reads older messages and new ones arrive', async () => {
      await openThread();
      await message(MESSAGES)
        .or(list().getByText('Reply 50', { exact: true }))
        .first()
        .waitFor();
      await list().hover();
      for (let turns = 0; turns < 12; turns++) {
        await page.mouse.wheel(0, -700);
        await page.waitForTimeout(60);
      }
      await page.waitForTimeout(500);
      const place = () =>
        page.evaluate<string>(`(() => {
          const list = document.querySelector('ol[aria-label=Messages]');
          const top = list.getBoundingClientRect().top;
          const row = [...list.querySelectorAll('li[data-id]')].find(each => each.getBoundingClientRect().bottom > top);
          return row.dataset.id + ' ' + Math.round(row.getBoundingClientRect().top - top);
        })()`);
      const before = await place();
      for (const body of ['While you read, 1', 'While you read, 2'])
        await asPerson(page, 'POST', `/v1/conversations/${id}/messages`, { body });
      const news = page.getByRole('button', { name: '2 new messages' });
      await news.waitFor();
      expect(await place()).toBe(before);
      await expectNoViolations(ada);
      await news.click();
      await list().getByText('While you read, 2').waitFor();
      await news.waitFor({ state: 'detached' });
      await asPerson(page, 'POST', `/v1/conversations/${id}/messages`, { body: 'At the end' });
      await list().getByText('At the end').waitFor(); // a reader at the end follows
      const distance = await page.evaluate<number>(
        '(list => list.scrollHeight - list.scrollTop - list.clientHeight)(document.querySelector("ol[aria-label=Messages]"))',
      );
      expect(distance).toBeLessThan(2);
    });

    test('is accessible in both themes and sizes', async () => {
      const paths = [pathTo('inbox'), pathTo('conversation', { id })];
      await expectNoViolationsOn(ada, paths, path => dashboard.open(path));
    });
  },
);
