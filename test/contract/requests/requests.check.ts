import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createScene, type Scene } from '../../api/mistakes/mistake.ts';
import { createApi, createWorker, type TestApi } from '../../support/api.ts';
import { BUILT, DOCUMENT, HERE, installSchemathesis, outcomeOf } from '../installed.ts';
import { configurationOf, KINDS, type Kind } from './configuration.ts';

/** The duration of all runs together. CI sets a shorter one. */
const SECONDS = Number(process.env.CONTRACT_SECONDS ?? 300);
/** A fixed seed by default, so that a change is not blamed for an older fault; `random` for another one in each run. */
const SEED = process.env.CONTRACT_SEED ?? '1';

/** Operations that a run leaves out, because they end its own credential. `test/api/sessions.test.ts` covers them. */
const LEFT_OUT: Partial<Record<Kind, string[]>> = {
  session: ['DELETE /v1/session', 'DELETE /v1/sessions', 'DELETE /v1/sessions/{id}'],
};

const schemathesis = await installSchemathesis();
let api: TestApi;
let worker: Awaited<ReturnType<typeof createWorker>>;

describe.runIf(schemathesis)('requests that Schemathesis generates', () => {
  beforeAll(async () => {
    api = await createApi();
    worker = await createWorker(api);
  });
  afterAll(async () => {
    for (const opened of [worker, api]) await opened?.[Symbol.asyncDispose]();
  });

  test.each(KINDS)('get the documented replies (credential: %s)', async kind => {
    const scene: Scene = await createScene(api);
    const folder = join(BUILT, kind);
    await mkdir(folder, { recursive: true });
    const configuration = join(folder, 'schemathesis.toml');
    await writeFile(configuration, configurationOf(kind, scene, LEFT_OUT[kind] ?? []));
    const seed = SEED === 'random' ? [] : ['--seed', SEED];
    const limits = ['--max-time', String(Math.ceil(SECONDS / KINDS.length)), ...seed, '--continue-on-failure'];
    const reports = ['--report', 'ndjson', '--report-ndjson-path', join(folder, 'report.ndjson')];
    const args = ['--config-file', configuration, 'run', DOCUMENT, '--url', api.baseUrl, '--checks', 'all'];
    const { code, output } = await outcomeOf(
      schemathesis as string,
      [...args, ...limits, ...reports, '--generation-database', 'none', '--no-color', '--warnings', 'off'],
      { SCHEMATHESIS_HOOKS: 'explained', PYTHONPATH: join(HERE, 'requests') },
    );
    await writeFile(join(folder, 'output.txt'), output);
    const { generated } = /(?<generated>\d+) generated/.exec(output)?.groups ?? {};
    expect(Number(generated), output).toBeGreaterThan(40); // mostly some 30 a second
    expect(code, output).toBe(0);
  });
});
