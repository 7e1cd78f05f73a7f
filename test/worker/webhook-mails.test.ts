import { expect, test } from 'vitest';
import type { Storage } from '../../src/storage/database/orm.ts';
import { type TestApi, waitFor } from '../support/api.ts';
import { readQueuedMails } from '../support/mail.ts';
import { makeTenant } from '../support/make.ts';
import { makeMember } from '../support/person.ts';
import { createReceiver, refuse } from '../support/receivers.ts';
import {
  type DeliveringWorker,
  makeEvents,
  makeWebhook,
  startDeliveries,
  withWebhookStores,
} from '../support/webhooks.ts';

let api: TestApi;
let worker: Storage;
withWebhookStores(stores => {
  ({ api, worker } = stores);
});

/** Counts the mails that are queued, and those beyond a limit. */
const countMails = async ({ metrics }: DeliveringWorker): Promise<number> =>
  (await metrics.mails.get()).values.reduce((sum, { value }) => sum + value, (await readQueuedMails(api)).length);

test('a webhook that is disabled again and again sends an admin 20 mails a day, and an unproven address none', async () => {
  const tenant = await makeTenant(api);
  const as = tenant.key.apiKey;
  const admin = await makeMember(api, tenant, 'admin');
  const stranger = await makeMember(api, tenant, 'admin');
  await api.database.query('update accounts set email_proven_at = null where id = $1', [stranger.accountId]);
  await using receiver = await createReceiver();
  receiver.react(refuse(410));
  const { path } = await makeWebhook(api, tenant, receiver.url);
  await using deliveries = startDeliveries(api, worker);
  for (let round = 1; round <= 22; round++) {
    await makeEvents({ api, worker }, tenant, 1);
    await waitFor(async () => (await countMails(deliveries)) >= round);
    const enabled = await api.request('PATCH', path, { as, body: { status: 'enabled', resume: 'now' } });
    expect(enabled.status).toBe(200);
  }
  expect((await readQueuedMails(api)).map(({ to }) => to)).toEqual(Array(20).fill(admin.email));
  expect((await deliveries.metrics.mails.get()).values).toMatchObject([{ labels: { outcome: 'limited' }, value: 2 }]);
});
