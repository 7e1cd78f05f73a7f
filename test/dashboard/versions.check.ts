import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolationsOn, openPage, panel, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { asPerson, setUp } from '../support/team.ts';

const WHY = {
  key: 'reason',
  type: 'single_choice',
  title: 'Why?',
  config: {
    options: [
      { id: 'price', label: 'The price' },
      { id: 'quality', label: 'The quality' },
    ],
  },
  required: true,
  show_if: { step: 'main', op: 'lte', value: 6 },
};
const CONTACT = { key: 'contact', type: 'text', title: 'May we write to you?' };
const GERMAN = {
  title: 'Wie wahrscheinlich?',
  follow_ups: {
    reason: { title: 'Warum?', config: { options: { price: 'Der Preis', quality: 'Die Qualität' } } },
    contact: { title: 'Dürfen wir schreiben?' },
  },
};

/** The changes that make versions 2, 3 and 4. */
const EDITS = [
  { follow_ups: [WHY, CONTACT], thanks: { title: 'Thank you!', link: { label: 'News', url: 'https://a.example' } } },
  {
    follow_ups: [
      CONTACT,
      { ...WHY, title: 'Why not {{identity.attributes.plan|your plan}}?', required: false, show_if: null },
    ],
    thanks: { title: 'Thanks a lot!', link: { label: 'News', url: 'https://a.example' } },
    translations: { de: { ...GERMAN, thanks: { title: 'Danke!', link: { label: 'Neues' } } } },
  },
  { follow_ups: [CONTACT], thanks: null, translations: {} },
];

describe.runIf(hasBrowser())('the versions of a question', { timeout: 90_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  let id: string;
  const changesOf = async (of: Page, version: number) => {
    const items = await panel(of, `Version ${version}`).getByRole('listitem').all();
    return Promise.all(
      items.map(async item => (await item.locator('p, span:not(.hidden-text)').allTextContents()).join(' | ')),
    );
  };

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    ({ id } = await asPerson(page, 'POST', '/v1/questions', { type: 'nps', title: 'How likely?', locale: 'en' }));
    await asPerson(page, 'POST', `/v1/questions/${id}/publish`);
    for (const edit of EDITS) await asPerson(page, 'PATCH', `/v1/questions/${id}`, edit);
  }, 120_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('are described in sentences with titles, labels and languages', async () => {
    await dashboard.open(pathTo('questionVersions', { id }));
    expect(await changesOf(page, 2)).toMatchInlineSnapshot(`
      [
        "Step “Why?” added | after: Single choice · Required · Shown if “How likely?” is at most 6",
        "Step “May we write to you?” added | after: Text · Optional",
        "Thanks added | after: Thank you!
      News (https://a.example)",
      ]
    `);
    expect(await changesOf(page, 3)).toMatchInlineSnapshot(`
      [
        "Step “Why?” retitled · recalls the attribute “plan” | before: Why? | after: Why not [plan, or “your plan”]?",
        "Step “Why not your plan?” · Condition changed | before: “How likely?” is at most 6 | after: Always",
        "Step “Why not your plan?” is now optional",
        "Steps reordered | before: Why not your plan? → May we write to you? | after: May we write to you? → Why not your plan?",
        "Thanks · Title changed | before: Thank you! | after: Thanks a lot!",
        "German added | after: 7 texts · Wie wahrscheinlich?",
      ]
    `);
    expect(await changesOf(page, 4)).toMatchInlineSnapshot(`
      [
        "Step “Why not your plan?” removed | before: Single choice · Optional",
        "Thanks removed | before: Thanks a lot!
      News (https://a.example)",
        "German removed | before: 7 texts · Wie wahrscheinlich?",
      ]
    `);
    await expectNoViolationsOn(ada, [pathTo('questionVersions', { id })], path => dashboard.open(path));
  });

  test('are described in German', async () => {
    const storageState = await ada.context.storageState();
    await using german = await openPage(dashboard.browser, { locale: 'de-DE', storageState });
    await dashboard.open(pathTo('questionVersions', { id }), german.page);
    expect(await changesOf(german.page, 2)).toMatchInlineSnapshot(`
      [
        "Schritt „Why?“ hinzugefügt | nachher: Einfachauswahl · Pflichtfeld · Angezeigt, wenn „How likely?“ ist höchstens 6",
        "Schritt „May we write to you?“ hinzugefügt | nachher: Text · Optional",
        "Dankestext hinzugefügt | nachher: Thank you!
      News (https://a.example)",
      ]
    `);
    expect(await changesOf(german.page, 3)).toMatchInlineSnapshot(`
      [
        "Schritt „Why?“ umbenannt · mit dem Attribut „plan“ | vorher: Why? | nachher: Why not [plan, sonst „your plan“]?",
        "Schritt „Why not your plan?“ · Bedingung geändert | vorher: „How likely?“ ist höchstens 6 | nachher: Immer",
        "Schritt „Why not your plan?“ ist jetzt optional",
        "Schritte umsortiert | vorher: Why not your plan? → May we write to you? | nachher: May we write to you? → Why not your plan?",
        "Dank · Titel geändert | vorher: Thank you! | nachher: Thanks a lot!",
        "Deutsch hinzugefügt | nachher: 7 Texte · Wie wahrscheinlich?",
      ]
    `);
    expect(german.complaints).toEqual([]);
  });
});
