import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { runDocumented, shellBlocks } from '../support/documents.ts';
import { expectRestored, sendAnswers } from '../support/load.ts';
import { signToken } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';
import { createInstallation, UNLIMITED, WORKLOADS } from './installation.ts';
import { record, timed } from './results.ts';

const [BACK, FORTH] = shellBlocks('docs/backup.md', 'On Kubernetes') as [string, string];
const folder = mkdtempSync(join(tmpdir(), 'parley-backup-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const documented = (namespace: string, more: Record<string, string> = {}) => ({
  KUBECONFIG: process.env.KUBECONFIG ?? '',
  NAMESPACE: namespace,
  BACKUP: folder,
  ...more,
});

test.runIf(inject('cluster'))(
  'the documented commands restore all answers accepted before in another namespace, once',
  async () => {
    await using installation = await createInstallation();
    await installation.install(UNLIMITED);
    const api = await installation.open();
    const tenant = await api.makeTenant();
    const scaleWorker = (replicas: number) =>
      installation.kubectl(['scale', WORKLOADS.worker, '--replicas', String(replicas)]);
    await scaleWorker(0);
    await waitFor(async () => (await installation.pods('worker')).length === 0, 90_000, 500);
    const sender = sendAnswers([api.baseUrl], tenant.key.api_key, tenant.questionId, 2);
    await waitFor(() => sender.ledger.acknowledged.size > 100, 60_000);
    const before = new Set(sender.ledger.acknowledged);
    const backingUp = timed('backup', () => runDocumented(BACK, documented(installation.namespace)));
    await scaleWorker(1); // queued answers move to the database while the backup is made
    await backingUp;
    const ledger = await sender.stop();

    await using drill = await createInstallation();
    await timed('restore drill', () => runDocumented(FORTH, documented(drill.namespace, { DRILL: '1' })));
    expect(await drill.parley(['doctor'])).toMatchObject({ ok: true });
    const restored = await drill.open();
    const ingestion = await restored.atRest(tenant.key.api_key);
    const stored = await restored.storedAnswers(tenant.key.api_key);
    expectRestored(before, ledger, stored);
    expect(ingestion).toMatchObject({ stored: stored.length, accepted: stored.length, repeated: 0, quarantined: 0 });
    const token = await signToken(tenant.key, tenant.id, 'user|42');
    expect((await restored.request('GET', '/v1/cards', token)).status).toBe(200);
    record('restore drill: answers', { acknowledgedBefore: before.size, restored: stored.length, lost: 0, doubled: 0 });
  },
);
