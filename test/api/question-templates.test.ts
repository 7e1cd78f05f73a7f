import { afterAll, describe, expect, test } from 'vitest';
import type { QuestionTemplate } from '../../src/domain/questions/templates/templates.ts';
import { createApi } from '../support/api.ts';
import { makeTenant } from '../support/make.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());

const IDS = [
  ...['nps', 'csat', 'ces', 'product-market-fit'],
  ...['churn', 'onboarding', 'feature-request', 'bug-report'],
];

const tenant = await makeTenant(api);
const list = async (query = ''): Promise<QuestionTemplate[]> =>
  (await api.request('GET', `/v1/question-templates${query}`, { as: tenant.key.apiKey })).body.data;

/** A question without its texts: everything that must be the same in every language. */
const withoutTexts = ({ question: { name: _, locale: __, ...question } }: QuestionTemplate): unknown =>
  JSON.parse(
    JSON.stringify(question, (key, value) =>
      ['title', 'description', 'label', 'low', 'high'].includes(key) ? '' : value,
    ),
  );

/** Every text of a template. */
const textsOf = (template: QuestionTemplate): string[] =>
  [...JSON.stringify(template).matchAll(/"(?:title|description|label|low|high)":"((?:[^"\\]|\\.)+)"/g)].map(
    ([, text]) => text as string,
  );

describe.each(['en', 'de'])('the templates in %s', locale => {
  test('are the eight common questions, each of which is created and published as it is', async () => {
    const templates = await list(`?locale=${locale}`);
    expect(templates.map(({ id }) => id)).toEqual(IDS);
    for (const { id, question } of templates) {
      const created = await api.request('POST', '/v1/questions', { as: tenant.key.apiKey, body: question });
      expect([id, created.status]).toEqual([id, 201]);
      expect(created.body).toMatchObject(question);
      const path = `/v1/questions/${created.body.id}/publish`;
      const published = await api.request('POST', path, { as: tenant.key.apiKey });
      expect([id, published.status, published.body.status]).toEqual([id, 200, 'live']);
    }
  });

  test('have a text for every option, and none of another language', async () => {
    const other = new Set((await list(`?locale=${locale === 'en' ? 'de' : 'en'}`)).flatMap(textsOf));
    for (const template of await list(`?locale=${locale}`)) {
      expect(textsOf(template).length).toBeGreaterThanOrEqual(template.question.follow_ups.length + 2);
      expect(textsOf(template).filter(text => other.has(text))).toEqual([]);
    }
  });
});

test('the templates differ between languages in their texts only', async () => {
  const [english, german] = [await list('?locale=en'), await list('?locale=de')];
  expect(german.map(withoutTexts)).toEqual(english.map(withoutTexts));
});

test.each([
  ['', 'en'],
  ['?locale=de-AT', 'de'],
  ['?locale=DE_de', 'de'],
  ['?locale=fr', 'en'],
  ['?locale=en-US', 'en'],
  ['?locale=x!', 'en'],
])('%s returns the texts in %s', async (query, locale) => {
  expect(await list(query)).toEqual(await list(`?locale=${locale}`));
});

test('the NPS asks critics and promoters different things', async () => {
  const [nps] = await list();
  expect(nps?.question.follow_ups.map(({ key, show_if }) => [key, show_if])).toEqual([
    ['improve', { step: 'main', op: 'lte', value: 8 }],
    ['like', { step: 'main', op: 'gte', value: 9 }],
  ]);
});

test('only the NPS is asked again, every few months as its description says', async () => {
  const [nps, ...others] = await list();
  expect(nps?.question.frequency).toMatchObject({ repeat: 'every_days', every_days: 90, ignore_cooldown: false });
  expect(others.filter(({ question }) => question.frequency.repeat === 'every_days')).toEqual([]);
});

test('a key without the scope and an app get none; an unchanged list is not sent again', async () => {
  const limited = await makeTenant(api);
  const token = await limited.sign('user|1');
  expect((await api.request('GET', '/v1/question-templates', { as: token })).status).toBe(403);
  expect((await api.request('GET', '/v1/question-templates')).status).toBe(401);
  const { headers } = await api.request('GET', '/v1/question-templates', { as: tenant.key.apiKey });
  const again = await api.request('GET', '/v1/question-templates', {
    as: tenant.key.apiKey,
    headers: { 'If-None-Match': headers.get('etag') as string },
  });
  expect(again.status).toBe(304);
});
