import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { createApi, waitFor } from '../support/api.ts';
import { publishQuestion, type TestTenant } from '../support/make.ts';
import { makeMember } from '../support/person.ts';
import { expectProblem, makeAsker } from '../support/questions.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());
const make = () => makeAsker(api);

const link = { label: 'What is new', url: 'https://example.com/news' };
const thanks = { title: 'Thank you!', body: 'We read every answer.', link };
const ignoring = { frequency: { ignore_cooldown: true } };

/** The only card of a user, once it is as expected. */
const cardOf = async (tenant: TestTenant, expected: object) => {
  const as = await tenant.sign('user|42');
  await waitFor(async () => {
    const [card] = (await api.request('GET', '/v1/cards', { as })).body.data;
    return Object.entries(expected).every(([name, value]) => isDeepStrictEqual(card?.[name], value));
  });
};

describe('the thanks of a question', () => {
  test('reach its card, and a change is a new version', async () => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant, { thanks: { title: 'Thank you!' } });
    const first = { title: 'Thank you!', body: '', link: null };
    await cardOf(tenant, { thanks: first, question_version: 1 });
    expect((await ask('PATCH', `/${id}`, { thanks: { title: 'Thank you!' } })).body.version).toBe(1);
    expect((await ask('PATCH', `/${id}`, { thanks })).body).toMatchObject({ version: 2, thanks });
    await cardOf(tenant, { thanks, question_version: 2 });
    expect((await ask('PATCH', `/${id}`, { thanks: null })).body).toMatchObject({ version: 3, thanks: null });
    await cardOf(tenant, { thanks: null, question_version: 3 });
    expect((await ask('GET', `/${id}/versions`)).body.data).toMatchObject([
      {
        thanks: null,
        changes: Object.entries(thanks).map(([name, before]) => ({ pointer: `/thanks/${name}`, before, after: null })),
      },
      {
        thanks,
        changes: [
          { pointer: '/thanks/body', before: '', after: thanks.body },
          { pointer: '/thanks/link', before: null, after: link },
        ],
      },
      { thanks: first, changes: [] },
    ]);
  });

  test('are translated as a whole, and complete once published', async () => {
    const { ask } = await make();
    const de = { title: 'Wie?', thanks: { title: 'Danke', body: 'Wir lesen alles.', link: { label: 'Neues' } } };
    const body = { type: 'nps', title: 'How?', thanks, translations: { de: { ...de, thanks: { title: 'Danke' } } } };
    const { id } = (await ask('POST', '', body)).body;
    expect((await ask('POST', `/${id}/publish`)).body.errors).toMatchObject([
      { pointer: '/translations/de/thanks/body', code: 'missing-translation' },
      { pointer: '/translations/de/thanks/link/label', code: 'missing-translation' },
    ]);
    expect((await ask('PATCH', `/${id}`, { translations: { de } })).status).toBe(200);
    expect((await ask('POST', `/${id}/publish`)).body).toMatchObject({ status: 'live', translations: { de } });
    const url = { de: { ...de, thanks: { title: 'Danke', link: { url: 'https://example.com' } } } };
    expect((await ask('PATCH', `/${id}`, { translations: url })).body.errors).toMatchObject([
      { pointer: '/translations/de/thanks/link/url', code: 'unknown-field' },
    ]);
    expect((await ask('PATCH', `/${id}`, { thanks: null })).body.translations).toEqual({ de: { title: 'Wie?' } });
  });

  test('are copied with the question', async () => {
    const { ask } = await make();
    const { body } = await ask('POST', '', { type: 'nps', title: 'x', thanks, placement: 'modal' });
    expect((await ask('POST', `/${body.id}/clone`)).body).toMatchObject({
      thanks,
      placement: 'modal',
      status: 'draft',
    });
  });

  test.each([
    [{ title: '' }, '/thanks/title'],
    [{ title: 'x'.repeat(301) }, '/thanks/title'],
    [{ title: 'x', body: 'x'.repeat(1001) }, '/thanks/body'],
    [{ title: 'a\u0000b' }, '/thanks/title'],
    [{ title: 'x', html: '<b>x</b>' }, '/thanks/html'],
    [{ title: 'x', link: { label: 'x' } }, '/thanks/link/url'],
    [{ title: 'x', link: { label: '', url: link.url } }, '/thanks/link/label'],
    [{ title: 'x', link: { label: 'x', url: '/news' } }, '/thanks/link/url'],
    [{ title: 'x', link: { label: 'x', url: 'javascript:alert(1)' } }, '/thanks/link/url'],
    [{ title: 'x', link: { label: 'x', url: 'JavaScript:alert(1)' } }, '/thanks/link/url'],
    [{ title: 'x', link: { label: 'x', url: ' javascript:alert(1)' } }, '/thanks/link/url'],
    [{ title: 'x', link: { label: 'x', url: 'java\nscript:alert(1)' } }, '/thanks/link/url'],
    [{ title: 'x', link: { label: 'x', url: 'data:text/html,x' } }, '/thanks/link/url'],
    [{ title: 'x', link: { label: 'x', url: `https://example.com/${'x'.repeat(2000)}` } }, '/thanks/link/url'],
  ])('%j are rejected, and nothing changes', async (wrong, pointer) => {
    const { ask } = await make();
    expect((await ask('POST', '', { type: 'nps', title: 'x', thanks: wrong })).body.errors).toMatchObject([
      { pointer },
    ]);
    const { body } = await ask('POST', '', { type: 'nps', title: 'x', thanks });
    const refused = await ask('PATCH', `/${body.id}`, { thanks: wrong });
    expectProblem(refused, 422, 'validation-failed');
    expect(refused.body.errors).toMatchObject([{ pointer }]);
    expect((await ask('GET', `/${body.id}`)).body).toEqual(body);
  });
});

describe('the placement of a question', () => {
  test('reaches its card without a new version', async () => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant, { placement: 'popover-bottom-right' });
    await cardOf(tenant, { placement: 'popover-bottom-right' });
    expect((await ask('PATCH', `/${id}`, { placement: 'modal' })).body).toMatchObject({
      placement: 'modal',
      version: 1,
    });
    await cardOf(tenant, { placement: 'modal', question_version: 1 });
    expect((await ask('PATCH', `/${id}`, { placement: null })).body).toMatchObject({ placement: null, version: 1 });
    await cardOf(tenant, { placement: null });
  });

  test('can be a button only outside of the cooldown', async () => {
    const { tenant, ask } = await make();
    const { id } = await publishQuestion(api, tenant, { placement: 'button', ...ignoring });
    await cardOf(tenant, { placement: 'button' });
    const refused = await ask('PATCH', `/${id}`, { frequency: { ignore_cooldown: false } });
    expect(refused.body.errors).toMatchObject([{ pointer: '/frequency/ignore_cooldown', code: 'not-allowed' }]);
    const other = await publishQuestion(api, tenant);
    expect((await ask('PATCH', `/${other.id}`, { placement: 'button' })).body.errors).toMatchObject([
      { pointer: '/placement', code: 'not-allowed' },
    ]);
    const both = { placement: 'button', ...ignoring };
    expect((await ask('PATCH', `/${other.id}`, both)).body).toMatchObject(both);
    const neither = { placement: null, frequency: { ignore_cooldown: false } };
    expect((await ask('PATCH', `/${other.id}`, neither)).body).toMatchObject(neither);
  });

  test("is inline where the tenant's button would occupy the only place", async () => {
    const { tenant, ask } = await make();
    const { headers } = await makeMember(api, tenant, 'owner');
    await api.request('PATCH', '/v1/tenant', { headers, body: { appearance: { placement: 'button' } } });
    const { id } = await publishQuestion(api, tenant);
    await cardOf(tenant, { question_id: id, placement: 'inline' });
    await ask('PATCH', `/${id}`, ignoring);
    await cardOf(tenant, { question_id: id, placement: null });
  });
});
