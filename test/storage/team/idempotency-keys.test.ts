import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Storage } from '../../../src/storage/database/orm.ts';
import {
  claimIdempotencyKey,
  isSameRequest,
  keepResponse,
  releaseIdempotencyKey,
} from '../../../src/storage/team/idempotency-keys.ts';
import { deleteExpiredRows } from '../../../src/storage/upkeep/housekeeping.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let storage: Storage;
beforeAll(async () => {
  database = await createDatabase();
  storage = database.storage();
});
afterAll(() => database[Symbol.asyncDispose]());

const hashOf = (bytes: string, value = `value of ${bytes}`) => ({ bytes, value });

const RESPONSE = { status: 201, headers: { Location: '/v1/x' }, body: '{}' };

/** A credential of a new tenant, with the operations on one key. */
function makeHolder() {
  const tenant = storage.forTenant(randomUUID());
  const name = { credentialId: randomUUID(), key: 'k' };
  return {
    tenant,
    name,
    claim: (hash = 'h') => claimIdempotencyKey(tenant, name, hashOf(hash)),
    keep: () => keepResponse(tenant, name, RESPONSE),
    release: () => releaseIdempotencyKey(tenant, name),
    age: (interval: string) =>
      database.query('update idempotency_keys set created_at = created_at - $2::interval where tenant_id = $1', [
        tenant.tenantId,
        interval,
      ]),
  };
}

const running = { request_hash: 'h', value_hash: 'h value of h', status: null, headers: null, body: null };
const answered = { request_hash: 'h', value_hash: 'h value of h', ...RESPONSE };

test('a key is claimed once and returns the state of the request that holds it', async () => {
  const holder = makeHolder();
  expect(await holder.claim()).toBeUndefined();
  expect(await holder.claim()).toEqual(running);
  await holder.keep();
  expect(await holder.claim()).toEqual(answered);
  expect(await holder.claim('another')).toEqual(answered);
});

test('of ten concurrent claims of a key one succeeds', async () => {
  const holder = makeHolder();
  const claims = await Promise.all(Array.from({ length: 10 }, () => holder.claim()));
  expect(claims.filter(claim => claim === undefined)).toHaveLength(1);
  for (const claim of claims) if (claim !== undefined && claim !== 'running') expect(claim).toEqual(running);
});

test('a claim in an open transaction is reported immediately, and is rolled back with it', async () => {
  const holder = makeHolder();
  const undone = new Error('undone');
  const attempt = storage.inTransaction(async within => {
    expect(
      await claimIdempotencyKey(within.forTenant(holder.tenant.tenantId), holder.name, hashOf('h')),
    ).toBeUndefined();
    const startedAt = performance.now();
    expect(await Promise.all([holder.claim(), holder.claim('another')])).toEqual(['running', 'running']);
    expect(performance.now() - startedAt).toBeLessThan(4500); // less than the 5 s for a row lock
    throw undone;
  });
  await expect(attempt).rejects.toBe(undone);
  expect(await holder.claim()).toBeUndefined();
});

test.each([
  ['equal bytes', answered, hashOf('h', 'another'), true],
  ['an equal value in other bytes', answered, hashOf('h2', 'value of h'), true],
  ['another value', answered, hashOf('h2'), false],
  ['equal bytes, stored by the previous version', { ...answered, value_hash: null }, hashOf('h'), true],
  // The previous version used the expired key again: it replaced only the first digest.
  ['the value of an earlier request', { ...answered, request_hash: 'new' }, hashOf('h2', 'value of h'), false],
])('a request with %s is compared with the stored one', (_, stored, sent, isSame) => {
  expect(isSameRequest(stored, sent)).toBe(isSame);
});

test('a key belongs to its tenant and credential', async () => {
  const holder = makeHolder();
  await holder.claim();
  const ofAnother = { ...holder.name, credentialId: randomUUID() };
  expect(await claimIdempotencyKey(holder.tenant, ofAnother, hashOf('h'))).toBeUndefined();
  expect(await claimIdempotencyKey(storage.forTenant(randomUUID()), holder.name, hashOf('h'))).toBeUndefined();
});

test('a released key is free, and one with a response is not released', async () => {
  const holder = makeHolder();
  await holder.claim();
  await holder.release();
  expect(await holder.claim()).toBeUndefined();
  await holder.keep();
  await holder.release();
  expect(await holder.claim()).toEqual(answered);
});

test('an unfinished request holds its key for two minutes, a response for a day', async () => {
  const holder = makeHolder();
  await holder.claim();
  await holder.age('1 minute 50 seconds');
  expect(await holder.claim()).toEqual(running);
  await holder.age('11 seconds');
  expect(await holder.claim()).toBeUndefined();
  await holder.keep();
  await holder.age('23 hours 59 minutes');
  expect(await holder.claim()).toEqual(answered);
  await holder.age('2 minutes');
  expect(await holder.claim('another')).toBeUndefined();
  expect(await holder.claim('another')).toEqual({
    ...running,
    request_hash: 'another',
    value_hash: 'another value of another',
  });
});

test('housekeeping deletes keys after a day, expired counters and old marks, and nothing newer', async () => {
  const [old, young] = [makeHolder(), makeHolder()];
  await old.claim();
  await old.age('24 hours 1 minute');
  await young.claim();
  await young.age('23 hours');
  const flushes = [randomUUID(), randomUUID()];
  await database.query(
    `insert into recorded_flushes select id, now() - age from unnest($1::uuid[], $2::interval[]) as flush(id, age)`,
    [flushes, ['8 days 1 hour', '7 days']],
  );
  await database.query(
    `insert into rate_counters values ('run-out', 1, now() - interval '1 second'), ('running', 1, now() + interval '1 minute')`,
  );
  await deleteExpiredRows(storage);
  const left = async (sql: string) => (await database.query<{ id: string }>(sql)).map(({ id }) => id);
  const tenants = await left('select tenant_id as id from idempotency_keys');
  expect(tenants).toContain(young.tenant.tenantId);
  expect(tenants).not.toContain(old.tenant.tenantId);
  expect(await left('select id from recorded_flushes')).toEqual(flushes.slice(1));
  expect(await left('select key as id from rate_counters')).toEqual(['running']);
});
