import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { createApi, waitFor } from '../support/api.ts';
import { aQuestion, claimToken, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { expectProblem } from '../support/questions.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());

const OPTIONS = [
  { id: 'price', label: 'Price' },
  { id: 'speed', label: 'Speed' },
];
const ENGLISH = {
  title: 'How likely?',
  description: 'Honestly',
  config: { labels: { low: 'Not', high: 'Very' } },
  follow_ups: [{ key: 'reason', type: 'single_choice', title: 'Why?', config: { options: OPTIONS } }],
};
/** The same texts, each with the tag before it. */
const inLanguage = (tag: string) => ({
  title: `${tag} How likely?`,
  description: `${tag} Honestly`,
  config: { labels: { low: `${tag} Not`, high: `${tag} Very` } },
  follow_ups: {
    reason: { title: `${tag} Why?`, config: { options: { price: `${tag} Price`, speed: `${tag} Speed` } } },
  },
});
const translated = (...tags: string[]) => Object.fromEntries(tags.map(tag => [tag, inLanguage(tag)]));

const fetchCards = (token: string, query = '', headers: Record<string, string> = {}) =>
  api.request('GET', `/v1/cards${query}`, { as: token, headers });
const patchQuestion = (tenant: TestTenant, id: string, body: object) =>
  api.request('PATCH', `/v1/questions/${id}`, { as: tenant.key.apiKey, body });
const put = (tenant: TestTenant, identity: string, body: object, query = '') =>
  api.request('PUT', `/v1/identities/${identity}${query}`, { as: tenant.key.apiKey, body });

interface TestCard {
  locale: string;
  steps: {
    title: string;
    description: string;
    config: { labels?: Record<string, string>; options?: { label: string }[] };
  }[];
}

/** Every text of a card that users read. */
const textsOf = ({ steps }: TestCard): string[] =>
  steps
    .flatMap(({ title, description, config }) => [
      ...[title, description, ...Object.values(config.labels ?? {})],
      ...(config.options ?? []).map(({ label }) => label),
    ])
    .filter(text => text !== '');

/** Whether all texts of a card are in its language. The question's own texts have no tag before them. */
const isEntirelyIn = (card: TestCard, own: string): boolean =>
  textsOf(card).every(text => (card.locale === own ? /^[A-Z]/.test(text) : text.startsWith(`${card.locale} `)));

test('a card is entirely in the language of the request, and says so', async () => {
  const tenant = await makeTenant(api);
  await publishQuestion(api, tenant, { ...ENGLISH, translations: translated('de', 'pt-BR') });
  const token = await tenant.sign('user|1');
  await waitFor(async () => (await fetchCards(token)).body.data.length === 1);
  for (const [query, acceptLanguage, locale] of [
    ['?locale=de-AT', '', 'de'],
    ['?locale=de_AT', '', 'de'],
    ['?locale=fr', 'pt-BR;q=0.5, nl', 'pt-BR'],
    ['', 'en;q=0.1, de-CH', 'de'],
    ['?locale=pt', 'fr', 'pt-BR'],
    ['?locale=', 'de', 'de'],
    ['?locale=German%20(Austria)', 'de', 'de'],
    ['?locale=%00', 'de', 'de'],
    [`?locale=${'x'.repeat(2000)}`, 'de', 'de'],
    ['', '', 'en'],
  ] as const) {
    const reply = await fetchCards(token, query, { 'accept-language': acceptLanguage });
    const [card] = reply.body.data;
    expect([query, acceptLanguage, card.locale]).toEqual([query, acceptLanguage, locale]);
    expect(reply.headers.get('content-language')).toBe(locale);
    expect(textsOf(card)).toHaveLength(7);
    expect(isEntirelyIn(card, 'en')).toBe(true);
  }
});

test('languages have different entity tags, and tags for one language the same', async () => {
  const tenant = await makeTenant(api);
  await publishQuestion(api, tenant, { ...ENGLISH, translations: translated('de') });
  const token = await tenant.sign('user|1');
  await waitFor(async () => (await fetchCards(token)).body.data.length === 1);
  const tagOf = async (query: string) => (await fetchCards(token, query)).headers.get('etag') as string;
  const [austrian, german, english] = [await tagOf('?locale=de-AT'), await tagOf('?locale=de'), await tagOf('')];
  expect(austrian).toBe(german);
  expect(english).not.toBe(german);
  expect((await fetchCards(token, '?locale=de', { 'if-none-match': german })).status).toBe(304);
  expect((await fetchCards(token, '?locale=en', { 'if-none-match': german })).status).toBe(200);
});

test('each question of a list falls back on its own, and Content-Language lists their languages', async () => {
  const tenant = await makeTenant(api);
  const free = { frequency: { ignore_cooldown: true } };
  await publishQuestion(api, tenant, { ...ENGLISH, ...free, priority: 2, translations: translated('de', 'fr') });
  await publishQuestion(api, tenant, {
    ...ENGLISH,
    ...free,
    priority: 1,
    locale: 'it',
    translations: translated('de'),
  });
  const token = await tenant.sign('user|1');
  await waitFor(async () => (await fetchCards(token)).body.data.length === 2);
  const reply = await fetchCards(token, '?locale=fr-CA', { 'accept-language': 'de' });
  expect(reply.body.data.map(({ locale }: TestCard) => locale)).toEqual(['fr', 'de']);
  expect(reply.headers.get('content-language')).toBe('fr, de');
  expect((await fetchCards(token, '?locale=nl')).body.data.map(({ locale }: TestCard) => locale)).toEqual(['en', 'it']);
});

test('the profile decides if the request prefers no language, and then the default of the tenant', async () => {
  const tenant = await makeTenant(api);
  await publishQuestion(api, tenant, { ...ENGLISH, translations: translated('de', 'fr') });
  const token = await tenant.sign('user|1');
  await waitFor(async () => (await fetchCards(token)).body.data.length === 1);
  const localeOf = async (query = '') => (await fetchCards(token, query)).body.data[0].locale;
  await put(tenant, 'user|1', { locale: 'fr_CA' });
  await waitFor(async () => (await localeOf()) === 'fr');
  expect(await localeOf('?locale=de')).toBe('de');
  await put(tenant, 'user|1', {});
  await waitFor(async () => (await localeOf()) === 'en');
  await api.database.query("update tenants set default_locale = 'de-AT' where id = $1", [tenant.uuid]);
  await waitFor(async () => (await localeOf()) === 'de');
});

test('a new question has the default language of its tenant', async () => {
  const tenant = await makeTenant(api);
  await api.database.query("update tenants set default_locale = 'de' where id = $1", [tenant.uuid]);
  const create = (fields: object) =>
    api.request('POST', '/v1/questions', { as: tenant.key.apiKey, body: aQuestion(fields as never) });
  expect((await create({})).body).toMatchObject({ locale: 'de', translations: {} });
  expect((await create({ locale: 'fr' })).body.locale).toBe('fr');
  const refused = await create({ translations: { de: {} } });
  expectProblem(refused, 422, 'validation-failed');
  expect(refused.body.errors).toEqual([
    { pointer: '/translations/de', code: 'conflicting', detail: expect.any(String) },
  ]);
});

const LOCALES = ['en', 'de', 'de-AT', 'fr', 'zh-Hant', 'pt-BR'];
const RANGES = fc.array(fc.constantFrom(...LOCALES, 'de-CH', 'zh-Hant-TW', 'nl', '*', 'pt'), { maxLength: 4 });

test('property: a card is in one of the languages of its question, never in two', async () => {
  const tenant = await makeTenant(api);
  const languages = [['en', 'de', 'fr'], ['fr', 'de-AT', 'zh-Hant'], ['zh-Hant', 'pt-BR'], ['de', 'en'], ['nl']];
  const questions = new Map<string, string[]>();
  for (const [own = '', ...others] of languages) {
    const free = { frequency: { ignore_cooldown: true } };
    const fields = { ...ENGLISH, ...free, locale: own, translations: translated(...others) };
    questions.set((await publishQuestion(api, tenant, fields)).id, [own, ...others]);
  }
  const token = await tenant.sign('user|1');
  await waitFor(async () => (await fetchCards(token)).body.data.length === languages.length);
  await fc.assert(
    fc.asyncProperty(fc.option(fc.constantFrom(...LOCALES, 'x', 'de_CH')), RANGES, async (locale, ranges) => {
      const query = locale && locale.length > 1 ? `?locale=${locale}` : '';
      const { data } = (await fetchCards(token, query, { 'accept-language': ranges.join(', ') })).body;
      expect(data).toHaveLength(languages.length);
      for (const card of data) {
        const [own = '', ...others] = questions.get(card.question_id) as string[];
        expect([own, ...others]).toContain(card.locale);
        expect(isEntirelyIn(card, own)).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});

describe('a recall', () => {
  const TITLE = 'Is {{identity.attributes.plan|your plan}} good?';
  const RECALLING = { ...ENGLISH, title: TITLE, allow_public: true };

  test('shows the attribute to the verified user, and the fallback to everyone else', async () => {
    const tenant = await makeTenant(api);
    const de = { ...inLanguage('de'), title: 'Ist {{identity.attributes.plan|Ihr Tarif}} gut?' };
    await publishQuestion(api, tenant, { ...RECALLING, translations: { de } });
    await put(tenant, 'user|1', { attributes: { plan: 'Pro "X" {{identity.attributes.plan|y}} $&' } });
    await put(tenant, 'user|1', { attributes: { plan: 'Secret' } }, '?verified=false');
    const [proven, other] = [await tenant.sign('user|1'), await tenant.sign('user|2')];
    const claimed = await claimToken(api, tenant, 'user|1');
    await waitFor(async () => (await fetchCards(proven)).body.data.length === 1);
    const titleOf = async (token: string, query = '') => (await fetchCards(token, query)).body.data[0].steps[0].title;
    expect(await titleOf(proven)).toBe('Is Pro "X" {{identity.attributes.plan|y}} $& good?');
    expect(await titleOf(proven, '?locale=de')).toBe('Ist Pro "X" {{identity.attributes.plan|y}} $& gut?');
    expect(await titleOf(claimed)).toBe('Is your plan good?');
    expect(await titleOf(other, '?locale=de')).toBe('Ist Ihr Tarif gut?');
  });

  test('follows the profile, whose changes are announced only if something changed', async () => {
    const tenant = await makeTenant(api);
    await publishQuestion(api, tenant, RECALLING);
    const token = await tenant.sign('user|1');
    await waitFor(async () => (await fetchCards(token)).body.data.length === 1);
    const titleOf = async () => (await fetchCards(token)).body.data[0].steps[0].title;
    expect(await titleOf()).toBe('Is your plan good?');
    await put(tenant, 'user|1', { attributes: { plan: 'Pro' } });
    await waitFor(async () => (await titleOf()) === 'Is Pro good?');
    const changedAt = async () =>
      (await api.database.query('select updated_at from identities where tenant_id = $1', [tenant.uuid]))[0];
    const before = await changedAt();
    expect((await put(tenant, 'user|1', { attributes: { plan: 'Pro' } })).status).toBe(200);
    expect(await changedAt()).toEqual(before);
    await api.database.query('delete from identities where tenant_id = $1', [tenant.uuid]);
    await waitFor(async () => (await titleOf()) === 'Is your plan good?');
  });
});

describe('a question with faults in its texts', () => {
  const noFallback = '{{identity.attributes.plan}}';
  test.each([
    ['/translations/de/title', 'missing-translation', { de: { ...inLanguage('de'), title: '' } }],
    ['/translations/de/title', 'missing-translation', { de: { ...inLanguage('de'), title: ' \u00a0' } }],
    [
      '/translations/de/config/labels/low',
      'missing-translation',
      { de: { ...inLanguage('de'), config: { labels: { high: 'x' } } } },
    ],
    [
      '/translations/de/follow_ups/reason/config/options/speed',
      'missing-translation',
      { de: { ...inLanguage('de'), follow_ups: { reason: { title: 'x', config: { options: { price: 'x' } } } } } },
    ],
    ['/translations/de/description', 'fallback-missing', { de: { ...inLanguage('de'), description: noFallback } }],
    ['/translations/de/title', 'invalid-format', { de: { ...inLanguage('de'), title: '{{plan|x}}' } }],
  ])('%s is refused as %s when it is published, and by a change of a live one', async (pointer, code, translations) => {
    const tenant = await makeTenant(api);
    const draft = await api.request('POST', '/v1/questions', {
      ...{ as: tenant.key.apiKey, body: aQuestion({ ...ENGLISH, translations } as never) },
    });
    expect(draft.status).toBe(201);
    const refused = await api.request('POST', `/v1/questions/${draft.body.id}/publish`, { as: tenant.key.apiKey });
    expectProblem(refused, 422, 'validation-failed');
    expect(refused.body.errors).toEqual([{ pointer, code, detail: expect.any(String) }]);
    const live = await publishQuestion(api, tenant, ENGLISH as never);
    expect((await patchQuestion(tenant, live.id, { translations })).body.errors).toEqual(refused.body.errors);
  });

  test('points to the own texts as well, by position', async () => {
    const tenant = await makeTenant(api);
    const live = await publishQuestion(api, tenant, ENGLISH as never);
    const options = [OPTIONS[0], { id: 'speed', label: noFallback }];
    const { body } = await patchQuestion(tenant, live.id, {
      ...{ title: noFallback, follow_ups: [{ ...ENGLISH.follow_ups[0], config: { options } }] },
    });
    expect(body.errors.map(({ pointer, code }: never) => [pointer, code])).toEqual([
      ['/title', 'fallback-missing'],
      ['/follow_ups/0/config/options/1/label', 'fallback-missing'],
    ]);
  });
});

test('a change of translations is a version, without the texts of removed steps; the own language stays', async () => {
  const tenant = await makeTenant(api);
  const { id } = await publishQuestion(api, tenant, { ...ENGLISH, translations: translated('de') } as never);
  expect((await patchQuestion(tenant, id, { translations: translated('de') })).body.version).toBe(1);
  const changed = await patchQuestion(tenant, id, {
    translations: { de: { ...inLanguage('de'), title: 'Wie sehr?' } },
  });
  expect(changed.body.version).toBe(2);
  expectProblem(await patchQuestion(tenant, id, { locale: 'fr' }), 409, 'immutable-field');
  const removed = await patchQuestion(tenant, id, { follow_ups: [] });
  expect(removed.body.translations.de).not.toHaveProperty('follow_ups');
  const { data } = (await api.request('GET', `/v1/questions/${id}/versions`, { as: tenant.key.apiKey })).body;
  expect(data.map(({ locale, version }: never) => [locale, version])).toEqual([
    ['en', 3],
    ['en', 2],
    ['en', 1],
  ]);
  expect(data[1].changes).toEqual([
    { pointer: '/translations/de/title', before: 'de How likely?', after: 'Wie sehr?' },
  ]);
  expect(data[2].translations).toEqual(translated('de'));
  const clone = await api.request('POST', `/v1/questions/${id}/clone`, { as: tenant.key.apiKey });
  expect(clone.body).toMatchObject({ locale: 'en', translations: removed.body.translations });
});
