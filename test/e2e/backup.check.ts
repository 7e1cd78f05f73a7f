import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GenericContainer } from 'testcontainers';
import { describe, expect, inject, test } from 'vitest';
import { withClient } from '../../src/platform/postgres-client.ts';
import { backends, createApi, createWorker, waitFor } from '../support/api.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { runDocumented, shellBlocks } from '../support/documents.ts';
import { expectRestored, sendAnswers } from '../support/load.ts';
import { makeTenant, publishQuestion } from '../support/make.ts';
import { runCommand, startProcess } from '../support/process.ts';

const DOCUMENT = 'docs/backup.md';

/** A folder that any user may enter and write to, removed at the end of the scope. */
function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'parley-backup-'));
  chmodSync(path, 0o777);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const query = <Row extends object>(url: string, sql: string): Promise<Row[]> =>
  withClient(url, async client => (await client.query<Row>(sql)).rows);

/** Starts a Valkey on an existing data folder. */
async function startValkey(dataFolder: string) {
  const container = await new GenericContainer('valkey/valkey:9')
    .withCommand(
      'valkey-server --appendonly yes --appendfsync always --maxmemory-policy noeviction --save'.split(' ').concat(''),
    )
    .withBindMounts([{ source: dataFolder, target: '/data' }])
    .withExposedPorts(6379)
    .start();
  return {
    url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
    [Symbol.asyncDispose]: async () => void (await container.stop()),
  };
}

/** The tools of the stores, in the stores' versions. */
const TOOLS = `
FOLDER=$(dirname "$BACKUP")
tool() { docker run --rm -i --network host -v "$FOLDER:$FOLDER" "$@"; }
for name in pg_dump pg_restore psql; do eval "$name() { tool postgres:18 $name \\"\\$@\\"; }"; done
valkey_cli() { tool valkey/valkey:9 valkey-cli "$@"; }
alias valkey-cli=valkey_cli
`;

/** Pauses between the first and the second tool until the test continues. */
const PAUSED_TOOLS = `${TOOLS}
tool() {
  while [ -e "$BACKUP/first-done" ] && [ ! -e "$BACKUP/go-on" ]; do sleep 0.05; done
  docker run --rm -i --network host -v "$FOLDER:$FOLDER" "$@"
  touch "$BACKUP/first-done"
}
`;

const withoutQueue = (script: string): string =>
  script
    .split('\n')
    .filter(line => !/valkey|queue/i.test(line))
    .join('\n');

async function get(baseUrl: string, path: string, as: string) {
  const response = await fetch(`${baseUrl}${path}`, { headers: { Authorization: `Bearer ${as}` } });
  // biome-ignore lint/suspicious/noExplicitAny: tests read parts of any reply
  return { status: response.status, body: (await response.json()) as any };
}

describe.runIf(inject('hasDocker')).each(backends())('with external stores and the queue in %s', backend => {
  test('a backup under load restores all answers accepted before it, once', async () => {
    using folder = temporaryFolder();
    const [backup, data] = ['backup', 'data'].map(name => join(folder.path, name)) as [string, string];
    for (const path of [backup, data]) {
      mkdirSync(path);
      chmodSync(path, 0o777);
    }
    const [back, forth] = shellBlocks(DOCUMENT, 'With stores of your own').map(script =>
      backend === 'valkey' ? script : withoutQueue(script),
    ) as [string, string];
    await using api = await createApi({ backend });
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant);
    const sender = sendAnswers([api.baseUrl], tenant.key.apiKey, question.id, 4);
    await waitFor(() => sender.ledger.acknowledged.size > 100); // all in the queue, because there is no worker yet
    const before = new Set(sender.ledger.acknowledged);
    const stores = { DATABASE_URL: api.database.url, REDIS_URL: api.config.REDIS_URL ?? '' };
    const backingUp = runDocumented(back, { ...stores, SECRET_KEY: api.secretKey, BACKUP: backup }, PAUSED_TOOLS);
    await Promise.race([backingUp, waitFor(() => existsSync(join(backup, 'first-done')))]);
    {
      await using _worker = await createWorker(api); // now all answers move from the queue to the database
      await waitFor(async () => {
        const stored = await query<{ id: string }>(api.database.url, 'select id from answers');
        return before.isSubsetOf(new Set(stored.map(({ id }) => id)));
      });
      writeFileSync(join(backup, 'go-on'), '');
      await backingUp;
      await sender.stop();
    }

    await using database = await createEmptyDatabase();
    const target = { DATABASE_URL: database.url, VALKEY_DATA: data, BACKUP: backup };
    await runDocumented(forth, target, TOOLS);
    chmodSync(data, 0o777);
    await using valkey = backend === 'valkey' ? await startValkey(data) : undefined;
    await using parley = await startProcess('start', {
      DATABASE_URL: database.url,
      SECRET_KEY: readFileSync(join(backup, 'secret_key'), 'utf8'),
      ...(valkey ? { REDIS_URL: valkey.url } : {}),
    });
    await parley.awaitProbe('/readyz');
    const figures = await waitFor(async () => {
      const { status, body } = await get(parley.baseUrl, '/v1/ingestion', tenant.key.apiKey);
      return status === 200 && body.queued === 0 && body;
    }, 300_000);
    const stored = await query<{ id: string }>(database.url, 'select id from answers');
    expectRestored(
      before,
      sender.ledger,
      stored.map(({ id }) => id),
    );
    expect(figures).toMatchObject({ stored: stored.length, repeated: 0, quarantined: 0, accepted: stored.length });
    expect((await get(parley.baseUrl, '/v1/cards', await tenant.sign('user|42'))).status).toBe(200);
  }, 300_000);
});

test('the data folder of the embedded PostgreSQL, moved away and back, has every answer and secret', async () => {
  using folder = temporaryFolder();
  const environment = { DATA_DIR: join(folder.path, 'data'), BACKUP: join(folder.path, 'backup') };
  const [back, forth] = shellBlocks(DOCUMENT, 'With the embedded PostgreSQL') as [string, string];
  const parley = async (...args: string[]) => JSON.parse((await runCommand(args, environment)).stdout);

  const first = await startProcess('start', environment);
  await first.awaitProbe('/readyz', 200, 60_000);
  const { id } = await parley('tenant', 'create', '--name', 'Acme');
  const { api_key: key } = await parley('api-key', 'create', '--tenant', id, '--name', 'backend');
  const post = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    return (await fetch(`${first.baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  const question = (await post('/v1/questions', { type: 'nps', title: 'How likely?' })) as { id: string };
  await post(`/v1/questions/${question.id}/publish`, {});
  const sender = sendAnswers([first.baseUrl], key, question.id, 2);
  await waitFor(() => sender.ledger.acknowledged.size > 30);
  const { acknowledged } = await sender.stop();
  first.kill('SIGTERM');
  expect(await first.exited).toBe(0);

  await runDocumented(back, environment);
  rmSync(environment.DATA_DIR, { recursive: true });
  await runDocumented(forth, environment);

  await using second = await startProcess('start', environment);
  await second.awaitProbe('/readyz', 200, 60_000);
  const figures = await waitFor(async () => {
    const { status, body } = await get(second.baseUrl, '/v1/ingestion', key);
    return status === 200 && body.queued === 0 && body;
  });
  expect(figures).toMatchObject({ stored: acknowledged.size, accepted: acknowledged.size, repeated: 0 });
  expect(await parley('doctor')).toMatchObject({ ok: true });
}, 300_000);
