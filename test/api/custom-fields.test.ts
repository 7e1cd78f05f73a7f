import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { type Body, conversationsOf, problem } from '../support/conversations.ts';
import { makeMember } from '../support/person.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, start, patch, post, read, messages, get } = conversationsOf(() => api);

const FIELDS = [
  { key: 'order_number', label: 'Order number', type: 'text' },
  { key: 'seats', label: 'Seats', type: 'number' },
  { key: 'vip', label: 'VIP', type: 'boolean' },
  { key: 'due', label: 'Due', type: 'date' },
  { key: 'region', label: 'Region', type: 'choice', options: ['North', 'South'] },
];

async function makeFields(custom_fields: unknown = FIELDS) {
  const parties = await makeParties();
  const { headers } = await makeMember(api, parties.tenant, 'owner');
  const define = (fields: unknown) => api.request('PATCH', '/v1/tenant', { headers, body: { custom_fields: fields } });
  const defined = await define(custom_fields);
  const { id } = (await start(parties.user)).body;
  const set = (custom: unknown) => patch(parties.team, `/v1/conversations/${id}`, { custom } as Body);
  return { ...parties, define, defined, id, set };
}

const eventsOf = async (team: string, id: string) =>
  (await messages(team, id)).flatMap(({ event }: Body) => (event ? [event] : []));

describe('custom fields', () => {
  test('have values that are merged by key, recorded as events, and never reach the user', async () => {
    const { team, user, id, set, defined } = await makeFields();
    expect(defined.body.custom_fields).toEqual(FIELDS);
    const values = { order_number: 'A-1', seats: 1.5, vip: false, due: '2026-11-25', region: 'North' };
    expect((await set(values)).body.custom).toEqual(values);
    expect((await set({ seats: 2, vip: null })).body.custom).toEqual({
      ...{ order_number: 'A-1', seats: 2, due: '2026-11-25', region: 'North' },
    });
    expect((await eventsOf(team, id)).map(({ field, from, to }: Body) => ({ field, from, to }))).toEqual([
      {
        field: 'custom',
        from: { order_number: null, seats: null, vip: null, due: null, region: null },
        to: values,
      },
      { field: 'custom', from: { seats: 1.5, vip: false }, to: { seats: 2, vip: null } },
    ]);
    expect((await set({ seats: 2 })).status).toBe(200);
    expect(await eventsOf(team, id)).toHaveLength(2);
    const seen = await get(user, `/v1/conversations/${id}`);
    expect(seen.body).not.toHaveProperty('custom');
    const refused = await patch(user, `/v1/conversations/${id}`, { custom: { seats: 1 } });
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: '/custom', code: 'not-allowed' }] } });
  });

  test.each<[string, unknown, string, string]>([
    ['an unknown key', { colour: 'red' }, '/custom/colour', 'unknown-reference'],
    ['a text for a number', { seats: '2' }, '/custom/seats', 'wrong-type'],
    ['a number for a text', { order_number: 1 }, '/custom/order_number', 'invalid-format'],
    ['an empty text', { order_number: '' }, '/custom/order_number', 'invalid-format'],
    ['an unstorable text', { order_number: 'a\u0000' }, '/custom/order_number', 'invalid-format'],
    ['an unknown option', { region: 'East' }, '/custom/region', 'unknown-value'],
    ['a day that does not exist', { due: '2026-02-30' }, '/custom/due', 'invalid-format'],
    ['a list', { seats: [1] }, '/custom/seats', 'wrong-type'],
    ['a key of another form', { Seats: 1 }, '/custom/Seats', 'invalid-format'],
    ['a text', 'red', '/custom', 'wrong-type'],
  ])('are refused with %s, and nothing changes', async (_, custom, pointer, code) => {
    const { team, id, set } = await makeFields();
    expect(await set(custom)).toMatchObject({ status: 422, body: { errors: [{ pointer, code }] } });
    expect((await read(team, id)).custom).toEqual({});
  });

  test('hold at most 2 KB of a conversation', async () => {
    const texts = Array.from({ length: 5 }, (_, number) => ({ key: `t${number}`, label: 'Text', type: 'text' }));
    const { team, id, set } = await makeFields(texts);
    expect((await set({ t0: 'x'.repeat(500), t1: 'x'.repeat(500), t2: 'x'.repeat(500) })).status).toBe(200);
    const more = { t3: 'x'.repeat(500), t4: 'x'.repeat(100) };
    expect(await set(more)).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/custom', code: 'too-long' }] },
    });
    const bulk = await post(team, '/v1/conversations/bulk', { ids: [id], change: { custom: more } });
    expect(bulk.body.results).toEqual([{ id, status: 'conflict', code: 'custom-too-large' }]);
    expect(Object.keys((await read(team, id)).custom)).toEqual(['t0', 't1', 't2']);
  });

  test('keep their values when a definition goes; these can then only be removed', async () => {
    const { team, id, set, define } = await makeFields();
    await set({ seats: 2, region: 'North' });
    await define(FIELDS.filter(({ key }) => key !== 'seats'));
    expect((await read(team, id)).custom).toEqual({ seats: 2, region: 'North' });
    expect((await set({ seats: 3 })).status).toBe(422);
    expect((await set({ region: 'South' })).body.custom).toEqual({ seats: 2, region: 'South' });
    expect((await set({ seats: null })).body.custom).toEqual({ region: 'South' });
  });

  test('are set in bulk and by macros, whose values are checked when it is saved and applied', async () => {
    const { team, id, define } = await makeFields();
    const bulk = (custom: Body) => post(team, '/v1/conversations/bulk', { ids: [id], change: { custom } });
    expect((await bulk({ seats: 1 })).body.results).toEqual([{ id, status: 'changed' }]);
    expect((await bulk({ seats: 1 })).body.results).toEqual([{ id, status: 'unchanged' }]);
    expect(await bulk({ lost: 1 })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/change/custom/lost' }] },
    });
    const save = (custom: Body) => post(team, '/v1/macros', { name: 'Seats', changes: { custom } });
    expect(await save({ seats: '5' })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/changes/custom/seats' }] },
    });
    const macro = (await save({ seats: 5 })).body;
    expect(macro.changes).toEqual({ custom: { seats: 5 } });
    const apply = () => post(team, `/v1/conversations/${id}/macros/${macro.id}`, undefined as never);
    expect((await apply()).body.conversation.custom).toEqual({ seats: 5 });
    expect((await eventsOf(team, id)).at(-1)).toMatchObject({
      field: 'custom',
      reason: { type: 'macro', id: macro.id },
    });
    await define([]);
    expect((await apply()).status).toBe(422);
    const change = (body: Body) => patch(team, `/v1/macros/${macro.id}`, body);
    expect(await change({ name: 'More seats' })).toMatchObject({ status: 200, body: { name: 'More seats' } });
    expect((await change({ changes: { priority: 'low', custom: { seats: 5 } } })).status).toBe(200);
    for (const custom of [{ seats: 6 }, { seats: 5, region: 'North' }])
      expect((await change({ changes: { custom } })).status).toBe(422);
    expect((await change({ changes: { custom: { seats: null } } })).status).toBe(200);
    expect((await apply()).body.conversation.custom).toEqual({});
  });

  test.each<[string, unknown, string, string]>([
    [
      'a 21st field',
      Array.from({ length: 21 }, (_, n) => ({ key: `f${n}`, label: 'F', type: 'text' })),
      '',
      'too-many',
    ],
    ['a key twice', [FIELDS[0], FIELDS[0]], '', 'repeated-item'],
    ['a choice without options', [{ key: 'a', label: 'A', type: 'choice' }], '/0/options', 'required'],
    ['options of a text', [{ key: 'a', label: 'A', type: 'text', options: ['x'] }], '/0/options', 'not-allowed'],
    ['a key with a space', [{ key: 'a b', label: 'A', type: 'text' }], '/0/key', 'invalid-format'],
    ['an unknown type', [{ key: 'a', label: 'A', type: 'colour' }], '/0/type', 'unknown-value'],
  ])('cannot be defined with %s', async (_, fields, pointer, code) => {
    const { defined } = await makeFields(fields);
    expect(problem(defined)).toEqual([422, 'validation-failed']);
    expect(defined.body.errors).toMatchObject([{ pointer: `/custom_fields${pointer}`, code }]);
  });
});
