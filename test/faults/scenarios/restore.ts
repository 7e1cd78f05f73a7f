import { copyFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { docker } from '../../containers/docker.ts';
import { readLedger } from '../ledger.ts';
import { tally } from '../load.ts';
import { judge } from '../oracle.ts';
import { BOTH, type Scenario } from '../scenario.ts';
import { openPostgres, openValkey, type Store } from '../stores.ts';
import { startUnit } from '../units.ts';
import { createDrain, readFound, type World } from '../world.ts';

/** A backup: the SQL dump of the database and a copy of the queue's files. */
interface Backup {
  statements: string;
  queueFolder: string | undefined;
}

/** Backs up under load. The queue is first, because answers that leave it later are in the database dump. */
async function backUp(world: World, folder: string): Promise<Backup> {
  const { postgres, valkey } = world.stores;
  if (valkey) await docker(['cp', `${valkey.container()}:/data/.`, folder]);
  const statements = await postgres.exec('sh', '-c', 'pg_dumpall --username=postgres');
  return { statements, queueFolder: valkey && folder };
}

/** Creates stores from a backup. */
async function restore({ statements, queueFolder }: Backup): Promise<{ postgres: Store; valkey: Store | undefined }> {
  const postgres = await openPostgres();
  await docker(['exec', '--interactive', postgres.container(), 'psql', '--username=postgres', '--quiet'], {
    input: statements,
  });
  const valkey = queueFolder ? await openValkey({ copyOf: queueFolder }) : undefined;
  return { postgres, valkey };
}

export const backupAndRestore: Scenario = {
  id: 'R24',
  title: 'backup under load, restored elsewhere',
  load: '200 requests/s of 5 answers while the queue and then the database are copied',
  faults: 'everything is lost; stores are made anew from the copies, with the kept SECRET_KEY',
  backends: BOTH,
  async run(world) {
    await world.start('serve');
    const worker = await world.start('work');
    const tenant = await world.addTenant();
    const load = world.load({ batch: 5, lanes: 40, perSecond: 200 });
    await sleep(world.sized(20_000, 4000));
    worker.signal('SIGSTOP'); // so that the copy of the queue has jobs that are not in the database
    await sleep(500);
    const known = `${world.ledger.path}-at-backup`;
    await copyFile(world.ledger.path, known);
    const copying = backUp(world, `${world.folder}/queue`);
    worker.signal('SIGCONT');
    const backup = await copying;
    await sleep(1000);
    await load.stop();
    world.fault('injected');

    const stores = await restore(backup);
    try {
      const environment = {
        DATABASE_URL: stores.postgres.url,
        SECRET_KEY: world.secretKey,
        ...(stores.valkey ? { REDIS_URL: stores.valkey.url } : {}),
      };
      await using api = await startUnit('serve', { environment });
      await using successor = await startUnit('work', { environment });
      await Promise.all([api.awaitReady(), successor.awaitReady()]);
      const restoredAt = Date.now();
      await createDrain(stores).drained();
      world.recovered(Date.now() - restoredAt);
      await judgeRestored(world, known, stores.postgres.url);
      const token = await tenant.tenant.sign('user|0-0');
      const byKey = await world.request(`${api.baseUrl}/v1/answers?limit=1`, { as: tenant.apiKey });
      const byToken = await world.request(`${api.baseUrl}/v1/cards`, { as: token });
      world.must(
        'keys and secrets work again',
        byKey.status === 200 && byToken.status === 200,
        `${byKey.status}, ${byToken.status}`,
      );
    } finally {
      await stores.postgres[Symbol.asyncDispose]();
      await stores.valkey?.[Symbol.asyncDispose]();
    }
    world.must(
      'no request failed meanwhile',
      load.replies.every(({ status }) => status === 202),
      tally(load.replies),
    );
  },
};

/** Answers acknowledged before the backup started must be restored; later ones may be. */
async function judgeRestored(world: World, known: string, url: string): Promise<void> {
  const before = new Set((await readLedger(known)).filter(({ fate }) => fate === 'acknowledged').map(({ id }) => id));
  const sent = (await readLedger(world.ledger.path)).map(entry => ({
    ...entry,
    fate: before.has(entry.id) ? ('acknowledged' as const) : ('ambiguous' as const),
  }));
  const { violations, stored } = judge({ sent, ...(await readFound(url)) });
  world.must(
    'what was acknowledged before the backup is there once',
    violations.length === 0,
    `${before.size} acknowledged before, ${stored} restored, ${violations.length} violations`,
  );
}
