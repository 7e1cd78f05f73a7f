import { createHmac } from 'node:crypto';
import { parseTypeId, toTypeId } from '../src/domain/ids.ts';
import { NewApiKey } from '../src/domain/team/api-keys.ts';
import { TOKEN_HEADER, TOKEN_LIFETIME_SECONDS } from '../src/domain/team/tokens.ts';
import { createLog } from '../src/platform/log.ts';
import { createSeals } from '../src/platform/secrets.ts';
import { openStorage } from '../src/storage/database/orm.ts';
import { insertApiKey } from '../src/storage/team/api-keys.ts';
import { insertTenant } from '../src/storage/tenants/tenants.ts';
import type { LoadRequest } from './load.ts';

export interface Tenant {
  uuid: string;
  /** The wire id. */
  id: string;
  keyId: string;
  secret: string;
  apiKey: string;
}

export interface Card {
  id: string;
  question_id: string;
  question_version: number;
}

/** A user whose cards were fetched once, as an app does before it answers. */
export interface User {
  tenant: Tenant;
  identity: string;
  cards: Card[];
  etag: string;
}

const QUESTIONS = [
  { type: 'nps', title: 'How likely are you to recommend us?' },
  { type: 'csat', title: 'How was your delivery?', config: { style: 'smiley' } },
  { type: 'rating', title: 'How do you like the new search?', description: 'One star to five' },
];
/** Every fetch returns all three cards, no matter how often they were answered. */
const FREQUENCY = { repeat: 'always', ignore_cooldown: true };
const FETCHES_AT_ONCE = 32;
const CONNECTIONS = 5;
const NEW_KEY = NewApiKey.parse({ name: 'bench' });

/** Creates tenants with one server key each through the storage functions of the command line. */
export async function makeTenants(databaseUrl: string, secretKey: string, count: number): Promise<Tenant[]> {
  const log = createLog('warn', 'bench');
  const storage = openStorage({ url: databaseUrl, role: 'parley_app', connections: CONNECTIONS, log });
  const seals = createSeals({ current: secretKey, others: [] });
  const make = async (number: number): Promise<Tenant> => {
    const { id: uuid } = await insertTenant(storage, `Tenant ${number}`, new Date());
    const { row, shownOnce } = await insertApiKey(storage.forTenant(uuid), seals, NEW_KEY, new Date());
    const { secret = '', api_key: apiKey = '' } = shownOnce;
    return { uuid, id: toTypeId('tenant', uuid), keyId: toTypeId('key', row.id), secret, apiKey };
  };
  try {
    const tenants: Tenant[] = [];
    while (tenants.length < count) {
      const part = Math.min(CONNECTIONS, count - tenants.length);
      tenants.push(...(await Promise.all(Array.from({ length: part }, (_, index) => make(tenants.length + index)))));
    }
    return tenants;
  } finally {
    await storage.close();
  }
}

/** The path of a card fetch by the Swift client, with locale, platform and app version. */
export const CARDS_PATH = '/v1/cards?locale=en-US&platform=ios&app_version=4.2.1';

async function ask(url: string, method: string, path: string, bearer: string, body?: unknown): Promise<Response> {
  const headers = { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' };
  const response = await fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** Publishes questions for each tenant, by default three. */
export async function publishQuestions(url: string, tenants: Tenant[], questions: object[] = QUESTIONS): Promise<void> {
  for (const { apiKey } of tenants)
    for (const question of questions) {
      const created = await ask(url, 'POST', '/v1/questions', apiKey, { ...question, frequency: FREQUENCY });
      const { id } = (await created.json()) as { id: string };
      await (await ask(url, 'POST', `/v1/questions/${id}/publish`, apiKey)).arrayBuffer();
    }
}

/** A conversation in which a team writes. */
export interface Conversation {
  tenant: Tenant;
  id: string;
}

/** Starts one conversation in each of these tenants, by a user of its own. */
export async function startConversations(url: string, tenants: readonly Tenant[]): Promise<Conversation[]> {
  const conversations: Conversation[] = [];
  for (const [number, tenant] of tenants.entries()) {
    const token = signToken(tenant, `writer|${number}`);
    const started = await ask(url, 'POST', '/v1/conversations', token, { message: 'Where is my parcel?' });
    conversations.push({ tenant, id: ((await started.json()) as { id: string }).id });
  }
  return conversations;
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Signs an access token as a tenant's backend does. Another `age` in seconds makes another token of the same user. */
export function signToken(tenant: Tenant, identity: string, age = 0, subject = tenant.id): string {
  const header = { ...TOKEN_HEADER, kid: tenant.keyId };
  const exp = Math.floor(Date.now() / 1000) + TOKEN_LIFETIME_SECONDS - age;
  const signed = `${encode(header)}.${encode({ iss: tenant.keyId, sub: subject, exp, grants: { identity } })}`;
  return `${signed}.${createHmac('sha256', tenant.secret).update(signed).digest('base64url')}`;
}

/** A fetch of cards: its path, and the number of cards that it must return. */
interface Fetch {
  path: string;
  cards: number;
}

/** Creates users spread over tenants, with their cards fetched. */
export async function fetchUsers(
  url: string,
  tenants: Tenant[],
  count: number,
  { path, cards }: Fetch = { path: CARDS_PATH, cards: QUESTIONS.length },
): Promise<User[]> {
  const users: User[] = [];
  const lane = async (first: number) => {
    for (let number = first; number < count; number += FETCHES_AT_ONCE) {
      const tenant = tenants[number % tenants.length] as Tenant;
      const identity = `user|${number}`;
      const response = await ask(url, 'GET', path, signToken(tenant, identity));
      const { data } = (await response.json()) as { data: Card[] };
      if (data.length !== cards) throw new Error(`${identity} sees ${data.length} cards`);
      users[number] = { tenant, identity, cards: data, etag: response.headers.get('etag') ?? '' };
    }
  };
  await Promise.all(Array.from({ length: FETCHES_AT_ONCE }, (_, number) => lane(number)));
  return users;
}

export const cardsRequest = (token: string, path = CARDS_PATH): LoadRequest => ({ method: 'GET', path, token });

export const unchangedCardsRequest = (user: User, token: string, path = CARDS_PATH): LoadRequest => ({
  ...cardsRequest(token, path),
  etag: user.etag,
});

/** The text of an answer after its id. */
const answerTail = ({ id, question_id, question_version }: Card, values: object): string =>
  `","revision":1,"card_id":"${id}","question_id":"${question_id}","question_version":${question_version},"state":"completed","values":${JSON.stringify(values)},"comment":"Quick and friendly","metadata":{"platform":"ios","app_version":"4.2.1"}}`;

/** A sync of `count` answers, rotating over the user's cards; by default with scores. */
export function answersRequest(user: User, token: string, count = 1, values?: object): LoadRequest {
  const tails = Array.from({ length: count }, (_, number) =>
    answerTail(user.cards[number % user.cards.length] as Card, values ?? { main: 1 + (number % 5) }),
  );
  const bodyParts = [
    '{"answers":[{"id":"',
    ...tails.map((tail, index) => (index < count - 1 ? `${tail},{"id":"` : `${tail}]}`)),
  ];
  return { method: 'POST', path: '/v1/answers', token, bodyParts };
}

/** The same answer for the naive design, which has no wire ids: token and body contain UUIDs. */
export function naiveRequest(user: User): LoadRequest {
  const card = user.cards[0] as Card;
  const uuids = {
    ...card,
    id: parseTypeId('card', card.id) as string,
    question_id: parseTypeId('question', card.question_id) as string,
  };
  const token = signToken(user.tenant, user.identity, 0, user.tenant.uuid);
  return answersRequest({ ...user, cards: [uuids] }, token);
}
