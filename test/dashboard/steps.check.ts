import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { expectNoViolations, expectNoViolationsOn, openPage, panel, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import { POLYGLOTS } from '../support/polyglots.ts';
import { asBearer, asPerson, type ShownKey, setUp } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

/** A question with a reason after a bad score, and a contact after a reason. */
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
        allow_other: true,
      },
      required: true,
      show_if: { step: 'main', op: 'lte', value: 6 },
    },
    {
      key: 'contact',
      type: 'text',
      title: 'May we write to you?',
      show_if: { step: 'reason', op: 'in', value: ['price', 'other'] },
    },
  ],
};

describe.runIf(hasBrowser())('follow-up steps', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let ada: Watched;
  let page: Page;
  let key: ShownKey;
  const open = (path: string) => dashboard.open(path);
  const stepFields = (number: number) => page.getByRole('group', { name: `Step ${number}`, exact: true });
  const preview = () => page.getByRole('group', { name: 'Preview' });
  const hasFocus = async (target: Locator) => (await target.and(target.page().locator(':focus')).count()) > 0;
  /** Reaches a control with the tab key only. */
  const tabTo = async (target: Locator) => {
    for (let presses = 0; presses < 150; presses++) {
      if (await hasFocus(target)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`${target} cannot be reached with the tab key`);
  };
  /** Selects an option with the arrow keys. */
  const choose = async (select: Locator, label: string) => {
    await tabTo(select);
    await page.keyboard.press('Home');
    for (let presses = 0; presses < 30; presses++) {
      if ((await select.locator('option:checked').textContent()) === label) return;
      await page.keyboard.press('ArrowDown');
    }
    throw new Error(`There is no option ${label}`);
  };
  const create = async (body: object): Promise<string> => (await asPerson(page, 'POST', '/v1/questions', body)).id;
  const publish = async (body: object): Promise<string> => {
    const id = await create(body);
    await asPerson(page, 'POST', `/v1/questions/${id}/publish`);
    return id;
  };
  const answer = (identity: string, question_id: string, values: object, state = 'completed', comment?: string) =>
    asBearer(dashboard.installation.baseUrl, key.api_key, 'POST', '/v1/answers', {
      answers: [
        {
          ...{ id: randomUUID(), identity, revision: 1, question_id, question_version: 1, state, values },
          ...(comment ? { comment } : {}),
        },
      ],
    });

  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ person: ada, page } = dashboard);
    await setUp(page, dashboard.installation.setupLink);
    key = await asPerson(page, 'POST', '/v1/api-keys', { name: 'backend', kind: 'server' });
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('a question with two follow-ups is built with the keyboard only', async () => {
    await open(pathTo('newQuestion'));
    await tabTo(page.getByRole('textbox', { name: 'Question', exact: true }));
    await page.keyboard.type('How likely?');
    await tabTo(page.getByRole('button', { name: 'Add step' }));
    await page.keyboard.press('Enter');
    await waitFor(() => hasFocus(stepFields(2).getByLabel('Type', { exact: true })));
    await choose(stepFields(2).getByLabel('Type', { exact: true }), 'Single choice');
    await tabTo(stepFields(2).getByLabel('Text of the step'));
    await page.keyboard.type('What is the reason?');
    await tabTo(stepFields(2).getByLabel('Option 1', { exact: true }));
    await page.keyboard.type('The price');
    await tabTo(stepFields(2).getByLabel('Option 2', { exact: true }));
    await page.keyboard.type('The quality');
    await tabTo(stepFields(2).getByLabel('Required'));
    await page.keyboard.press('Space');
    await choose(stepFields(2).getByLabel('Show this step'), 'If all conditions are met');
    await choose(stepFields(2).getByLabel('Value', { exact: true }), '6');
    await tabTo(page.getByRole('button', { name: 'Add step' }));
    await page.keyboard.press('Enter');
    await tabTo(stepFields(3).getByLabel('Text of the step'));
    await page.keyboard.type('May we write to you?');
    await choose(stepFields(3).getByLabel('Show this step'), 'If at least one condition is met');
    const condition = stepFields(3).getByRole('group', { name: 'Condition 1' });
    await choose(condition.getByLabel('Comparison'), 'is one of');
    await tabTo(condition.getByLabel('The price'));
    await page.keyboard.press('Space');
    await expectNoViolations(ada);
    await tabTo(page.getByRole('button', { name: 'Save draft' }));
    await page.keyboard.press('Enter');
    await page.getByText('Draft created. Publish it when it is ready.').waitFor();
    const { data } = await asPerson(page, 'GET', '/v1/questions');
    expect(data[0].follow_ups).toMatchObject([
      {
        key: 'step-1',
        type: 'single_choice',
        title: 'What is the reason?',
        required: true,
        config: { options: [{ label: 'The price' }, { label: 'The quality' }] },
        show_if: { step: 'main', op: 'lte', value: 6 },
      },
      { key: 'step-2', type: 'text', show_if: { step: 'step-1', op: 'in', value: ['option-1'] } },
    ]);
  });

  test('the preview is walked through from step to step, and its answer is a test answer', async () => {
    const id = await create(NPS);
    await open(pathTo('question', { id }));
    await preview().getByRole('radio', { name: '9 of 10' }).check();
    await preview().getByRole('button', { name: 'Send' }).waitFor();
    await preview().getByRole('radio', { name: '3 of 10' }).check();
    await preview().getByRole('button', { name: 'Next' }).click();
    await preview().getByText('Step 2 of 2').waitFor();
    await preview().getByRole('radio', { name: 'The price' }).check();
    await preview().getByRole('button', { name: 'Next' }).click();
    await preview().getByRole('textbox', { name: 'May we write to you?' }).fill('Yes, please');
    await expectNoViolations(ada);
    await preview().getByRole('button', { name: 'Send' }).click();
    await page.getByText('1 test answer in the last 24 hours').waitFor();
    const results = await asPerson(page, 'GET', `/v1/questions/${id}/results?test=true&step=reason`);
    expect(results).toMatchObject({ answered: 1 });
  });

  test('steps are moved and removed, and a condition on a later or removed step is reported at its field', async () => {
    const id = await create(NPS);
    await open(pathTo('question', { id }));
    await page.getByRole('button', { name: 'Move step 3 up' }).click();
    await page.getByText('Step 3 is now step 2.').waitFor();
    await waitFor(() => hasFocus(page.getByRole('button', { name: '2. May we write to you?' })));
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish now' }).click();
    const step = stepFields(2).getByRole('group', { name: 'Condition 1' }).getByLabel('Step');
    await stepFields(2).getByText('Must be the key of an earlier step', { exact: false }).waitFor();
    await waitFor(() => hasFocus(step));
    expect(await step.getAttribute('aria-invalid')).toBe('true');
    await expectNoViolations(ada);
    await page.getByRole('button', { name: 'Remove step 3' }).click();
    await stepFields(2).getByText('reason (removed)').waitFor({ state: 'attached' });
    await step.selectOption('main');
    await stepFields(2).getByLabel('Comparison').selectOption('gte');
    await stepFields(2).getByLabel('Value', { exact: true }).selectOption('9');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish now' }).click();
    await page.getByText('The question is live.').waitFor();
    const { status, follow_ups } = await asPerson(page, 'GET', `/v1/questions/${id}`);
    expect(status).toBe('live');
    expect(follow_ups).toMatchObject([{ key: 'contact', show_if: { step: 'main', op: 'gte', value: 9 } }]);
  });

  test.each([
    ['repeated-key', { key: 'reason' }, 'Key', 'Ein anderer Schritt hat diesen Schlüssel.'],
    ['unknown-step', { show_if: { step: 'gone', op: 'answered' } }, 'Schritt', 'Diesen Schritt gibt es nicht mehr.'],
    ['looks-ahead', { show_if: { step: 'contact', op: 'answered' } }, 'Schritt', 'Dieser Schritt kommt später.'],
    [
      'unreachable-step',
      { show_if: { step: 'main', op: 'lt', value: 0 } },
      'Diesen Schritt anzeigen',
      'Die Bedingungen widersprechen sich',
    ],
    [
      'wrong-operator',
      { show_if: { step: 'main', op: 'contains_any', value: ['a'] } },
      'Vergleich',
      'passt nicht zum Typ',
    ],
    ['unknown-option', { show_if: { step: 'reason', op: 'eq', value: 'none' } }, 'Wert', 'hat diese Option nicht'],
    ['out-of-range', { show_if: { step: 'main', op: 'eq', value: 11 } }, 'Wert', 'außerhalb des zulässigen Bereichs'],
    ['required', { show_if: { step: 'main', op: 'eq' } }, 'Wert', 'Pflichtfeld'],
  ])('%s is reported in German at the field, which is focused', async (_, change, label, text) => {
    const [reason, contact] = NPS.follow_ups;
    const id = await create({ ...NPS, follow_ups: [reason, { ...contact, ...change }] });
    const storageState = await ada.context.storageState();
    await using german = await openPage(dashboard.browser, { locale: 'de-DE', storageState });
    await dashboard.open(pathTo('question', { id }), german.page);
    await german.page.getByRole('button', { name: 'Veröffentlichen' }).click();
    await german.page.getByRole('button', { name: 'Jetzt veröffentlichen' }).click();
    const fields = german.page.getByRole('group', { name: 'Schritt 3', exact: true });
    await fields.locator('p', { hasText: text }).waitFor();
    const field = label === 'Key' ? fields.getByLabel('Schlüssel') : fields.getByLabel(label, { exact: true });
    await waitFor(() => hasFocus(field));
    expect(german.complaints).toEqual([]);
  });

  test('a question starts from a template in the chosen language, and asks before it replaces edits', async () => {
    await open(pathTo('newQuestion'));
    await tabTo(page.getByText('Start from a template'));
    await page.keyboard.press('Enter');
    await choose(page.getByLabel('Language of the templates'), 'Deutsch');
    await tabTo(page.getByRole('button', { name: 'Net Promoter Score' }));
    await expectNoViolations(ada);
    await page.keyboard.press('Enter');
    const title = page.getByRole('textbox', { name: 'Question', exact: true });
    await waitFor(async () => (await title.inputValue()).startsWith('Wie wahrscheinlich ist es'));
    await page.getByRole('button', { name: 'Fehlermeldung' }).click();
    await waitFor(async () => (await title.inputValue()) === 'Was hat nicht funktioniert?');
    await title.fill('Was ist los?');
    await page.getByRole('button', { name: 'Kündigung' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await title.inputValue()).toBe('Was ist los?');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish now' }).click();
    await page.getByText('The question is live.').waitFor();
    const { data } = await asPerson(page, 'GET', '/v1/questions?q=Fehlermeldung');
    expect(data).toMatchObject([
      { title: 'Was ist los?', status: 'live', locale: 'de', frequency: { repeat: 'always' } },
    ]);
    expect(data[0].follow_ups.map(({ key: name }: { key: string }) => name)).toEqual([
      ...['expected', 'frequency', 'impact', 'email'],
    ]);
  });

  test('a question that could not be published is one draft, however often it is tried', async () => {
    await open(pathTo('newQuestion'));
    await page.getByRole('textbox', { name: 'Question', exact: true }).fill('Published once');
    await page.getByRole('button', { name: 'Add step' }).click();
    await stepFields(2).getByLabel('Text of the step').fill('Why?');
    await stepFields(2).getByLabel('Show this step').selectOption('all');
    for (const value of ['', '4']) {
      if (value) await stepFields(2).getByLabel('Value', { exact: true }).selectOption(value);
      await page.getByRole('button', { name: 'Publish', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Publish now' }).click();
      if (!value) await stepFields(2).locator('[aria-invalid=true]').waitFor();
    }
    await page.getByText('The question is live.').waitFor();
    const { data } = await asPerson(page, 'GET', '/v1/questions?q=Published');
    expect(data).toHaveLength(1);
  });

  test('changes of steps are listed before publishing; type, options and key are fixed, other steps are not', async () => {
    const id = await publish(NPS);
    await open(pathTo('question', { id }));
    await page.getByRole('button', { name: '2. What is the reason?' }).click();
    expect(await stepFields(2).getByLabel('Type', { exact: true }).isDisabled()).toBe(true);
    expect(await stepFields(2).getByLabel('Key').getAttribute('readonly')).not.toBeNull();
    expect(await stepFields(2).getByRole('button', { name: 'Add option' }).count()).toBe(0);
    await stepFields(2).getByLabel('Text of the step').fill('Why not?');
    await stepFields(2).getByLabel('Value', { exact: true }).selectOption('5');
    await page.getByRole('button', { name: 'Remove step 3' }).click();
    await page.getByRole('button', { name: 'Add step' }).click();
    expect(await stepFields(3).getByLabel('Type', { exact: true }).isDisabled()).toBe(false);
    await stepFields(3).getByLabel('Text of the step').fill('Anything else?');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('“How likely?” is at most 5').waitFor();
    for (const text of ['Why not?', 'Anything else?', 'Removed step'])
      expect(await dialog.getByText(text, { exact: true }).count()).toBe(1);
    await expectNoViolations(ada);
    await dialog.getByRole('button', { name: 'Publish changes' }).click();
    await page.getByText('The changes are live.').waitFor();
    const { version, follow_ups } = await asPerson(page, 'GET', `/v1/questions/${id}`);
    expect([version, ...follow_ups.map((step: { key: string }) => step.key)]).toEqual([2, 'reason', 'step-v2-2']);
  });

  test('results, lists and the shown card have every step', async () => {
    const id = await publish(NPS);
    await answer('mara', id, { main: 3, reason: { option_id: 'price' }, contact: 'Call me' }, 'completed', 'Too dear');
    await answer('jonas', id, { main: 5, reason: { other_text: 'The colour' } });
    await answer('ines', id, { main: 2 }, 'partial');
    await answer('tobi', id, { main: 10 });
    await waitFor(async () => (await asPerson(page, 'GET', `/v1/answers?question_id=${id}`)).data.length === 4);
    await open(pathTo('questionResults', { id }));
    const steps = panel(page, 'Steps');
    const rows = await steps.getByRole('row').allTextContents();
    expect(rows.map(row => row.replaceAll(/\s+/g, ' '))).toMatchObject([
      expect.stringContaining('Ended here'),
      expect.stringContaining('How likely?'),
      expect.stringMatching(/What is the reason\?.*3.*2 \(67%\).*0 \(0%\).*1 \(33%\)/),
      expect.stringMatching(/May we write to you\?.*2.*1 \(50%\).*1 \(50%\).*0 \(0%\)/),
    ]);
    await steps.getByRole('button', { name: '2. What is the reason?' }).click();
    await page.getByRole('rowheader', { name: 'The price' }).waitFor();
    await waitFor(async () => new URL(page.url()).search.includes('step=reason'));
    await expectNoViolations(ada);
    await panel(page, 'Comments').getByText('Call me').waitFor();
    await page.reload();
    await page.getByRole('rowheader', { name: 'The price' }).waitFor();

    await page.getByRole('link', { name: 'Other', exact: true }).click();
    await page.getByText('Step: What is the reason?').waitFor();
    await page.getByText('Value: Other').waitFor();
    await page.getByRole('button', { name: 'View answer of jonas' }).waitFor();
    expect(await page.getByRole('button', { name: 'View answer of', exact: false }).count()).toBe(1);
    await expectNoViolations(ada);
    await page.getByRole('button', { name: 'Clear filters' }).click();

    await page.getByText('Other: The colour').waitFor();
    await page.getByRole('button', { name: 'View answer of mara' }).click();
    const dialog = page.getByRole('dialog');
    const first = dialog.getByRole('group', { name: 'Step 1' });
    const second = dialog.getByRole('group', { name: 'Step 2' });
    await waitFor(() => first.getByRole('radio', { name: '3 of 10' }).isChecked());
    expect(await first.getByRole('textbox').inputValue()).toBe('Too dear');
    await waitFor(() => second.getByRole('radio', { name: 'The price' }).isChecked());
    expect(await dialog.getByRole('group', { name: 'Step 3' }).getByRole('textbox').inputValue()).toBe('Call me');
    const [card, field] = [dialog.getByRole('group', { name: 'Step 3' }), dialog.getByRole('textbox').last()];
    const boxOf = async (one: Locator) => (await one.boundingBox()) as { y: number; height: number };
    const [outer, inner] = [await boxOf(card), await boxOf(field)];
    expect(outer.y + outer.height).toBeGreaterThan(inner.y + inner.height); // nothing sticks out of the card
    await expectNoViolations(ada);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'View answer of ines' }).click();
    await dialog.getByText('Not answered').waitFor();
    expect(await dialog.getByRole('group').count()).toBeGreaterThan(0);
    expect(await dialog.getByRole('listitem').count()).toBe(2);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'View answer of tobi' }).click();
    await waitFor(() => dialog.getByRole('radio', { name: '10 of 10' }).isChecked());
    expect(await dialog.getByText('What is the reason?').count()).toBe(0);
    await page.keyboard.press('Escape');
  });

  test('texts that try script injection stay texts in every place of a step', async () => {
    const texts = POLYGLOTS.filter(each => !each.includes('{{')).slice(0, 40); // published texts with double braces are recalls
    const text = (at: number) => (texts[at % texts.length] as string).slice(0, 80).trim();
    const follow_ups = Array.from({ length: 9 }, (_, at) => ({
      key: `s${at}`,
      type: at % 2 ? 'csat' : 'multi_choice',
      title: text(4 * at),
      description: text(4 * at + 1),
      config:
        at % 2
          ? { labels: { low: text(4 * at + 2), high: text(4 * at + 3) } }
          : {
              options: [
                { id: 'a', label: text(4 * at + 2) },
                { id: 'b', label: text(4 * at + 3) },
              ],
              allow_other: true,
            },
      show_if: at % 2 ? { step: `s${at - 1}`, op: 'contains_any', value: ['a'] } : null,
    }));
    const id = await publish({ type: 'nps', title: text(39), follow_ups });
    const values = Object.fromEntries(
      follow_ups.map(({ key: name, type }, at) => [
        name,
        type === 'csat' ? 4 : { option_ids: ['a'], other_text: text(at) },
      ]),
    );
    await answer(text(7), id, { main: 4, ...values }, 'completed', text(8));
    await waitFor(async () => (await asPerson(page, 'GET', `/v1/answers?question_id=${id}`)).data.length === 1);
    await open(pathTo('question', { id }));
    for (const { title } of follow_ups)
      expect(await page.getByText(title, { exact: false }).count()).toBeGreaterThan(0);
    await preview().getByRole('radio', { name: '4 of 10' }).check();
    await preview().getByRole('button', { name: 'Next' }).click();
    await preview().getByText(text(0), { exact: true }).waitFor();
    await open(pathTo('questionResults', { id }));
    await panel(page, 'Steps').getByRole('button').nth(1).click();
    await page.getByRole('rowheader', { name: text(2), exact: true }).waitFor();
    await open(pathTo('questionAnswers', { id }));
    await page.getByRole('button', { name: 'View answer of' }).click();
    await page.getByRole('dialog').getByRole('group', { name: 'Step 10' }).waitFor();
    await page.keyboard.press('Escape');
    expect(ada.complaints).toEqual([]);
    await expectNoViolationsOn(
      ada,
      [pathTo('question', { id }), pathTo('questionResults', { id }), pathTo('questionAnswers', { id })],
      open,
    );
  });
});
