import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asPerson, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** A question with a reason after a bad score. */
const NPS = {
  type: 'nps',
  title: 'How likely?',
  follow_ups: [
    {
      key: 'reason',
      type: 'single_choice',
      title: 'What is the reason?',
      config: {
        options: [
          { id: 'price', label: 'The price' },
          { id: 'quality', label: 'The quality' },
        ],
      },
      required: true,
      show_if: { step: 'main', op: 'lte', value: 6 },
    },
  ],
};

describe.runIf(hasBrowser())('the preview of a question', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let page: Page;
  const stepFields = (number: number) => page.getByRole('group', { name: `Step ${number}`, exact: true });
  const preview = () => page.getByRole('group', { name: 'Preview' });
  const hasFocus = async (target: Locator) => (await target.and(page.locator(':focus')).count()) > 0;

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('stays at its step and keeps its input while the question is edited, up to the thanks', async () => {
    const { id } = await asPerson(page, 'POST', '/v1/questions', NPS);
    await dashboard.open(pathTo('question', { id }));
    await preview().getByRole('radio', { name: '3 of 10' }).check();
    await preview().getByRole('button', { name: 'Next' }).click();
    await preview().getByRole('radio', { name: 'The quality' }).check();
    await page.getByRole('button', { name: '2. What is the reason?' }).click();
    const text = stepFields(2).getByLabel('Text of the step');
    await text.fill('');
    await text.pressSequentially('Why this score?');
    await preview().getByText('Why this score?').waitFor();
    expect(await hasFocus(text)).toBe(true);
    expect(await preview().getByRole('radio', { name: 'The quality' }).isChecked()).toBe(true);
    await preview().getByRole('button', { name: 'Back' }).click();
    expect(await preview().getByRole('radio', { name: '3 of 10' }).isChecked()).toBe(true);
    await preview().getByRole('button', { name: 'Next' }).click();

    await page.getByRole('textbox', { name: 'Question', exact: true }).fill('Is it good?');
    await preview().getByText('Why this score?').waitFor();
    await stepFields(2).getByLabel('Value', { exact: true }).selectOption('2'); // this step is not shown any more
    await preview().getByText('Is it good?').waitFor();
    await stepFields(2).getByLabel('Value', { exact: true }).selectOption('3');
    await preview().getByText('Why this score?').waitFor();

    await preview().getByRole('button', { name: 'Send' }).click();
    await preview().getByText('Thank you for your feedback.').waitFor();
    await text.fill('Why?');
    await preview().getByText('Thank you for your feedback.').waitFor();
    await page.getByRole('button', { name: 'Show the card again' }).click();
    await preview().getByText('Is it good?').waitFor();
    await waitFor(async () => (await preview().getByRole('radio', { checked: true }).count()) === 0);
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    await preview().getByText('Is it good?').waitFor();
    const results = await asPerson(page, 'GET', `/v1/questions/${id}/results?test=true`);
    expect(results).toMatchObject({ answered: 1 }); // given before the first edit
  });
});
