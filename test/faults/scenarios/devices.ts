import { setTimeout as sleep } from 'node:timers/promises';
import { v7 } from 'uuid';
import { parseTypeId } from '../../../src/domain/ids.ts';
import { publishQuestion } from '../../support/make.ts';
import { runCommand } from '../../support/process.ts';
import type { ReplyStatus } from '../ledger.ts';
import { BOTH, type Scenario } from '../scenario.ts';
import type { Unit } from '../units.ts';
import type { FaultTenant, World } from '../world.ts';
import { killInTurns } from './process-kills.ts';

const DAY_MS = 86_400_000;
const CLOCK = ['--import', new URL('../clock.ts', import.meta.url).pathname];
const KILLS_A_DAY = 10;
const DEVICES_AT_ONCE = 20;
/** The timeout of requests while the processes are started and killed. */
const PATIENCE_MS = 30_000;
/** The pause before an unacknowledged sync is sent again. */
const PAUSE_MS = 100;

const QUESTION = {
  frequency: { repeat: 'until_answered', ignore_cooldown: true },
  follow_ups: [
    { key: 'reason', type: 'text', title: 'Why?', show_if: { step: 'main', op: 'lte', value: 6 } },
    {
      ...{ key: 'topics', type: 'multi_choice', title: 'What should we improve?' },
      config: { options: ['price', 'speed'].map(id => ({ id, label: id })) },
    },
    { key: 'again', type: 'thumbs', title: 'Would you choose us again?', required: true },
  ],
};

interface Card {
  id: string;
  question_id: string;
  question_version: number;
}

/** A user with two devices that have fetched the same card. Each device creates an answer of its own. */
interface Person {
  identity: string;
  card: Card;
  phone: string;
  laptop: string;
}

/** The state of an answer at one moment, as a device syncs it. */
interface Moment {
  state: 'seen' | 'partial' | 'completed';
  values: Record<string, unknown>;
}

/** On the phone: shown, half answered, left. */
const ON_PHONE: Moment[] = [
  { state: 'seen', values: {} },
  { state: 'partial', values: { main: 3 } },
  { state: 'partial', values: { main: 3, reason: 'It is slow.' } },
];

/** A day later on the laptop: shown, answered step by step, completed. */
const ON_LAPTOP: Moment[] = [
  { state: 'seen', values: {} },
  { state: 'partial', values: { main: 4 } },
  { state: 'partial', values: { main: 4, reason: 'It was slow.', topics: { option_ids: ['speed'] } } },
  {
    state: 'completed',
    values: { main: 4, reason: 'It was slow.', topics: { option_ids: ['speed'] }, again: true },
  },
];

async function fetchPerson(world: World, api: Unit, tenant: FaultTenant, number: number): Promise<Person> {
  const identity = `user|${number}`;
  const as = await tenant.tenant.sign(identity);
  const fetchCard = async (): Promise<Card> => {
    const { body } = await world.request(`${api.baseUrl}/v1/cards`, { as, timeoutMs: PATIENCE_MS });
    return JSON.parse(body).data.find((card: Card) => card.question_id === tenant.questionId);
  };
  const [card, other] = [await fetchCard(), await fetchCard()];
  if (!card || card.id !== other?.id) throw new Error(`${identity} has no card, or two`);
  return { identity, card, phone: v7(), laptop: v7() };
}

/** Sends each moment of an answer until it is acknowledged, and every third one again. */
async function sync(
  world: World,
  tenant: FaultTenant,
  { address, token, person, id }: { address: string; token: string; person: Person; id: string },
  moments: Moment[],
): Promise<string[]> {
  const problems: string[] = [];
  const { identity, card } = person;
  for (const [index, moment] of moments.entries()) {
    const answer = {
      ...{ id, revision: index + 1, card_id: card.id, question_id: card.question_id },
      ...{ question_version: card.question_version, ...moment },
    };
    for (let times = world.random.whole(0, 2) === 0 ? 2 : 1; times > 0; ) {
      const entry = await world.ledger.before(tenant.uuid, [{ id, identity }]);
      const reply = await world
        .request(`${address}/v1/answers`, { method: 'POST', as: token, body: { answers: [answer] } })
        .catch(() => undefined);
      const status: ReplyStatus = reply?.status ?? 'broken';
      const result = status === 202 ? JSON.parse(reply?.body ?? '').results[0] : undefined;
      await world.ledger.after(entry, status, result?.status === 'rejected' ? [0] : []);
      if (result?.status === 'rejected') problems.push(result.code);
      else if (status !== 202 && status !== 503 && status !== 'broken') problems.push(String(status));
      if (status === 202) times--;
      else await sleep(PAUSE_MS);
    }
  }
  return problems;
}

/** Runs `work` for each person, some at a time. */
async function forEach(people: Person[], work: (person: Person) => Promise<string[]>): Promise<string[]> {
  const waiting = [...people];
  const problems: string[] = [];
  const lane = async () => {
    for (let person = waiting.shift(); person; person = waiting.shift()) problems.push(...(await work(person)));
  };
  await Promise.all(Array.from({ length: DEVICES_AT_ONCE }, lane));
  return problems;
}

/** Checks the stored answers and the results: an answer a view, and one of the two counted, with each step once. */
async function mustCountOnce(world: World, { tenant, questionId }: FaultTenant, people: number): Promise<void> {
  const question = parseTypeId('question', questionId);
  const stored = await world.query<{ row: string }>(
    `select concat_ws(' ', state, 'revision', revision, 'steps', (select count(*) from jsonb_object_keys("values"))) || ': ' || count(*) as row
     from answers where question_id = $1 group by state, revision, (select count(*) from jsonb_object_keys("values")) order by 1`,
    [question],
  );
  const wanted = `completed revision 4 steps 4: ${people}, partial revision 3 steps 2: ${people}`;
  const rows = stored.map(({ row }) => row).join(', ');
  world.must('every view has one answer, in its last state', rows === wanted, rows);

  const readCounts = async () => {
    const counts = await world.query<{ row: string }>(
      `select concat_ws(' ', 'main', sum(partial), sum(completed)) as row from question_results where question_id = $1
       union all select concat_ws(' ', step, sum(partial), sum(completed), sum(skipped), sum("left"))
       from question_step_results where question_id = $1 group by step order by row`,
      [question],
    );
    return counts.map(({ row }) => row).join(', ');
  };
  const once = `again 0 ${people} 0 0, main 0 ${people}, reason 0 ${people} 0 0, topics 0 ${people} 0 0`;
  const counts = await readCounts();
  world.must('each step of the completed answer is counted once', counts === once, counts);
  const { code, stdout, stderr } = await runCommand(['results', 'rebuild', '--tenant', tenant.id], world.environment());
  const corrected = code === 0 ? JSON.parse(stdout).corrected : stderr;
  world.must('a full recount finds no difference', corrected === 0 && (await readCounts()) === once, corrected);
}

export const otherDevice: Scenario = {
  id: 'R47',
  title: 'an answer of several steps, left on one device and finished on another',
  load: '2,000 users with two devices: shown, half answered and left on one, completed a day later on the other, a sync a step',
  faults: '20 × SIGKILL of either of two workers, 0.5 to 3 s apart, ten a day',
  backends: BOTH,
  async run(world) {
    const api = await world.start('serve');
    const workers = [await world.start('work'), await world.start('work')];
    const made = await world.addTenant();
    const request = async (method: string, path: string, options: { as?: string; body?: unknown } = {}) => {
      const reply = await world.request(`${api.baseUrl}${path}`, { method, ...options });
      return { ...reply, headers: new Headers(), body: JSON.parse(reply.body) };
    };
    const question = await publishQuestion({ request }, made.tenant, QUESTION);
    const tenant = { ...made, questionId: question.id as string };
    const people: Person[] = [];
    for (let number = 0; number < world.sized(2000, 60); number++)
      people.push(await fetchPerson(world, api, tenant, number));
    const onPhone = async (person: Person) => {
      const token = await tenant.tenant.sign(person.identity);
      return sync(world, tenant, { address: api.baseUrl, token, person, id: person.phone }, ON_PHONE);
    };
    const [problems] = await Promise.all([forEach(people, onPhone), killInTurns(world, workers, KILLS_A_DAY)]);

    const tomorrow = await world.start('serve', { nodeArgs: CLOCK, environment: { CLOCK_SHIFT_MS: String(DAY_MS) } });
    const exp = Math.floor((Date.now() + DAY_MS) / 1000) + 3000;
    const onLaptop = async (person: Person) => {
      const token = await tenant.tenant.sign(person.identity, { claims: { exp } });
      return sync(world, tenant, { address: tomorrow.baseUrl, token, person, id: person.laptop }, ON_LAPTOP);
    };
    const [more] = await Promise.all([forEach(people, onLaptop), killInTurns(world, workers, KILLS_A_DAY)]);
    world.recovered(await world.drained());
    const refused = [...problems, ...more];
    world.must('no sync was refused', refused.length === 0, refused.slice(0, 5).join(', '));
    await mustCountOnce(world, tenant, people.length);
  },
};
