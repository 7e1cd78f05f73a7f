import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, expectNoViolationsOn, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { POLYGLOTS } from '../support/polyglots.ts';
import { asPerson, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

const THANKS = {
  title: 'Thank you!',
  body: 'We read every answer.',
  link: { label: 'Roadmap', url: 'https://a.example' },
};

describe.runIf(hasBrowser())('thanks and placement of a question', { timeout: 90_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  const open = (path: string) => dashboard.open(path);
  const preview = () => page.getByRole('group', { name: 'Preview' });
  const field = (name: string) => page.getByRole('textbox', { name, exact: true });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const create = async (body: object = {}): Promise<string> =>
    (await asPerson(page, 'POST', '/v1/questions', { type: 'thumbs', title: 'Useful?', locale: 'en', ...body })).id;
  const stored = (id: string) => asPerson(page, 'GET', `/v1/questions/${id}`);
  const saveDraft = async () => {
    await press('Save draft');
    await page.getByText('All changes are saved').waitFor();
  };

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
  }, 120_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('thanks are written, shown in the preview, translated and removed', async () => {
    const id = await create();
    await open(pathTo('question', { id }));
    await page.getByText('Thanks', { exact: true }).click();
    await field('Text of the thanks').fill(THANKS.body);
    await press('Save draft');
    expect(await field('Title of the thanks').getAttribute('aria-invalid')).toBe('true');
    await field('Title of the thanks').fill(THANKS.title);
    await field('Link text').fill(THANKS.link.label);
    await field('Link address').fill('javascript:alert(1)');
    await press('Save draft');
    await page.getByText('Enter a complete address, including https://.').waitFor();
    await expectNoViolations(ada);
    await field('Link address').fill(THANKS.link.url);

    await page.getByLabel('Language to add').selectOption('de');
    await press('Add language');
    await page.getByText('4 texts missing').waitFor();
    const german = (label: string) => field(`${label}, translation to German`);
    await german('Question').fill('Nützlich?');
    await german('Title of the thanks').fill('Vielen Dank!');
    await german('Text of the thanks').fill('Wir lesen jede Antwort.');
    await german('Link text').fill('Pläne');
    await page.getByText('Complete', { exact: true }).waitFor();
    await page.getByLabel('Language of the preview').selectOption('de');
    await preview().getByRole('radio').first().check();
    await preview().getByRole('button', { name: 'Senden' }).click();
    await preview().getByText('Vielen Dank!').waitFor();
    expect(await preview().getByRole('link', { name: 'Pläne' }).getAttribute('href')).toBe(THANKS.link.url);
    await expectNoViolations(ada);
    await saveDraft();
    expect(await stored(id)).toMatchObject({
      thanks: THANKS,
      translations: {
        de: { thanks: { title: 'Vielen Dank!', body: 'Wir lesen jede Antwort.', link: { label: 'Pläne' } } },
      },
    });

    await press('Publish');
    await page.getByRole('dialog').locator('ins', { hasText: THANKS.body }).waitFor();
    await press('Publish now');
    await page.getByText('The question is live.').waitFor();
    for (const name of ['Title of the thanks', 'Text of the thanks', 'Link text', 'Link address'])
      await field(name).fill('');
    await press('Publish');
    await page.getByRole('dialog').locator('del', { hasText: THANKS.body }).waitFor();
    await press('Publish changes');
    await page.getByText('The changes are live.').waitFor();
    expect(await stored(id)).toMatchObject({ thanks: null, version: 2, translations: { de: { title: 'Nützlich?' } } });
  });

  test('a feedback button explains why it ignores the minimum time, and turns that on', async () => {
    const id = await create();
    await open(pathTo('question', { id }));
    const placement = page.getByLabel('Placement', { exact: true });
    await placement.selectOption({ label: 'Feedback button' });
    await press('Save draft');
    await page.getByText('A feedback button has to ignore the minimum time between questions.').waitFor();
    await waitFor(async () => (await placement.and(page.locator(':focus')).count()) > 0);
    await expectNoViolations(ada);
    await press('Ignore the minimum time');
    await saveDraft();
    expect(await stored(id)).toMatchObject({ placement: 'button', frequency: { ignore_cooldown: true } });
    await page.reload();
    expect(await placement.inputValue()).toBe('button');
    await placement.selectOption({ label: 'As in the settings of the tenant' });
    await saveDraft();
    expect((await stored(id)).placement).toBe(null);
  });

  test('texts that try script injection stay texts in the thanks', async () => {
    const texts = POLYGLOTS.filter(text => !text.includes('{{')).map(text => text.slice(0, 80).trim());
    const thanks = { title: texts[1], body: texts[2], link: { label: texts[3], url: 'https://a.example/?<script>' } };
    const id = await create({ thanks });
    await open(pathTo('question', { id }));
    expect(await field('Title of the thanks').inputValue()).toBe(texts[1]);
    await field('Name').fill('Edited');
    await preview().getByRole('radio').first().check();
    await preview().getByRole('button', { name: 'Send' }).click();
    await preview()
      .getByText(texts[1] as string, { exact: true })
      .waitFor();
    await preview()
      .getByText(texts[2] as string, { exact: true })
      .waitFor();
    await press('Discard');
    await press('Discard changes');
    expect(ada.complaints).toEqual([]);
    await expectNoViolationsOn(ada, [pathTo('question', { id })], open);
  });
});
