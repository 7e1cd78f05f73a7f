import { expect, test } from 'vitest';
import { createApi, environmentOf, requestTo, waitFor } from '../support/api.ts';
import { startProcess } from '../support/process.ts';

test('an unhandled error is logged with its route, without the secret in the path', async () => {
  await using api = await createApi();
  for (const name of ['reset_password(bytea, text, timestamptz)', 'find_invitation(bytea)'])
    await api.database.query(`alter function ${name} rename to out_of_order`);
  await using process = await startProcess('serve', { ...environmentOf(api), LOG_LEVEL: 'trace' });
  await process.awaitProbe('/readyz');
  const ask = requestTo(process.baseUrl);
  const [reset, invitation] = ['the-secret-of-a-reset', 'the-secret-of-an-invitation'];
  const body = { password: 'correct horse battery' };
  expect((await ask('POST', `/v1/password-resets/${reset}`, { body })).status).toBe(500);
  expect((await ask('GET', `/v1/invitations/${invitation}`)).status).toBe(500);
  await waitFor(() => process.output().split('"stack":').length > 2);
  expect(process.output()).not.toContain(reset);
  expect(process.output()).not.toContain(invitation);
  for (const route of ['/v1/password-resets/{token}', '/v1/invitations/{token}'])
    expect(process.output()).toContain(`"route":"${route}","msg":"unhandled error"`);
}, 300_000);
