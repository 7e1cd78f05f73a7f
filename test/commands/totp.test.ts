import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeTotp } from '../../src/commands/totp.ts';
import { createLog } from '../../src/platform/log.ts';
import { totpCode, totpStep } from '../../src/platform/totp.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { makeTenant, storageOf, type TestTenant } from '../support/make.ts';
import { joinTenant, logIn, makeMember, PASSWORD } from '../support/person.ts';
import { noTerminal } from '../support/process.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
});
afterAll(() => api[Symbol.asyncDispose]());

const remove = (email: string) =>
  removeTotp(
    { ...api, storage: storageOf(api), log: createLog('silent', 'cli'), now: new Date(), ...noTerminal },
    { email },
  );

test('totp remove ends the second factor, which each tenant of the person records', async () => {
  const person = await makeMember(api, tenant, 'owner');
  const other = await makeTenant(api, 'Other');
  await joinTenant(api, other, person, 'owner');
  const post = (path: string, body: object) => api.request('POST', path, { headers: person.headers, body });
  const { secret } = (await post('/v1/me/totp', { password: PASSWORD })).body;
  const confirmed = await post('/v1/me/totp/confirm', { totp: totpCode(secret, totpStep(new Date())) });
  const [recovery] = confirmed.body.recovery_codes;
  expect((await logIn(api, person.email)).body.code).toBe('totp-required');

  const account = (await api.request('GET', '/v1/me', { headers: person.headers })).body.account;
  expect(await remove(person.email.toUpperCase())).toEqual({ ...account, totp_enabled: false });
  expect((await logIn(api, person.email)).status).toBe(200);
  const [row] = await api.database.query('select totp_sealed, recovery_hashes from accounts where id = $1', [
    person.accountId,
  ]);
  expect(row).toEqual({ totp_sealed: null, recovery_hashes: [] });
  expect(recovery).toMatch(/^\w{5}-\w{5}$/);
  for (const { id } of [tenant, other]) {
    const headers = { ...person.headers, 'Tenant-Id': id };
    const log = await api.request('GET', '/v1/audit-log?action=totp.removed', { headers });
    expect(log.body.data).toMatchObject([
      { actor: { type: 'system', name: 'command line' }, target: { name: person.email } },
    ]);
  }
  await expect(remove(person.email)).rejects.toThrow(/no authenticator/);
  await expect(remove('nobody@acme.example')).rejects.toThrow(/no account has this address/);
});
