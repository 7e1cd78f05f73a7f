import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { openPage, panel } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { runCommand } from '../support/process.ts';
import { asBearer, asPerson, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

const LONG = 'Where is the parcel that you promised for last week and that my neighbours have not received either?';

/** The texts of a list that leave its panel. As a text, because of the page's types. */
const OUTSIDE = `[...document.querySelectorAll('main section')].flatMap(section =>
  [...section.querySelectorAll('li span, li a, li time')]
    .filter(each => each.getBoundingClientRect().right > section.getBoundingClientRect().right)
    .map(each => each.textContent))`;

describe.runIf(hasBrowser())('the home page', { timeout: 90_000 }, () => {
  let dashboard: OpenDashboard;
  let page: Page;
  const open = (of = page) => dashboard.open(pathTo('home'), of);

  beforeAll(async () => {
    dashboard = await openDashboard();
    page = dashboard.page;
    await setUp(page, dashboard.installation.setupLink);
    const key = await asPerson(page, 'POST', '/v1/api-keys', { name: 'backend', kind: 'server' });
    const send = (method: string, path: string, body?: unknown) =>
      asBearer(dashboard.installation.baseUrl, key.api_key, method, path, body);
    const { id } = await send('POST', '/v1/questions', { type: 'csat', title: LONG });
    await send('POST', `/v1/questions/${id}/publish`);
    const answer = (at: number, main: number) => ({
      id: `019aa000-0000-7000-8000-00000000000${at}`,
      ...{ identity: `a.rather.long.identity.without.any.break.${at}`.repeat(2), revision: 1, comment: LONG },
      ...{ question_id: id, question_version: 1, state: 'completed', values: { main } },
    });
    await send('POST', '/v1/answers', { answers: [answer(1, 5), answer(2, 1)] });
    await send('POST', '/v1/conversations', { identity: 'ux|1', subject: LONG, message: LONG });
    await waitFor(async () => (await send('GET', '/v1/ingestion')).stored === 2);
    const { database, environment } = dashboard.installation;
    // One answer is in the period before, so that the score has a change and the last days one answer.
    const moment = "now() - interval '40 days'";
    await database.query(
      `update answers set received_at = ${moment}, stored_at = ${moment} where "values"->>'main' = '1'`,
    );
    await database.query(`update conversations set waiting_since = now() - interval '3 hours'`);
    await send('POST', '/v1/conversations', { identity: 'ux|2', subject: 'A later one', message: 'Hello' });
    await database.query(`update conversations set waiting_since = now() - interval '1 hour',
      last_activity_at = now() - interval '1 hour' where identity = 'ux|2'`);
    expect(await runCommand(['results', 'rebuild'], environment)).toMatchObject({ code: 0 });
  }, 120_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('starts with the user who has waited longest, as the inbox shows it, although that user wrote again', async () => {
    await open();
    await panel(page, 'Waiting longest').getByText('3 hrs', { exact: true }).waitFor();
    const subjects = panel(page, 'Waiting longest').getByRole('link');
    expect(await subjects.allTextContents()).toEqual([LONG, 'A later one']);
    await dashboard.open(pathTo('inbox'));
    await page.getByText('Waiting 3 hrs', { exact: true }).waitFor();
  });

  test('counts a single answer in the singular', async () => {
    await open();
    await panel(page, 'Scores').getByText('Satisfied · 1 answer in 7 days', { exact: true }).waitFor();
  });

  test('shows long names and messages within their panels', async () => {
    await using phone = await openPage(dashboard.browser, {
      ...{ storageState: await page.context().storageState(), locale: 'de-DE' },
    });
    for (const width of [1280, 375]) {
      await phone.page.setViewportSize({ width, height: 800 });
      await open(phone.page);
      await phone.page.getByText('gegenüber den 30 Tagen davor').waitFor();
      await phone.page.getByText('3 Std.', { exact: true }).waitFor();
      expect(await phone.page.evaluate(OUTSIDE), `${width}`).toEqual([]);
    }
  });
});
