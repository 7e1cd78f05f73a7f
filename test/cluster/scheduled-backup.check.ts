import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { runDocumented, shellBlocks } from '../support/documents.ts';
import { expectRestored, sendAnswers } from '../support/load.ts';
import { waitFor } from '../support/wait.ts';
import { BACKUP_IMAGE, imageValues } from './cluster.ts';
import { createInstallation, UNLIMITED, WORKLOADS } from './installation.ts';
import { record, timed } from './results.ts';

const [NOW, COPY] = shellBlocks('docs/backup.md', 'Every day, on Kubernetes') as [string, string];
const [, FORTH] = shellBlocks('docs/backup.md', 'On Kubernetes') as [string, string];
const folder = mkdtempSync(join(tmpdir(), 'parley-scheduled-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const VALUES = {
  ...UNLIMITED,
  backup: { enabled: true, persistence: { size: '1Gi' }, ...imageValues(BACKUP_IMAGE) },
  networkPolicy: { enabled: true },
};

test.runIf(inject('cluster'))(
  'a backup of the CronJob runs to its end and restores all answers accepted before in a second release',
  async () => {
    const documented = (namespace: string, more: Record<string, string> = {}) => ({
      KUBECONFIG: process.env.KUBECONFIG ?? '',
      NAMESPACE: namespace,
      BACKUP: folder,
      ...more,
    });
    await using installation = await createInstallation();
    await installation.install(VALUES);
    const api = await installation.open();
    const tenant = await api.makeTenant();
    await installation.kubectl(['scale', WORKLOADS.worker, '--replicas', '0']);
    await waitFor(async () => (await installation.pods('worker')).length === 0, 90_000, 500);
    const sender = sendAnswers([api.baseUrl], tenant.key.api_key, tenant.questionId, 2);
    await waitFor(() => sender.ledger.acknowledged.size > 100, 60_000);
    const before = new Set(sender.ledger.acknowledged);
    const { result } = await timed('backup by the CronJob', () =>
      runDocumented(NOW, documented(installation.namespace)),
    );
    expect(result).toContain('complete_until');
    await installation.kubectl(['scale', WORKLOADS.worker, '--replicas', '1']);
    const ledger = await sender.stop();
    await runDocumented(COPY, documented(installation.namespace));
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['database.dump', 'queue.rdb', 'secret_key']));
    const { 'parley-secrets': secrets = {} } = await installation.secrets();
    const key = Buffer.from(secrets['secret-key'] ?? '', 'base64').toString();
    for (const file of readdirSync(folder).filter(name => name !== 'secret_key'))
      expect(readFileSync(join(folder, file)).includes(key), file).toBe(false);

    await using drill = await createInstallation();
    await timed("restore of the CronJob's backup", () =>
      runDocumented(FORTH, documented(drill.namespace, { DRILL: '1' })),
    );
    const restored = await drill.open();
    await restored.atRest(tenant.key.api_key);
    const stored = await restored.storedAnswers(tenant.key.api_key);
    expectRestored(before, ledger, stored);
    record("restore of the CronJob's backup: answers", {
      acknowledgedBefore: before.size,
      restored: stored.length,
      lost: 0,
      doubled: 0,
    });
  },
);
