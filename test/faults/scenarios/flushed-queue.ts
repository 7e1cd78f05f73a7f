import { setTimeout as sleep } from 'node:timers/promises';
import { type Scenario, VALKEY_ONLY } from '../scenario.ts';
import { askValkey } from '../stores.ts';

export const flushedQueue: Scenario = {
  id: 'R34',
  title: 'FLUSHALL by an operator (control: it has to lose, and the metrics have to tell)',
  load: '300 answers/s in requests of 10',
  faults: 'the worker stopped for 2 s, FLUSHALL, the worker started again',
  backends: VALKEY_ONLY,
  isControl: true,
  async run(world) {
    const api = await world.start('serve');
    const worker = await world.start('work');
    await world.addTenant();
    const load = world.load({ batch: 10, lanes: 30, perSecond: 30 });
    await sleep(world.sized(10_000, 2000));
    worker.signal('SIGSTOP');
    await sleep(2000);
    await askValkey(world.valkey().url, redis => redis.flushall());
    world.fault('injected');
    worker.signal('SIGCONT');
    world.recovered(await world.awaitIntake(load, Date.now()));
    await sleep(2000);
    await load.stop();
    await world.drained();
    const accepted = await api.metric('parley_answers_accepted_total');
    const settled = await Promise.all(
      ['stored', 'repeated', 'quarantined'].map(what => worker.metric(`parley_answers_${what}_total`)),
    );
    const missing = accepted - settled.reduce((sum, count) => sum + count, 0);
    const { violations } = await world.verdict();
    const lost = violations.filter(({ kind }) => kind === 'lost').length;
    world.must('the service goes on by itself', api.isRunning() && worker.isRunning(), `${world.recoveriesMs} ms`);
    world.must(
      'accepted less stored, repeated and quarantined is what was lost',
      missing === lost,
      `${missing} by the metrics, ${lost} by the ledger`,
    );
    world.must('nothing but losses', violations.length === lost, violations.length - lost);
  },
};
