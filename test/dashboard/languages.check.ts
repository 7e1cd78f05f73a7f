import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, expectNoViolationsOn, toasted, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { POLYGLOTS } from '../support/polyglots.ts';
import { asPerson, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

const QUESTION = {
  type: 'nps',
  title: 'How likely?',
  locale: 'en',
  config: { labels: { low: 'Not likely', high: 'Very likely' } },
  follow_ups: [{ key: 'reason', type: 'text', title: 'Why?', show_if: { step: 'main', op: 'lte', value: 6 } }],
};

describe.runIf(hasBrowser())('the languages of a question', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  const open = (path: string) => dashboard.open(path);
  const preview = () => page.getByRole('group', { name: 'Preview' });
  const textIn = (label: string) => page.getByRole('textbox', { name: `${label}, translation to German`, exact: true });
  const publish = async () => {
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish now' }).click();
  };

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('are translated side by side, and a missing text is reported at its field', async () => {
    const { id } = await asPerson(page, 'POST', '/v1/questions', QUESTION);
    await open(pathTo('question', { id }));
    await page.getByLabel('Language to add').selectOption('de');
    await page.getByRole('button', { name: 'Add language' }).click();
    await page.getByText('4 texts missing').waitFor();
    await textIn('Question').fill('Wie wahrscheinlich?');
    await textIn('Low end label').fill('Unwahrscheinlich');
    await textIn('High end label').fill('Sehr wahrscheinlich');
    await page.getByText('1 text missing').waitFor();
    await page.getByLabel('Language of the preview').selectOption('de');
    await preview().getByText('Wie wahrscheinlich?').waitFor();
    await preview().getByText('Unwahrscheinlich').waitFor();
    await expectNoViolations(ada);
    await publish();
    const missing = textIn('Step 2 · Question');
    await waitFor(async () => (await missing.and(page.locator(':focus')).count()) > 0);
    expect(await missing.getAttribute('aria-invalid')).toBe('true');
    await page.getByRole('alert').getByText('in this language', { exact: false }).waitFor();
    await expectNoViolations(ada);
    await missing.fill('Warum?');
    await page.getByText('Complete', { exact: true }).waitFor();
    await publish();
    await page.getByText('The question is live.').waitFor();
    const { translations } = await asPerson(page, 'GET', `/v1/questions/${id}`);
    expect(translations).toEqual({
      de: {
        title: 'Wie wahrscheinlich?',
        config: { labels: { low: 'Unwahrscheinlich', high: 'Sehr wahrscheinlich' } },
        follow_ups: { reason: { title: 'Warum?' } },
      },
    });
    await page.reload();
    expect(await page.getByLabel('Language of the texts above').isDisabled()).toBe(true);
    await expectNoViolationsOn(ada, [pathTo('question', { id })], open);
  });

  test('are removed, and kept by edits of other fields', async () => {
    const body = { ...QUESTION, title: 'Second', translations: { de: { title: 'Zweite' } } };
    const { id } = await asPerson(page, 'POST', '/v1/questions', body);
    await open(pathTo('question', { id }));
    await page.getByRole('textbox', { name: 'Description', exact: true }).first().fill('More');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await toasted(page, 'Saved');
    expect((await asPerson(page, 'GET', `/v1/questions/${id}`)).translations).toEqual({ de: { title: 'Zweite' } });
    await page.getByText('4 texts missing').click();
    await page.getByRole('button', { name: 'Remove German' }).click();
    await page.getByRole('button', { name: 'Save draft' }).click();
    await waitFor(async () => {
      const { translations } = await asPerson(page, 'GET', `/v1/questions/${id}`);
      return Object.keys(translations).length === 0;
    });
  });

  test('texts that try script injection stay texts in a translation', async () => {
    const text = (at: number) => (POLYGLOTS[at] as string).slice(0, 80).trim();
    const translation = {
      title: text(1),
      config: { labels: { low: text(2), high: text(3) } },
      follow_ups: { reason: { title: text(4) } },
    };
    const body = { ...QUESTION, title: 'Third', translations: { de: translation } };
    const { id } = await asPerson(page, 'POST', '/v1/questions', body);
    await open(pathTo('question', { id }));
    await page.getByText('Complete', { exact: true }).click();
    expect(await textIn('Question').inputValue()).toBe(text(1));
    await textIn('Question').fill(text(5));
    await page.getByLabel('Language of the preview').selectOption('de');
    await preview().getByText(text(5), { exact: true }).waitFor();
    await preview().getByText(text(2), { exact: true }).waitFor();
    expect(ada.complaints).toEqual([]);
  });
});
