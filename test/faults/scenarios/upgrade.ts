import { setTimeout as sleep } from 'node:timers/promises';
import { SignJWT } from 'jose';
import { parseTypeId } from '../../../src/domain/ids.ts';
import { TOKEN_HEADER } from '../../../src/domain/team/tokens.ts';
import { answerTo, aQuestion } from '../../support/make.ts';
import { runCommand } from '../../support/process.ts';
import type { ReplyStatus } from '../ledger.ts';
import { type Sender, tally } from '../load.ts';
import { checkOutPrevious, findPrevious, NO_PREVIOUS, type PreviousVersion } from '../previous-version.ts';
import { BOTH, type Scenario } from '../scenario.ts';
import type { Unit } from '../units.ts';
import { startWatch } from '../watch.ts';
import type { World } from '../world.ts';

/** The time until a load balancer stops sending requests to a process that is about to end. */
const OUT_OF_ROTATION_MS = 1000;

/** A tenant created by the previous version, with the key that signs its tokens. */
interface OldTenant extends Sender {
  id: string;
  keyId: string;
  secret: string;
}

/** Runs a command of the previous version and returns the JSON object that it prints. */
async function runPrevious(world: World, previous: PreviousVersion, args: string[]) {
  const { code, stdout, stderr } = await runCommand(args, world.environment(), '', [], previous.program);
  if (code !== 0) throw new Error(`${args.join(' ')} of ${previous.ref} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Sends a request as an API key or a user, and returns the parsed reply. */
async function call(world: World, method: string, url: string, as: string, body?: unknown) {
  const reply = await world.request(url, { method, as, body, timeoutMs: 10_000 });
  return { status: reply.status, body: reply.body === '' ? undefined : JSON.parse(reply.body) };
}

async function makeOldTenant(world: World, previous: PreviousVersion, address: string): Promise<OldTenant> {
  const tenant = await runPrevious(world, previous, ['tenant', 'create', '--name', 'Acme']);
  const key = await runPrevious(world, previous, ['api-key', 'create', '--tenant', tenant.id, '--name', 'backend']);
  const question = await call(world, 'POST', `${address}/v1/questions`, key.api_key, aQuestion());
  await call(world, 'POST', `${address}/v1/questions/${question.body.id}/publish`, key.api_key);
  const uuid = parseTypeId('tenant', tenant.id) as string;
  return { id: tenant.id, uuid, keyId: key.id, secret: key.secret, apiKey: key.api_key, questionId: question.body.id };
}

const signToken = (tenant: OldTenant, identity: string): Promise<string> =>
  new SignJWT({ iss: tenant.keyId, sub: tenant.id, exp: Math.floor(Date.now() / 1000) + 3600, grants: { identity } })
    .setProtectedHeader(TOKEN_HEADER)
    .sign(new TextEncoder().encode(tenant.secret));

interface Step {
  name: string;
  status: ReplyStatus;
}

/** One user's session in an app: cards, an answer, a conversation; and the team, which reads all of it. */
async function journey(world: World, tenant: OldTenant, number: number, address: () => string): Promise<Step[]> {
  const identity = `user|journey-${number}`;
  const token = await signToken(tenant, identity);
  const cards = await call(world, 'GET', `${address()}/v1/cards`, token);
  const steps: Step[] = [{ name: 'cards', status: cards.status }];
  for (const card of cards.body?.data ?? []) {
    const answer = answerTo(card);
    const entry = await world.ledger.before(tenant.uuid, [{ ...answer, identity }]);
    const { status } = await call(world, 'POST', `${address()}/v1/answers`, token, { answers: [answer] });
    await world.ledger.after(entry, status);
    steps.push({ name: 'answer', status });
  }
  const begun = await call(world, 'POST', `${address()}/v1/conversations`, token, { message: 'It does not open.' });
  const messages = `/v1/conversations/${begun.body?.id}/messages`;
  const replied = await call(world, 'POST', `${address()}${messages}`, tenant.apiKey, { body: 'It does now.' });
  const read = await call(world, 'GET', `${address()}${messages}`, token);
  const listed = await call(world, 'GET', `${address()}/v1/answers?limit=5`, tenant.apiKey);
  const results = await call(world, 'GET', `${address()}/v1/questions/${tenant.questionId}/results`, tenant.apiKey);
  return [
    ...steps,
    { name: 'conversation', status: begun.status },
    { name: 'reply', status: replied.status },
    { name: 'messages', status: read.status },
    { name: 'answers', status: listed.status },
    { name: 'results', status: results.status },
  ];
}

/** Failed steps and how often each occurred; empty when every step succeeded. */
function countFailures(steps: readonly Step[]): string {
  const counts = new Map<string, number>();
  for (const { name, status } of steps)
    if (typeof status !== 'number' || status >= 300)
      counts.set(`${name} ${status}`, (counts.get(`${name} ${status}`) ?? 0) + 1);
  return [...counts].map(([step, count]) => `${step}: ${count}`).join(', ');
}

/** Removes an API from the rotation, then ends it as a rollout does. */
async function retire(world: World, rotation: Set<Unit>, unit: Unit): Promise<void> {
  rotation.delete(unit);
  if (unit.role === 'serve') await sleep(OUT_OF_ROTATION_MS);
  const code = await unit.end('SIGTERM');
  world.fault('stop');
  world.must(`the previous version's ${unit.role} process ends cleanly`, code === 0, `code ${code}`);
}

export const upgrade: Scenario = {
  id: 'R46',
  title: 'upgrade from the previous version under load',
  load: '100 requests/s of 5 answers by API key, and users who fetch cards, answer, and write to the team',
  faults: 'migrations of this version under the previous one, then both side by side, then this version only',
  backends: BOTH,
  exclusive: true,
  unmigrated: true,
  omitted: () => (findPrevious() ? undefined : NO_PREVIOUS),
  async run(world) {
    using previous = await checkOutPrevious(findPrevious() as string);
    world.note(`previous version: ${previous.ref}`);
    await runPrevious(world, previous, ['migrate']);
    const { program } = previous;
    const oldApi = await world.start('serve', { program });
    const oldWorker = await world.start('work', { program });
    const rotation = new Set([oldApi]);
    let turn = 0;
    const address = () => [...rotation][turn++ % rotation.size]?.baseUrl ?? '';
    const tenant = await makeOldTenant(world, previous, address());
    const phaseMs = world.sized(30_000, 6000);

    const load = world.load({ batch: 5, lanes: 20, perSecond: 100, senders: [tenant], addresses: () => [address()] });
    let journeys = 0;
    const users = startWatch(world, 50, () => journey(world, tenant, journeys++, address));
    await sleep(phaseMs);
    const migrated = await runCommand(['migrate'], world.environment());
    world.must('the migrations succeed under load', migrated.code === 0, migrated.stderr.slice(-300));
    await sleep(phaseMs);
    const newApi = await world.start('serve');
    await world.start('work');
    rotation.add(newApi);
    await sleep(phaseMs);
    await retire(world, rotation, oldWorker);
    await sleep(phaseMs);
    await retire(world, rotation, oldApi);
    await sleep(phaseMs);
    const steps = (await users.stop()).flat();
    await load.stop();

    const failures = countFailures(steps);
    world.must('no request of a user or of the team fails', failures === '', failures || `${steps.length} succeeded`);
    world.must(
      'no sync of the backend fails',
      load.replies.every(({ status }) => status === 202),
      tally(load.replies),
    );
    await world.drained();
    const { body: ingestion } = await call(world, 'GET', `${address()}/v1/ingestion`, tenant.apiKey);
    const accepted =
      load.acknowledged() + steps.filter(({ name, status }) => name === 'answer' && status === 202).length;
    world.must(
      'every acknowledged answer is in the totals',
      ingestion.accepted === accepted,
      JSON.stringify(ingestion),
    );
    world.must('the totals report an empty queue', ingestion.queued === 0, ingestion.queued);
  },
};
