import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { takeMailQuota } from '../../../src/storage/team/mail-quotas.ts';
import { deleteExpiredRows } from '../../../src/storage/upkeep/housekeeping.ts';
import { createApi, type TestApi } from '../../support/api.ts';
import { makeTenant, type TestTenant } from '../../support/make.ts';
import { makeMember } from '../../support/person.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
});
afterAll(() => api[Symbol.asyncDispose]());

const NOW = new Date();
const TOMORROW = new Date(NOW.getTime() + 86_400_000);
const newAddress = () => `${randomUUID()}@acme.example`;

/** Asks for mails concurrently, in two workers and an API process. Returns how many are allowed. */
async function take(count: number, addressOf: (index: number) => string, of = tenant, now = NOW): Promise<number> {
  const storages = [
    api.database.storage('parley_worker'),
    api.database.storage('parley_worker'),
    api.database.storage('parley_app'),
  ] as const;
  const allowed = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      takeMailQuota(storages[index % 3] as (typeof storages)[0], { tenantId: of.uuid, to: addressOf(index) }, now),
    ),
  );
  return allowed.filter(Boolean).length;
}

test('one mailbox gets at most 20 mails a day, from all tenants and processes', async () => {
  const to = newAddress();
  const other = await makeTenant(api);
  expect(await take(15, () => to)).toBe(15);
  expect(await take(45, index => to.replace('@', `+${index}@`), other)).toBe(5);
  expect(await take(3, () => to)).toBe(0); // by storages that were opened after the limit was reached
  expect(await take(1, () => newAddress())).toBe(1);
  expect(await take(30, () => to, tenant, TOMORROW)).toBe(20);
});

test('one tenant sends at most 200 mails a day, and 20 more for each member', async () => {
  const own = await makeTenant(api);
  expect(await take(230, newAddress, own)).toBe(200);
  await makeMember(api, own, 'agent');
  expect(await take(60, newAddress, own)).toBe(20);
  const to = newAddress();
  expect(await take(25, () => to, own)).toBe(0);
  expect(await take(25, () => to)).toBe(20); // what was refused for the tenant does not count for the mailbox
});

test('the counts have no addresses, and are deleted after the day', async () => {
  await take(1, newAddress);
  const past = new Date(NOW.getTime() - 3 * 86_400_000);
  await take(1, newAddress, tenant, past);
  const rows = () => api.database.query<{ row: string }>('select mail_counts::text as row from mail_counts');
  expect((await rows()).filter(({ row }) => row.includes('@') || row.includes(tenant.uuid))).toEqual([]);
  const days = async () =>
    (await api.database.query<{ day: string }>('select distinct day::text as day from mail_counts')).map(
      ({ day }) => day,
    );
  expect(await days()).toContain(past.toISOString().slice(0, 10));
  await deleteExpiredRows(api.database.storage('parley_app'));
  expect(await days()).not.toContain(past.toISOString().slice(0, 10));
  expect(await days()).toContain(NOW.toISOString().slice(0, 10));
});
