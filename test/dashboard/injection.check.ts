import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { OVERRIDE, reversedNeighbours } from '../support/bidi.ts';
import { expectNoViolations, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asBearer, asPerson, type ShownKey, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** A text that would run a script where it is taken for HTML, and reverse the text after it where it is not isolated. */
const hostile = (name: string): string => `${name}<img src=x onerror=alert(1)>"'${OVERRIDE}${name}`;

const IDENTITY = hostile('mara');

/** A question whose every text is hostile, in two languages, with the thanks and recalls of attributes. */
const QUESTION = {
  type: 'nps',
  title: `${hostile('Own')} {{identity.attributes.plan|${hostile('fallback')}}}`,
  locale: 'en',
  follow_ups: [
    {
      key: 'reason',
      type: 'single_choice',
      title: hostile('Reason'),
      config: {
        options: [
          { id: 'a', label: hostile('A') },
          { id: 'b', label: hostile('B') },
        ],
        allow_other: true,
      },
    },
  ],
  thanks: {
    title: hostile('Thanks'),
    body: hostile('Body'),
    link: { label: hostile('Link'), url: 'https://a.example/?q=<img src=x onerror=alert(1)>' },
  },
  translations: {
    de: {
      title: `${hostile('Eigen')} {{identity.attributes.plan|${hostile('Ersatz')}}}`,
      follow_ups: {
        reason: { title: hostile('Grund'), config: { options: { a: hostile('AA'), b: hostile('BB') } } },
      },
      thanks: { title: hostile('Danke'), body: hostile('Text'), link: { label: hostile('Verweis') } },
    },
  },
};

describe.runIf(hasBrowser())('texts of translations, thanks, recalls and attributes', { timeout: 120_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  let key: ShownKey;
  let id: string;
  const open = (path: string) => dashboard.open(path);
  const asServer = (method: string, path: string, body?: unknown) =>
    asBearer(dashboard.installation.baseUrl, key.api_key, method, path, body);
  /** Expects that no text of the page was taken for HTML, ran a script, or reverses its neighbours. */
  const expectPlainTexts = async () => {
    expect(await page.locator('img[src="x"]').count()).toBe(0); // also in open shadow roots
    expect(await reversedNeighbours(page)).toEqual([]);
    await expectNoViolations(ada);
  };

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    key = await asPerson(page, 'POST', '/v1/api-keys', { name: 'backend', kind: 'server' });
    ({ id } = await asPerson(page, 'POST', '/v1/questions', QUESTION));
    await asPerson(page, 'POST', `/v1/questions/${id}/publish`);
    await asPerson(page, 'PATCH', `/v1/questions/${id}`, { title: hostile('Changed') });
    const attributes = { plan: hostile('plan'), link: 'javascript:alert(1)' };
    await asServer('PUT', `/v1/identities/${encodeURIComponent(IDENTITY)}`, { attributes });
    const answer = { identity: IDENTITY, revision: 1, question_id: id, question_version: 1, state: 'completed' };
    const values = { main: 3, reason: { other_text: hostile('Other') } };
    const metadata = { card_locale: 'de', trigger: hostile('trigger') };
    const comment = hostile('Comment');
    await asServer('POST', '/v1/answers', { answers: [{ id: randomUUID(), ...answer, values, comment, metadata }] });
    await waitFor(async () => (await asServer('GET', '/v1/answers')).data.length === 1);
  }, 120_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test.each([
    ['/thanks/link/url', { thanks: { title: 'a', link: { label: 'b', url: 'javascript:alert(1)' } } }],
    ['/config/url', { type: 'statement', config: { url: 'javascript:alert(1)' } }],
    ['/thanks/link/url', { thanks: { title: 'a', link: { label: 'b', url: 'data:text/html,<script>1</script>' } } }],
  ])('a link at %s that is not http or https is refused', async (pointer, fields) => {
    const refused = asServer('POST', '/v1/questions', { type: 'nps', title: 'Any', ...fields });
    await expect(refused).rejects.toThrow(`"pointer":"${pointer}"`);
  });

  test('stay texts in the preview, from the first step to the thanks, in each language', async () => {
    await open(pathTo('question', { id }));
    const preview = page.getByRole('group', { name: 'Preview' });
    for (const [language, reason, thanks] of [
      ['en', 'Reason', 'Thanks'],
      ['de', 'Grund', 'Danke'],
    ] as const) {
      await page.getByLabel('Language of the preview').selectOption(language);
      await preview.getByRole('radio').nth(3).check();
      await preview.getByRole('button', { name: language === 'de' ? 'Weiter' : 'Next' }).click();
      await preview.getByText(hostile(reason), { exact: true }).waitFor();
      await preview.getByRole('button', { name: language === 'de' ? 'Senden' : 'Send' }).click();
      await preview.getByText(hostile(thanks), { exact: true }).waitFor();
      await expectPlainTexts();
    }
  });

  test('stay texts in the list of answers and on the card of an answer', async () => {
    await open(`${pathTo('questionAnswers', { id })}?step=reason&value=other`);
    await page.getByText(hostile('Comment'), { exact: true }).waitFor();
    await expectPlainTexts();
    await page.getByRole('button', { name: 'View answer of' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(hostile('Grund'), { exact: true }).waitFor();
    await expectPlainTexts();
    await page.keyboard.press('Escape');
  });

  test('stay texts in results, versions and on the page of the person', async () => {
    for (const path of [
      `${pathTo('questionResults', { id })}?step=reason`,
      pathTo('questionVersions', { id }),
      pathTo('identity', { identity: IDENTITY }),
      pathTo('insights'),
      pathTo('people'),
      pathTo('questions'),
    ]) {
      await open(path);
      await page.getByText('onerror', { exact: false }).first().waitFor();
      await expectPlainTexts();
    }
    expect(await page.locator('a[href^="javascript:" i]').count()).toBe(0);
  });
});
