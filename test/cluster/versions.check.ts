import { describe, expect, inject, test } from 'vitest';
import { createBench } from './bench.ts';
import { IMAGE, PREVIOUS_CHART } from './cluster.ts';
import { createInstallation, UNLIMITED } from './installation.ts';
import { settingFor } from './skipped.ts';

const VALUES = { api: { replicas: 2 }, worker: { replicas: 2 }, ...UNLIMITED };

describe.runIf(inject('cluster'))('the previous version and this one', () => {
  test('an upgrade and its rollback at 100 answers a second fail no request', async context => {
    const previous = settingFor('the upgrade from the version before', 'PARLEY_PREVIOUS_IMAGE');
    if (!previous) return context.skip();
    await using installation = await createInstallation();
    await installation.install(VALUES, previous, PREVIOUS_CHART);
    await using bench = await createBench(installation, await installation.open());

    const upgraded = await bench.underLoad(`upgrade: ${previous} → ${IMAGE}`, () => installation.upgrade(VALUES));
    expect(upgraded).toMatchObject({ violations: [], failedAttempts: 0 });
    expect(await installation.parley(['doctor'])).toMatchObject({ ok: true });

    const rolledBack = await bench.underLoad(`rollback: ${IMAGE} → ${previous}`, () =>
      installation.helm(['rollback', 'parley', '1', '--wait', '--timeout', '8m']),
    );
    expect(rolledBack).toMatchObject({ violations: [], failedAttempts: 0 });
  });
});
