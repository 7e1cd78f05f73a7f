/**
 * Runs all steps from creating a tenant to a public token against a running server: `npm run demo`.
 *
 * Prints each request as a curl command that can be pasted, and each response. Exits with 0 if all steps succeed;
 * otherwise prints the step that failed. `BASE_URL` (or `PORT`) sets the server, `PARLEY_CLI` the command line of
 * another installation.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SignJWT } from 'jose';
import { z } from 'zod';

const BASE_URL = (process.env.BASE_URL || `http://localhost:${process.env.PORT || 3000}`).replace(/\/+$/, '');
const PARLEY_CLI = (process.env.PARLEY_CLI || 'npm run --silent cli --').split(' ');
const PROJECT = resolve(import.meta.dirname, '..');
/** Timeouts for a response, and for an asynchronous result such as a stored answer. */
const REPLY_WITHIN_MS = 10_000;
const RESULT_WITHIN_MS = 30_000;
const RETRY_EVERY_MS = 200;

interface Request {
  method?: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

interface Expected<Reply extends z.ZodType> {
  status: number;
  reply: Reply;
  /** Whether to repeat the request until the response matches, for asynchronous results. */
  awaited?: boolean;
}

/** A failed step, described in one line. */
class StepFailed extends Error {}

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const bearer = (credential: string) => ({ Authorization: `Bearer ${credential}` });

let step = 0;
const title = (text: string): void => print(`\n# ${++step}. ${text}`);

/* ——— sending a request and checking the response ——— */

const headersOf = ({ headers = {}, body }: Request): Record<string, string> =>
  body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' };

function curlCommand(request: Request): string {
  const { method = 'GET', path, body } = request;
  return [
    'curl -s',
    ...(method === 'POST' && body === undefined ? ['-X POST'] : []),
    quote(`${BASE_URL}${path}`),
    ...Object.entries(headersOf(request)).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quote(JSON.stringify(body))}`]),
  ].join(' ');
}

async function send(request: Request): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${BASE_URL}${request.path}`, {
    method: request.method ?? 'GET',
    headers: headersOf(request),
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    signal: AbortSignal.timeout(REPLY_WITHIN_MS),
  });
  return { status: response.status, body: await response.json() };
}

/** Sends a request and returns the response body. Throws `StepFailed` if the response is not as expected. */
async function exchange<Reply extends z.ZodType>(
  request: Request,
  { status, reply, awaited }: Expected<Reply>,
): Promise<z.output<Reply>> {
  print(curlCommand(request));
  for (const deadline = Date.now() + RESULT_WITHIN_MS; ; await sleep(RETRY_EVERY_MS)) {
    const answer = await send(request);
    const parsed = reply.safeParse(answer.body);
    const isExpected = answer.status === status && parsed.success;
    if (!isExpected && awaited && Date.now() < deadline) continue;
    print(`→ ${answer.status} ${JSON.stringify(answer.body, null, 2)}`);
    if (isExpected) return parsed.data;
    const fault = parsed.success ? '' : `: ${parsed.error.issues.map(issue => issue.path.join('.')).join(', ')}`;
    throw new StepFailed(`${request.method ?? 'GET'} ${request.path} should return ${status}${fault}`);
  }
}

/** Runs a command and returns the JSON object that it prints. */
async function runCommand<Result extends z.ZodType>(args: string[], result: Result): Promise<z.output<Result>> {
  const [program = '', ...before] = PARLEY_CLI;
  print([...PARLEY_CLI, ...args].join(' '));
  const { stdout } = await promisify(execFile)(program, [...before, ...args], { cwd: PROJECT });
  print(`→ ${stdout.trim()}`);
  return result.parse(JSON.parse(stdout));
}

/* ——— the steps ——— */

const Identified = z.object({ id: z.string() });
const ServerKey = z.object({ id: z.string(), secret: z.string(), api_key: z.string() });
const ShownCard = z.object({ id: z.string(), question_id: z.string(), question_version: z.number() });
const Cards = z.object({ data: z.tuple([ShownCard]) });
const listOf = <Item extends z.ZodType>(item: Item) => z.object({ data: z.array(item).min(1) });

async function requireServer(): Promise<void> {
  try {
    await send({ path: '/livez' });
  } catch (cause) {
    throw new StepFailed(`No server responds at ${BASE_URL}. Start one with \`npm start\`.`, { cause });
  }
}

/** Signs a token with the key's secret and a standard library, as the tenant's backend does. */
function signToken(tenantId: string, key: z.infer<typeof ServerKey>): Promise<string> {
  return new SignJWT({ grants: { identity: 'user|42' } })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', cty: 'svc-fpa;v=1' })
    .setIssuer(key.id)
    .setSubject(tenantId)
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(key.secret));
}

async function publishQuestion(team: Record<string, string>): Promise<void> {
  const question = { type: 'nps', title: 'How likely are you to recommend us?', allow_public: true };
  const { id } = await exchange(
    { method: 'POST', path: '/v1/questions', headers: team, body: question },
    { status: 201, reply: Identified },
  );
  await exchange(
    { method: 'POST', path: `/v1/questions/${id}/publish`, headers: team },
    { status: 200, reply: z.object({ status: z.literal('live') }) },
  );
}

const fetchCard = async (headers: Record<string, string>): Promise<z.infer<typeof ShownCard>> => {
  const { data } = await exchange(
    { path: '/v1/cards', headers },
    { status: 200, reply: Cards, awaited: true }, // other processes learn about the question with a short delay
  );
  return data[0];
};

async function answerCard(user: Record<string, string>, card: z.infer<typeof ShownCard>): Promise<string> {
  const { id: card_id, question_id, question_version } = card;
  const id = randomUUID();
  const about = { card_id, question_id, question_version };
  const answer = { id, revision: 1, ...about, state: 'completed', values: { main: 9 }, comment: 'I like it' };
  await exchange(
    { method: 'POST', path: '/v1/answers', headers: user, body: { answers: [answer] } },
    { status: 202, reply: z.object({ results: z.tuple([z.object({ status: z.literal('accepted') })]) }) },
  );
  return id;
}

async function converse(team: Record<string, string>, user: Record<string, string>): Promise<void> {
  title('The user starts a conversation');
  const { id } = await exchange(
    { method: 'POST', path: '/v1/conversations', headers: user, body: { message: 'Where do I find the export?' } },
    { status: 201, reply: Identified },
  );
  title('The team sees it and replies');
  await exchange({ path: '/v1/conversations?status=open', headers: team }, { status: 200, reply: listOf(Identified) });
  const messages = `/v1/conversations/${id}/messages`;
  await exchange(
    { method: 'POST', path: messages, headers: team, body: { body: 'Under Settings, tab Data.' } },
    { status: 201, reply: Identified },
  );
  title('The user reads the reply');
  const fromTeam = z.object({ author: z.object({ type: z.literal('api') }) });
  await exchange(
    { path: `${messages}?after_seq=1`, headers: user },
    { status: 200, reply: z.object({ data: z.tuple([fromTeam]) }) },
  );
}

async function goPublic(tenantId: string): Promise<void> {
  title('A public API key, for apps without a backend');
  const command = ['api-key', 'create', '--tenant', tenantId, '--name', 'app', '--public'];
  const { id } = await runCommand(command, Identified);
  title('The service itself signs a restricted token');
  const basic = { Authorization: `Basic ${Buffer.from(`api_key:${id}`).toString('base64')}` };
  const path = `/v1/tenants/${tenantId}/issuers/public/auth/token`;
  const { access_token } = await exchange(
    { method: 'POST', path, headers: basic, body: { user_id: '42' } },
    { status: 200, reply: z.object({ access_token: z.string() }) },
  );
  title('It sees cards, and no conversations');
  await fetchCard(bearer(access_token));
  await exchange(
    { path: '/v1/conversations', headers: bearer(access_token) },
    { status: 403, reply: z.object({ code: z.literal('public-access-restricted') }) },
  );
}

async function journey(): Promise<void> {
  await requireServer();
  title('A tenant');
  const tenant = await runCommand(['tenant', 'create', '--name', 'Acme'], Identified);
  title('An API key for its backend');
  const key = await runCommand(['api-key', 'create', '--tenant', tenant.id, '--name', 'backend'], ServerKey);
  title('A question goes live');
  await publishQuestion(bearer(key.api_key));
  title('The backend signs an access token for its user, here with jose');
  const token = await signToken(tenant.id, key);
  print(`→ ${token}`);
  title('The app fetches its cards with it');
  const card = await fetchCard(bearer(token));
  title('The user answers');
  const answerId = await answerCard(bearer(token), card);
  title('The worker has stored the answer');
  await exchange(
    { path: `/v1/answers/${answerId}`, headers: bearer(token) },
    { status: 200, reply: z.object({ status: z.literal('stored') }), awaited: true },
  );
  await converse(bearer(key.api_key), bearer(token));
  await goPublic(tenant.id);
  print('\nEvery step went as it should.');
}

try {
  await journey();
} catch (error) {
  const what = error instanceof StepFailed ? error.message : (error as Error).stack;
  process.stderr.write(`\nThe demo failed: ${what}\n`);
  process.exitCode = 1;
}
