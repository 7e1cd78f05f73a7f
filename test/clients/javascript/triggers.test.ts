import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type Card,
  createClient,
  createOutbox,
  memoryStorage,
  type Trigger,
} from '../../../clients/javascript/src/index.ts';
import { addTriggers, type TextStorage, type TriggerClient } from '../../../clients/javascript/src/triggers/index.ts';
import { isMet } from '../../../clients/javascript/src/triggers/matching.ts';
import { contract } from '../contract.ts';
import { createNetwork, type Network, tokenFor } from './network.ts';

interface CardInCase {
  card: number;
  trigger?: Partial<Trigger>;
  in_cooldown?: boolean;
  expires_at?: string;
}
interface Step {
  do: 'fetch' | 'track' | 'page' | 'wait' | 'restart' | 'logout';
  cards?: CardInCase[];
  identity?: string;
  offline?: boolean;
  token?: boolean;
  replies?: { status: number; code?: string }[];
  sent?: Record<string, string>[];
  failure?: string;
  event?: string;
  properties?: Record<string, unknown>;
  url?: string;
  seconds?: number;
  shown?: number[];
}
interface Contract {
  properties: Record<string, unknown>;
  conditions: { where: Trigger['where']; met: boolean }[];
  cases: { name: string; steps: Step[] }[];
}
const { properties, conditions, cases } = contract('triggers') as unknown as Contract;

const triggerOf = (given: Partial<Trigger>): Trigger => ({
  ...{ event: null, click: null, where: [], url: null, count: 1, delay_s: 0, cancel_on: [] },
  ...given,
});

const cardOf = ({ card, trigger, in_cooldown = false, expires_at }: CardInCase): Card => ({
  ...{ id: `card_${card}`, question_id: `question_${card}`, question_version: 1, kind: 'question', steps: [] },
  ...{ locale: 'en', priority: 50, reply: null, in_cooldown, expires_at: expires_at ?? null },
  trigger: trigger ? triggerOf(trigger) : null,
});

function createTexts(): TextStorage {
  const texts = new Map<string, string>();
  return { getItem: name => texts.get(name) ?? null, setItem: (name, text) => void texts.set(name, text) };
}

/** An app on a device; `restart` ends its process and starts it again. */
class App {
  readonly shown: number[] = [];
  readonly storage = createTexts();
  seconds = 0;
  client!: TriggerClient;
  network!: Network;
  step: Step = { do: 'restart' };
  show = (card: Card): boolean => this.shown.push(Number(card.id.slice('card_'.length))) > 0;
  hide?: (card: Card) => boolean;

  constructor() {
    this.restart();
  }

  restart(): void {
    vi.clearAllTimers();
    const replies = () => this.step.replies ?? [{ status: 200, code: undefined }];
    let sent = 0;
    this.network = createNetwork(() => {
      if (this.step.offline) return 'no-reply';
      const { status, code } = replies()[sent++ % replies().length] as { status: number; code?: string };
      return { status, body: code ? { code } : { data: this.step.cards?.map(cardOf) ?? [], poll_after_s: 60 } };
    });
    this.network.setTime(this.seconds);
    const provider = () => {
      if (this.step.offline && !this.step.token) throw new TypeError('fetch failed');
      return { access_token: tokenFor(this.step.identity ?? 'user|1', 1e6) };
    };
    const client = createClient({ baseUrl: 'https://feedback.example.com', provider, wire: this.network });
    this.client = addTriggers(client, { storage: this.storage });
    this.client.onTriggered(this.show, this.hide);
  }

  async play(step: Step): Promise<void> {
    this.step = step;
    const { sent } = this.network;
    const before = sent.length;
    if (step.do === 'fetch') await this.fetch(step);
    if (step.do === 'track') this.client.track(step.event ?? '', step.properties);
    if (step.do === 'page') this.client.trackPage(step.url ?? '');
    if (step.do === 'restart') this.restart();
    if (step.do === 'logout') this.client.logout();
    if (step.do === 'wait') {
      this.seconds += step.seconds ?? 0;
      this.network.setTime(this.seconds);
      vi.advanceTimersByTime((step.seconds ?? 0) * 1000);
    }
    const queries = sent.slice(before).map(({ url }) => Object.fromEntries(url.searchParams));
    if (step.do !== 'fetch') expect(queries).toEqual([]);
    if (step.sent) expect(queries).toEqual(step.sent);
  }

  private async fetch({ cards = [], offline, failure }: Step): Promise<void> {
    const listed = this.client.listCards({}, { retry: { retries: 0 } });
    if (offline) await expect(listed).rejects.toMatchObject({ retryable: true });
    else if (failure) await expect(listed).rejects.toMatchObject({ kind: failure });
    else expect(await listed).toEqual(cards.map(cardOf).filter(({ trigger }) => !trigger));
  }
}

describe('triggers.json', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test.each(cases)('$name', async ({ steps }) => {
    const app = new App();
    for (const [index, step] of steps.entries()) {
      app.shown.length = 0;
      await app.play(step);
      expect(app.shown, `step ${index}: ${JSON.stringify(step).slice(0, 120)}`).toEqual(step.shown ?? []);
    }
  });

  test.each(conditions)('$where is $met', ({ where, met }) => {
    expect(isMet(triggerOf({ where }), properties)).toBe(met);
  });
});

/** Cards that an interface of its own shows, which keeps those that are begun. */
async function showLimited(url: Trigger['url']) {
  const app = new App();
  const shown = new Set<string>();
  const begun = new Set<string>();
  app.show = ({ id }) => Boolean(shown.add(id));
  app.hide = ({ id }) => !begun.has(id) && shown.delete(id);
  app.restart();
  const list = [{ card: 1, trigger: { event: 'a', url }, expires_at: '1970-01-01T01:00:00Z' }];
  const fetch = (cards: CardInCase[] = list) => app.play({ do: 'fetch', cards });
  app.client.trackPage('/pricing');
  await fetch();
  app.client.track('a');
  return { app, shown, begun, fetch };
}

describe('a card for one page', () => {
  const pricing = { op: 'ends_with', value: '/pricing' } as const;
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test('hides when the user leaves the page, and is shown again on return', async () => {
    const { app, shown } = await showLimited(pricing);
    expect([...shown]).toEqual(['card_1']);
    for (let round = 0; round < 2; round++) {
      app.client.trackPage('/blog');
      expect([...shown]).toEqual([]);
      app.client.trackPage('/help');
      app.client.trackPage('/pricing');
      expect([...shown]).toEqual(['card_1']);
    }
  });

  test('stays when it is begun, or not limited', async () => {
    const { app, shown, begun } = await showLimited(pricing);
    begun.add('card_1');
    app.client.trackPage('/blog');
    expect([...shown]).toEqual(['card_1']);
    const other = await showLimited(null);
    other.app.client.trackPage('/blog');
    expect([...other.shown]).toEqual(['card_1']);
  });

  test('does not return if it has expired, if the list no longer has it, or to another user', async () => {
    const expired = await showLimited(pricing);
    expired.app.client.trackPage('/blog');
    await expired.app.play({ do: 'wait', seconds: 3601 });
    expired.app.client.trackPage('/pricing');
    expect([...expired.shown]).toEqual([]);
    const gone = await showLimited(pricing);
    gone.app.client.trackPage('/blog');
    await gone.fetch([]);
    gone.app.client.trackPage('/pricing');
    expect([...gone.shown]).toEqual([]);
    const other = await showLimited(pricing);
    other.app.client.trackPage('/blog');
    other.app.client.logout();
    other.app.client.trackPage('/pricing');
    expect([...other.shown]).toEqual([]);
  });
});

test('a storage that fails leaves the triggers in memory', async () => {
  const storage: TextStorage = {
    getItem: () => {
      throw new Error('denied');
    },
    setItem: () => {
      throw new Error('full');
    },
  };
  const card = cardOf({ card: 1, trigger: { event: 'a', count: 2 } });
  const wire = createNetwork(() => ({ status: 200, body: { data: [card], poll_after_s: 60 } }));
  const provider = () => ({ access_token: tokenFor('user|1', 1e6) });
  const client = addTriggers(createClient({ baseUrl: 'https://feedback.example.com', provider, wire }), { storage });
  const shown: Card[] = [];
  client.onTriggered(each => shown.push(each) > 0);
  await client.listCards();
  client.track('a');
  expect(shown).toEqual([]);
  client.track('a');
  expect(shown).toEqual([card]);
});

test('an answer to a card shown offline after a restart belongs to the user of the card', async () => {
  const app = new App();
  await app.play({ do: 'fetch', identity: 'user|1', cards: [{ card: 1, trigger: { event: 'a' } }] });
  await app.play({ do: 'restart' });
  app.step = { do: 'fetch', offline: true };
  const outbox = createOutbox(app.client, { storage: memoryStorage(), automatic: false });
  const answer = { revision: 1, question_id: 'question_1', question_version: 1, state: 'seen' as const };
  await outbox.record({ id: '00000000-0000-7000-8000-000000000001', card_id: 'card_1', ...answer });
  expect(await outbox.waiting()).toMatchObject([{ tenant: 'tenant_1', identity: 'user|1', verified: true }]);
});
