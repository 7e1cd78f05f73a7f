import { setTimeout as sleep } from 'node:timers/promises';
import { answerOf, type NewAnswer, type Receipt, tally } from '../load.ts';
import { BOTH, POSTGRES_ONLY, type Scenario } from '../scenario.ts';
import type { FaultTenant, World } from '../world.ts';

const CLOCK = ['--import', new URL('../clock.ts', import.meta.url).pathname];
const HOUR_MS = 3_600_000;

const answersOf = (sender: FaultTenant, count: number): NewAnswer[] =>
  Array.from({ length: count }, (_, place) => answerOf(sender, `user|${place}`));

const inHundreds = (answers: NewAnswer[]): NewAnswer[][] =>
  Array.from({ length: Math.ceil(answers.length / 100) }, (_, page) => answers.slice(page * 100, page * 100 + 100));

const countRows = async (world: World, sender: FaultTenant): Promise<number> => {
  const sql = 'select count(*) from answers where tenant_id = $1';
  return Number((await world.query<{ count: string }>(sql, [sender.uuid]))[0]?.count);
};

/** Sends all answers from several clients at once, each to one of the APIs. Returns all receipts. */
async function sendAsMany(
  world: World,
  sender: FaultTenant,
  answers: NewAnswer[],
  clients: number,
): Promise<Receipt[]> {
  const addresses = world.apis();
  const sent = await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const receipts: Receipt[] = [];
      for (const hundred of inHundreds(answers)) {
        const address = addresses[client % addresses.length];
        let outcome = await world.send(sender, hundred, address);
        while (outcome.reply.status === 503) {
          await sleep(1000); // the machine may be too slow to persist twenty at once in time
          outcome = await world.send(sender, hundred, address);
        }
        if (outcome.reply.status !== 202) throw new Error(`a client got ${outcome.reply.status}`);
        receipts.push(...outcome.receipts);
      }
      return receipts;
    }),
  );
  return sent.flat();
}

const statusesOf = (receipts: Receipt[]): string => [...new Set(receipts.map(receipt => receipt.status))].sort().join();

export const duplicates: Scenario = {
  id: 'R15',
  title: 'the same answers again and again',
  load: '1,000 answers by each of 20 clients at once, again when they are stored, again when an hour has gone by',
  faults: 'duplicate submissions; the clock an hour on',
  backends: BOTH,
  quick: POSTGRES_ONLY,
  async run(world) {
    await Promise.all([world.start('serve'), world.start('serve')]);
    await world.start('work');
    const sender = await world.addTenant();
    const answers = answersOf(sender, world.sized(1000, 100));
    const first = await sendAsMany(world, sender, answers, 20);
    world.must(
      'at the same time they are accepted or duplicates',
      /^accepted(,duplicate)?$/.test(statusesOf(first)),
      statusesOf(first),
    );
    await world.drained();
    const second = await sendAsMany(world, sender, answers, 20);
    world.must(
      'when they are stored they are accepted or duplicates',
      /^(accepted,)?duplicate$/.test(statusesOf(second)),
      statusesOf(second),
    );
    await Promise.all(world.units.filter(({ role }) => role === 'serve').map(unit => unit.end('SIGKILL')));
    world.fault('kill', 2);
    await world.start('serve', { nodeArgs: CLOCK, environment: { CLOCK_SHIFT_MS: String(HOUR_MS) } });
    const third = await sendAsMany(world, sender, answers, 20);
    world.must(
      'an hour later, by an API that remembers nothing, too',
      /^(accepted|duplicate|accepted,duplicate)$/.test(statusesOf(third)),
      statusesOf(third),
    );
    await world.drained();
    const rows = await countRows(world, sender);
    world.must('each has one row', rows === answers.length, `${rows} rows of ${answers.length} answers`);
  },
};

export const contestedIds: Scenario = {
  id: 'R16',
  title: 'one id, different answers',
  load: '100 ids, each with two contents, by two users and by two tenants, over two APIs at once',
  faults: 'contested ids',
  backends: BOTH,
  async run(world) {
    await Promise.all([world.start('serve'), world.start('serve')]);
    await world.start('work');
    const [one, other] = [await world.addTenant(), await world.addTenant()];
    const first = answersOf(one, world.sized(100, 10));
    const contents = first.map(answer => ({ ...answer, values: { main: 1 } }));
    const users = first.map((answer, place) => ({ ...answer, identity: `someone|${place}` }));
    const elsewhere = first.map(answer => ({ ...answer, question_id: other.questionId }));
    const [here, there] = world.apis();
    await Promise.all([
      ...inHundreds(first).map(answers => world.send(one, answers, here)),
      ...inHundreds(contents).map(answers => world.send(one, answers, there)),
      ...inHundreds(users).map(answers => world.send(one, answers, there)),
      ...inHundreds(elsewhere).map(answers => world.send(other, answers, here)),
    ]);
    await world.drained();
    const late = await world.send(one, contents.slice(0, 100), here);
    const refused = late.receipts.filter(({ code }) => code === 'revision-conflict').length;
    await world.drained();
    const rows = [await countRows(world, one), await countRows(world, other)];
    world.must(
      'each id has one row for its tenant',
      rows.every(count => count === first.length),
      rows.join(' and '),
    );
    const [{ count } = { count: '0' }] = await world.query<{ count: string }>(
      'select count(*) from quarantined_answers',
    );
    world.note(`${refused} refused with revision-conflict at once, ${count} found at odds later and quarantined`);
    world.must('what is at odds is refused or quarantined', refused + Number(count) > 0, `${refused} and ${count}`);
  },
};

const BAD_PLACE = 36; // the 37th

export const partlyBad: Scenario = {
  id: 'R17',
  title: 'one bad answer among a hundred',
  load: '200 requests of 100 answers of which the 37th is invalid',
  faults: 'a value that the question does not allow',
  backends: BOTH,
  async run(world) {
    await world.start('serve');
    await world.start('work');
    const sender = await world.addTenant();
    const requests = world.sized(200);
    const load = world.load({
      batch: 100,
      lanes: 10,
      requests,
      fields: (_, place) => (place === BAD_PLACE ? { values: { main: 99 } } : {}),
    });
    await load.finished;
    await world.drained();
    const rows = await countRows(world, sender);
    world.must('each request is answered with 202', tally(load.replies) === `202: ${requests}`, tally(load.replies));
    world.must('each bad answer is refused by name', load.rejected() === requests, load.rejected());
    world.must('each of the others is stored', rows === requests * 99, rows);
  },
};
