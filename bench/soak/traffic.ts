import { v7 } from 'uuid';
import { toTypeId } from '../../src/domain/ids.ts';
import { type Card, signToken, type Tenant } from '../world.ts';

/** A week's traffic of users, teams and servers, tick by tick. The same in every run. */
export interface Traffic {
  /** Sends all traffic of one tick, which begins at `at`. */
  tick(number: number, at: Date): Promise<void>;
  /** Number of replies by request and status. */
  readonly replies: Record<string, number>;
}

export interface TrafficOptions {
  url(): string;
  tenants: Tenant[];
  /** Wire ids of the questions of each tenant. */
  questions: Map<string, string[]>;
  /** A person who is a member of the first tenant. */
  login: { email: string; password: string };
  newUsersATick: number;
  ticksADay: number;
}

const AT_ONCE = 32;
/**
 * The share of users who answer a card that they see, and of these, the share who answer late, after the question may
 * have changed.
 */
const ANSWERING = 0.6;
const LATE = 0.1;
const PUBLISHED_A_TICK = 4;
const MAX_LATE = 5000;

interface User {
  tenant: Tenant;
  identity: string;
}

/** Pseudo-random numbers from 0 to 1, the same in every run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Sends requests and counts their replies. */
function createRequests(url: () => string) {
  const replies: Record<string, number> = {};
  const count = (key: string): void => {
    replies[key] = (replies[key] ?? 0) + 1;
  };
  const ask = async (name: string, method: string, path: string, headers: Record<string, string>, body?: unknown) => {
    const response = await fetch(url() + path, {
      method,
      headers: { ...headers, ...(body ? { 'Content-Type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    count(`${name} ${response.status}`);
    return { response, body: text.startsWith('{') ? JSON.parse(text) : undefined };
  };
  return { replies, count, ask };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** A token of the user, signed at a simulated time. */
const tokenAt = ({ tenant, identity }: User, at: Date): string =>
  signToken(tenant, identity, Math.round((Date.now() - at.getTime()) / 1000));

async function runInLanes(work: (() => Promise<void>)[]): Promise<void> {
  const lane = async () => {
    for (let next = work.shift(); next; next = work.shift()) await next();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

export function createTraffic({ url, tenants, questions, login, newUsersATick, ticksADay }: TrafficOptions): Traffic {
  const random = createRandom(1);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const { replies, count, ask } = createRequests(url);
  const users: User[] = tenants.map(tenant => ({ tenant, identity: 'user|0' }));
  const late: { user: User; card: Card }[] = [];
  let cookie: Record<string, string> = {};

  const answer = async (token: string, card: Card) => {
    const { id: card_id, question_id, question_version } = card;
    const values = { main: Math.floor(random() * 11) };
    const item = { id: v7(), revision: 1, card_id, question_id, question_version, state: 'completed', values };
    const { body } = await ask('answer', 'POST', '/v1/answers', bearer(token), { answers: [item] });
    count(`answer item ${body?.results?.[0]?.status}`);
  };

  /** Opens the app: fetches cards, revalidates them by ETag, and answers one of them, now or after a while offline. */
  const visit = async (user: User, at: Date) => {
    const token = tokenAt(user, at);
    const { response, body } = await ask('cards', 'GET', '/v1/cards', bearer(token));
    const etag = response.headers.get('etag') ?? '';
    await ask('cards again', 'GET', '/v1/cards', { ...bearer(token), 'If-None-Match': etag });
    const card = body?.data?.[0];
    if (!card || random() > ANSWERING) return;
    if (random() < LATE && late.length < MAX_LATE) late.push({ user, card });
    else await answer(token, card);
  };

  const visitLate = async (at: Date) => {
    const sent = late.splice(0, Math.floor(late.length / 20));
    for (const { user, card } of sent) await answer(tokenAt(user, at), card);
  };

  const useKey = async (tenant: Tenant) => {
    await ask('questions', 'GET', '/v1/questions?limit=10', bearer(tenant.apiKey));
  };

  const publish = async (tenant: Tenant, number: number) => {
    const id = pick(questions.get(tenant.uuid) as string[]);
    await ask('publish', 'PATCH', `/v1/questions/${id}`, bearer(tenant.apiKey), { title: `How likely, ${number}?` });
  };

  /** Answers made-up cards and questions. */
  const guess = async (user: User, at: Date) => {
    const card = { id: toTypeId('card', v7()), question_id: toTypeId('question', v7()), question_version: 1 };
    await answer(tokenAt(user, at), card);
  };

  const useDashboard = async (number: number) => {
    const [tenant] = tenants as [Tenant];
    if (number % (ticksADay / 2) === 0) {
      const { response } = await ask('login', 'POST', '/v1/session', {}, login);
      cookie = { Cookie: (response.headers.get('set-cookie') ?? '').split(';')[0] as string, 'Tenant-Id': tenant.id };
    }
    await ask('dashboard', 'GET', '/v1/questions?include=results', cookie);
  };

  return {
    replies,
    async tick(number, at) {
      const hour = ((number % ticksADay) / ticksADay) * 24;
      const share = 0.5 + 0.35 * Math.sin(((hour - 9) / 24) * 2 * Math.PI); // more in the day than at night
      const active = tenants.filter(() => random() < share);
      for (let made = 0; made < newUsersATick; made++)
        users.push({ tenant: pick(tenants), identity: `user|${users.length}` });
      const visitors = [...active.map(() => pick(users)), ...users.slice(-newUsersATick)];
      await runInLanes([
        ...visitors.map(user => () => visit(user, at)),
        ...active.slice(0, 10).map(tenant => () => useKey(tenant)),
        ...Array.from({ length: PUBLISHED_A_TICK }, () => () => publish(pick(tenants), number)),
        () => visitLate(at),
        () => guess(pick(users), at),
        () => useDashboard(number),
      ]);
    },
  };
}
