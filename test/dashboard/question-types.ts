import type { Locator, Page } from 'playwright-core';

/** The editor's input for each type, the expected preview, and the stored config. */
export interface QuestionOfType {
  type: string;
  name: string;
  fill?(page: Page): Promise<void>;
  preview(card: Locator): Promise<unknown>;
  shown: unknown;
  config: object;
}

const radios = (card: Locator) => card.getByRole('radio').count();
const fillOptions = async (page: Page) => {
  await page.getByLabel('Option 1', { exact: true }).fill('Red');
  await page.getByLabel('Option 2', { exact: true }).fill('Green');
  await page.getByRole('button', { name: 'Add option' }).click();
  await page.getByLabel('Option 3', { exact: true }).fill('Blue');
  await page.getByRole('button', { name: 'Move option 3 up' }).click();
};
const OPTIONS = [
  { id: 'option-1', label: 'Red' },
  { id: 'option-3', label: 'Blue' },
  { id: 'option-2', label: 'Green' },
];

export const QUESTIONS: QuestionOfType[] = [
  {
    type: 'nps',
    name: 'Net Promoter Score',
    fill: page => page.getByLabel('High end label').fill('Gladly'),
    preview: async card => [await radios(card), await card.getByText('Gladly').count()],
    shown: [11, 1],
    config: { labels: { high: 'Gladly' } },
  },
  {
    type: 'csat',
    name: 'Satisfaction',
    fill: async page => void (await page.getByLabel('Display style').selectOption('smiley')),
    preview: async card => [await radios(card), await card.locator('[part=point] svg').count()],
    shown: [5, 5],
    config: { style: 'smiley', labels: { high: 'Gladly' } },
  },
  {
    type: 'ces',
    name: 'Effort',
    fill: async page => void (await page.getByLabel('Scale', { exact: true }).selectOption('7')),
    preview: radios,
    shown: 7,
    config: { scale: 7 },
  },
  {
    type: 'rating',
    name: 'Rating',
    fill: async page => {
      await page.getByLabel('Scale', { exact: true }).selectOption('10');
      await page.getByLabel('Display style').selectOption('star');
    },
    preview: async card => [await radios(card), await card.locator('[part=point] svg').count()],
    shown: [10, 10],
    config: { scale: 10, style: 'star' },
  },
  { type: 'thumbs', name: 'Thumbs', preview: radios, shown: 2, config: {} },
  {
    type: 'single_choice',
    name: 'Single choice',
    fill: fillOptions,
    preview: card => card.getByRole('radio').locator('..').allTextContents(),
    shown: ['Red', 'Blue', 'Green'],
    config: { options: OPTIONS, allow_other: false, shuffle: false },
  },
  {
    type: 'multi_choice',
    name: 'Multiple choice',
    fill: async page => {
      await fillOptions(page);
      await page.getByLabel('Allow “Other” with free text').check();
      await page.getByLabel('Maximum selections').fill('2');
    },
    preview: card => card.getByRole('checkbox').locator('..').allTextContents(),
    shown: ['Red', 'Blue', 'Green', 'Other'],
    config: { options: OPTIONS, allow_other: true, max: 2 },
  },
  {
    type: 'text',
    name: 'Text',
    fill: async page => {
      await page.getByLabel('Input type').selectOption('email');
      await page.getByLabel('Maximum length').fill('200');
    },
    preview: async card => {
      const input = card.locator('input[inputmode=email]');
      await input.fill('x'.repeat(201)); // as pasted: it is kept and marked
      return [(await input.inputValue()).length, await input.getAttribute('aria-invalid')];
    },
    shown: [201, 'true'],
    config: { input: 'email', max_length: 200, min_length: 0 },
  },
  { type: 'date', name: 'Date', preview: card => card.locator('input[type=date]').count(), shown: 1, config: {} },
  { type: 'consent', name: 'Consent', preview: card => card.getByLabel('I agree').count(), shown: 1, config: {} },
  {
    type: 'statement',
    name: 'Statement',
    fill: page => page.getByLabel('Link', { exact: true }).fill('https://acme.example/news'),
    preview: card => card.getByRole('link', { name: 'Read more' }).getAttribute('href'),
    shown: 'https://acme.example/news',
    config: { url: 'https://acme.example/news' },
  },
];
