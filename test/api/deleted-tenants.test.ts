import { expect, test } from 'vitest';
import { deleteTenant } from '../../src/storage/upkeep/deleted-tenants.ts';
import { createApi, type TestRequest, waitFor } from '../support/api.ts';
import { claimToken, makeTenant, publishQuestion, storageOf } from '../support/make.ts';
import { makeMember } from '../support/person.ts';

test('a deleted tenant is rejected within a second by every process, with any credential', async () => {
  await using api = await createApi();
  await using other = await createApi({ sharing: api });
  const [tenant, neighbour] = [await makeTenant(api), await makeTenant(api)];
  const question = await publishQuestion(api, tenant);
  const publicKey = await tenant.addKey({ kind: 'public' });
  const onlyOwner = await makeMember(api, tenant, 'owner');
  const credentials: [string, string, TestRequest, number, string][] = [
    ['GET', '/v1/questions', { as: tenant.key.apiKey }, 401, 'credentials-invalid'],
    ['GET', '/v1/cards', { as: await tenant.sign('user|42') }, 401, 'unknown-issuer'],
    ['GET', '/v1/cards', { as: await claimToken(api, tenant, 'guest', publicKey) }, 401, 'unknown-issuer'],
    ['GET', '/v1/questions', { headers: onlyOwner.headers }, 401, 'session-ended'],
  ];
  const ask = async () => {
    const asked = [api, other].flatMap(process =>
      credentials.map(([method, path, request]) => process.request(method, path, request)),
    );
    return (await Promise.all(asked)).map(({ status, body }) => [status, body.code]);
  };
  expect((await ask()).map(([status]) => status)).toEqual(Array(8).fill(200));
  expect(question.status).toBe('live');

  await deleteTenant(storageOf(api).forTenant(tenant.uuid));
  const wanted = credentials.map(([, , , status, code]) => [status, code]);
  await waitFor(async () => JSON.stringify(await ask()) === JSON.stringify([...wanted, ...wanted]), 10_000);
  const next = await api.request('GET', '/v1/questions', { as: neighbour.key.apiKey });
  expect(next.status).toBe(200);
});

test('a member of two tenants stays logged in to the other', async () => {
  await using api = await createApi();
  const [tenant, neighbour] = [await makeTenant(api), await makeTenant(api)];
  const { headers, accountId } = await makeMember(api, tenant, 'owner');
  await api.database.query(
    `insert into members (tenant_id, id, account_id, role, created_at) values ($1, gen_random_uuid(), $2, 'agent', now())`,
    [neighbour.uuid, accountId],
  );
  await deleteTenant(storageOf(api).forTenant(tenant.uuid));
  const refused = await api.request('GET', '/v1/questions', { headers });
  expect([refused.status, refused.body.code]).toEqual([403, 'not-a-member']);
  const there = await api.request('GET', '/v1/questions', { headers: { ...headers, 'Tenant-Id': neighbour.id } });
  expect(there.status).toBe(200);
});
