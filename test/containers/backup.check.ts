import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitFor } from '../support/api.ts';
import { runDocumented, shellBlocks } from '../support/documents.ts';
import { expectRestored, sendAnswers } from '../support/load.ts';
import { createInstallation } from './compose.ts';

const { baseUrl, environment, compose, up, down, parley, request, makeTenant, storedAnswers, atRest } =
  await createInstallation();
const folder = mkdtempSync(join(tmpdir(), 'parley-backup-'));

beforeAll(up);
afterAll(async () => {
  await down();
  rmSync(folder, { recursive: true, force: true });
});

test('the documented commands restore a Compose installation with all answers accepted before, once', async () => {
  const [back, forth] = shellBlocks('docs/backup.md', 'With Compose') as [string, string];
  const documented = { ...environment, BACKUP: folder };
  const tenant = await makeTenant();
  await compose(['stop', 'worker']);
  const sender = sendAnswers([baseUrl], tenant.key.api_key, tenant.questionId, 2);
  await waitFor(() => sender.ledger.acknowledged.size > 100);
  const before = new Set(sender.ledger.acknowledged);
  const backingUp = runDocumented(back, documented);
  await compose(['start', 'worker']); // queued answers move to the database while the backup is made
  await backingUp;
  const ledger = await sender.stop();

  await down();
  await runDocumented(forth, documented);
  expect(await parley(['doctor'])).toMatchObject({ ok: true });
  const ingestion = await atRest(tenant.key.api_key);
  const stored = await storedAnswers(tenant.key.api_key);
  expectRestored(before, ledger, stored);
  expect(ingestion).toMatchObject({ stored: stored.length, accepted: stored.length, repeated: 0, quarantined: 0 });

  const token = await new SignJWT({ grants: { identity: 'user|42' } })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', cty: 'svc-fpa;v=1' })
    .setIssuer(tenant.key.id)
    .setSubject(tenant.id)
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(tenant.key.secret));
  expect((await request('GET', '/v1/cards', token)).status).toBe(200);
}, 300_000);
