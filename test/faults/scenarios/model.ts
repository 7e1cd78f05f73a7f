import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { TestKey } from '../../support/make.ts';
import { waitFor } from '../../support/wait.ts';
import { answerOf, type NewAnswer } from '../load.ts';
import { BOTH, type Scenario } from '../scenario.ts';
import type { Unit } from '../units.ts';
import type { FaultTenant, World } from '../world.ts';

/** The expected state: every sent batch, and which of them were acknowledged. */
interface Model {
  batches: { answers: NewAnswer[]; acknowledged: boolean }[];
}

interface Real {
  world: World;
  tenant: FaultTenant;
  api: Unit;
  worker: Unit;
}

type Command = fc.AsyncCommand<Model, Real>;

const MOST_COMMANDS = 60;
const REVOKED_WITHIN_MS = 1000;

const fail = (what: string): never => {
  throw new Error(what);
};

/** Sends a batch and records the result. Anything but a 202 or a temporary failure is a fault. */
async function submit({ world, tenant, api }: Real, batch: Model['batches'][number]): Promise<void> {
  const { reply, receipts } = await world.send(tenant, batch.answers, api.baseUrl);
  if (reply.status === 202) {
    const wrong = receipts.find(({ status }) => status === 'rejected');
    if (wrong) fail(`a good answer was rejected: ${JSON.stringify(wrong)}`);
    batch.acknowledged = true;
  } else if (reply.status !== 503 && reply.status !== 'broken') fail(`a good request got ${reply.status}`);
}

const submitNew = (count: number): Command => ({
  check: () => true,
  async run(model, real) {
    const answers = Array.from({ length: count }, (_, place) =>
      answerOf(real.tenant, `user|${model.batches.length}-${place}`),
    );
    const batch = { answers, acknowledged: false };
    model.batches.push(batch);
    await submit(real, batch);
  },
  toString: () => `submit ${count}`,
});

const retry = (which: number): Command => ({
  check: model => model.batches.length > 0,
  async run(model, real) {
    const batch = model.batches[which % model.batches.length];
    if (batch) await submit(real, batch);
  },
  toString: () => `send batch ${which} again`,
});

const revokeKey = (): Command => ({
  check: () => true,
  async run(_, { world, tenant, api }) {
    const old: TestKey = { ...tenant.tenant.key, apiKey: tenant.apiKey };
    const next = await tenant.tenant.addKey();
    tenant.apiKey = next.apiKey;
    await world.query(
      'update api_keys set revoked_at = now() where tenant_id = $1 and bearer_hash = sha256($2::bytea)',
      [tenant.uuid, Buffer.from(old.apiKey)],
    );
    const statusOfOld = () =>
      world.request(`${api.baseUrl}/v1/answers?limit=1`, { as: old.apiKey }).then(reply => reply.status);
    await waitFor(async () => (await statusOfOld()) === 401, REVOKED_WITHIN_MS);
  },
  toString: () => 'revoke the key',
});

const killWorker = (): Command => ({
  check: () => true,
  async run(_, { world, worker }) {
    await worker.end('SIGKILL');
    world.fault('kill');
    await worker.restart(); // not awaited: it processes jobs once it is up
  },
  toString: () => 'kill the worker',
});

const killApi = (): Command => ({
  check: () => true,
  async run(_, { world, api }) {
    await api.end('SIGKILL');
    world.fault('kill');
    await api.restart();
    await api.awaitReady();
  },
  toString: () => 'kill the API',
});

const restartQueue = (): Command => ({
  check: () => true,
  async run(_, { world }) {
    const store = world.stores.valkey ?? world.stores.postgres;
    await store.kill('SIGKILL');
    world.fault('kill');
    await store.start();
  },
  toString: () => 'kill the store of the queue',
});

const read = (which: number): Command => ({
  check: model => model.batches.some(batch => batch.acknowledged),
  async run(model, { world, tenant, api }) {
    const acknowledged = model.batches.filter(batch => batch.acknowledged).flatMap(batch => batch.answers);
    const answer = acknowledged[which % acknowledged.length] as NewAnswer & { id: string };
    const reply = await world.request(`${api.baseUrl}/v1/answers/${answer.id}`, { as: tenant.apiKey });
    if (reply.status === 404 || reply.status === 503) return; // not stored yet, or no database at the moment
    if (reply.status !== 200) fail(`a read got ${reply.status}`);
    const { identity, values } = JSON.parse(reply.body);
    if (identity !== answer.identity || values.main !== answer.values.main) fail(`${answer.id} reads as ${reply.body}`);
  },
  toString: () => `read ${which}`,
});

const often = fc.nat(1000);
/** Commands that take seconds are listed once, the others several times, so that they are chosen more often. */
const COMMANDS: fc.Arbitrary<Command>[] = [
  ...Array.from({ length: 16 }, () => fc.integer({ min: 1, max: 100 }).map(submitNew)),
  ...Array.from({ length: 10 }, () => often.map(retry)),
  ...Array.from({ length: 10 }, () => often.map(read)),
  fc.constant(revokeKey()),
  fc.constant(killWorker()),
  fc.constant(killApi()),
  fc.constant(restartQueue()),
];

export const modelled: Scenario = {
  id: 'R29',
  title: 'random histories against a model',
  load: '150 runs on each backend, of up to 60 commands: submit, send again, read, revoke the key',
  faults: 'kill -9 of the worker, of the API, of the store that carries the queue, among the commands',
  backends: BOTH,
  async run(world) {
    const api = await world.start('serve');
    const worker = await world.start('work');
    const runs = world.sized(150, 5);
    let done = 0;
    const property = fc.asyncProperty(
      fc.commands(COMMANDS, { maxCommands: MOST_COMMANDS, size: 'max' }),
      async commands => {
        await api.awaitReady();
        const tenant = await waitFor(() => world.addTenant().catch(() => undefined)); // the stores may still be restarting
        await fc.asyncModelRun(() => ({ model: { batches: [] }, real: { world, tenant, api, worker } }), commands);
        if (++done % 25 === 0) world.progress(`${done} of ${runs} runs`);
      },
    );
    const outcome = await fc.check(property, {
      numRuns: runs,
      seed: world.random.whole(0, 2 ** 30),
      endOnFailure: true,
    });
    const counterexample = outcome.failed ? `${outcome.counterexample} ${outcome.errorInstance}` : 'none';
    world.must('no history contradicts the model', !outcome.failed, `counterexample: ${counterexample}`);
    await sleep(100);
  },
};
