import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wakeSnoozed } from '../../src/storage/conversations/timers.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { createApi, type TestApi, type TestReply } from '../support/api.ts';
import { type Body, conversationsOf, uuidOf } from '../support/conversations.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, post, patch, start, write, read, messages, makeMember } = conversationsOf(() => api);

const DAY_MS = 86_400_000;
const FIELDS = ['status', 'snoozed_until', 'assignee_id', 'priority', 'tags', 'subject', 'merged_into_id'] as const;
type State = Record<(typeof FIELDS)[number], unknown>;
const TAGS = ['a', 'b', 'c'];
const PRIORITIES = ['none', 'low', 'urgent'];

/** An action of one writer; the first writer is the user, the others are keys of the team. */
const action = fc.oneof(
  fc.record({ kind: fc.constant('tag' as const), add: fc.boolean(), tag: fc.constantFrom(...TAGS) }),
  fc.record({
    kind: fc.constant('status' as const),
    status: fc.constantFrom('open', 'pending', 'snoozed', 'resolved'),
  }),
  fc.record({ kind: fc.constant('priority' as const), priority: fc.constantFrom(...PRIORITIES) }),
  fc.record({ kind: fc.constant('subject' as const), subject: fc.constantFrom('', 'one', 'two') }),
  fc.record({ kind: fc.constant('assign' as const), whom: fc.constantFrom(0, 1, null) }),
  fc.record({
    kind: fc.constant('message' as const),
    note: fc.boolean(),
    care: fc.constantFrom('none', 'after', 'force'),
  }),
  fc.record({
    kind: fc.constant('bulk' as const),
    add: fc.boolean(),
    tag: fc.constantFrom(...TAGS),
    priority: fc.constantFrom(...PRIORITIES),
  }),
  fc.record({ kind: fc.constant('macro' as const) }),
  fc.record({ kind: fc.constant('wake' as const) }),
  fc.record({ kind: fc.constant('merge' as const) }),
);
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the state that results from the events. */
function replay(events: Body[], subject: string): State {
  const state: State = {
    ...{ status: 'open', snoozed_until: null, assignee_id: null, priority: 'none', tags: [], subject },
    merged_into_id: null,
  };
  for (const { field, from, to } of events as { field: keyof State; from: unknown; to: unknown }[]) {
    expect([field, state[field]]).toEqual([field, from]); // no event is missing between two of a field
    state[field] = to;
    if (field === 'status' && to !== 'snoozed') state.snoozed_until = null;
  }
  return state;
}

/** Wakes the conversation if it is snoozed, as if its time had come, without anybody seeing another time. */
async function wake(id: string): Promise<TestReply> {
  const client = new pg.Client({ connectionString: api.database.url });
  await client.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query<{ tenant_id: string }>(
      "update conversations set snoozed_until = now() - interval '1 second' where id = $1 and status = 'snoozed' returning tenant_id",
      [uuidOf(id)],
    );
    const query = async (sql: string, params: unknown[]) => (await client.query(sql, params)).rows;
    for (const { tenant_id } of rows) await wakeSnoozed({ query } as Pick<Storage, 'query'> as Storage, tenant_id);
    await client.query('commit');
  } finally {
    await client.end();
  }
  return { status: 200, body: {} } as TestReply;
}

/** The conversation that all write to, and another one of its user, into which it may be merged. */
interface Pair {
  id: string;
  other: string;
}

interface Made {
  writer: number;
  act: Action;
  reply: TestReply;
}

/** The ids of the messages that an action has written. */
const writtenBy = ({ reply: { status, body } }: Made): string[] => {
  if (status === 201) return [body.id];
  return status === 200 && body.message ? [body.message.id] : [];
};

/** What a confirmed change has set, which the reply shows. */
const setBy = (act: Action): Body => {
  if (act.kind === 'priority') return { priority: act.priority };
  if (act.kind === 'subject') return { subject: act.subject };
  return act.kind === 'status' ? { status: act.status } : {};
};

/** Checks that a tag is there if it was only added, and is not if it was only removed. */
function expectTags(tags: string[], made: Made[]): void {
  for (const tag of TAGS) {
    const acts = made.flatMap(({ writer, act }) =>
      writer > 0 && (act.kind === 'tag' || act.kind === 'bulk') && act.tag === tag ? [act.add] : [],
    );
    if (acts.length > 0 && new Set(acts).size === 1) expect([tag, tags.includes(tag)]).toEqual([tag, acts[0]]);
  }
  if (made.some(({ writer, act, reply }) => writer > 0 && act.kind === 'macro' && reply.status === 200))
    expect(tags).toContain('macro');
}

/** Checks that every change of a priority belongs to a confirmed action. */
function expectPriorities(events: Body[], made: Made[]): void {
  const wanted = made.flatMap(({ act, reply }) => {
    if (reply.status !== 200) return [];
    return act.kind === 'priority' || act.kind === 'bulk' ? [act.priority] : act.kind === 'macro' ? ['urgent'] : [];
  });
  const changes = events.filter(({ field }) => field === 'priority');
  expect(changes.length).toBeLessThanOrEqual(wanted.length);
  for (const { to } of changes) expect(wanted).toContain(to);
}

/** The credentials of the writers, and the objects that they name. */
interface Writers {
  user: string;
  keys: string[];
  members: string[];
  macro: string;
}

/** Returns a function that performs an action as a writer. */
function performAs({ user, keys, members, macro }: Writers) {
  async function change(as: string, act: Action, path: string): Promise<TestReply | undefined> {
    const id = path.split('/').at(-1) as string;
    if (act.kind === 'tag') return patch(as, path, { [act.add ? 'add_tags' : 'remove_tags']: [act.tag] });
    const seen = await read(as, id);
    if (act.kind === 'priority') return patch(as, path, { priority: act.priority, was: { priority: seen.priority } });
    if (act.kind === 'subject') return patch(as, path, { subject: act.subject, was: { subject: seen.subject } });
    if (act.kind === 'assign') {
      const assignee_id = act.whom === null ? null : members[act.whom];
      return patch(as, path, { assignee_id, was: { assignee_id: seen.assignee_id } });
    }
    if (act.kind !== 'status') return undefined;
    const snoozed_until = new Date(Date.now() + DAY_MS).toISOString();
    const until = act.status === 'snoozed' ? { snoozed_until } : {};
    return patch(as, path, { status: act.status, ...until, was: { status: seen.status } });
  }

  async function perform(writer: number, act: Action, { id, other }: Pair): Promise<TestReply> {
    const path = `/v1/conversations/${id}`;
    if (writer === 0)
      return act.kind === 'status'
        ? patch(user, path, { status: 'resolved' })
        : write(user, id, { body: 'of the user' });
    const as = keys[writer - 1] as string;
    if (act.kind === 'wake') return wake(id);
    if (act.kind === 'macro') return post(as, `${path}/macros/${macro}`, {});
    if (act.kind === 'merge') return post(as, `${path}/merge`, { into: other });
    if (act.kind === 'bulk') {
      const tags = { [act.add ? 'add_tags' : 'remove_tags']: [act.tag] };
      return post(as, '/v1/conversations/bulk', { ids: [other, id], change: { priority: act.priority, ...tags } });
    }
    const changed = await change(as, act, path);
    if (changed || act.kind !== 'message') return changed as TestReply;
    const after = { seq: 1, note_seq: 0 }; // as it was at the start
    const care = act.care === 'none' ? {} : { after, force: act.care === 'force' };
    return write(as, id, { body: 'of the team', kind: act.note ? 'note' : 'reply', ...care });
  }
  return perform;
}

test('five writers at once lose no update, and the events alone rebuild the state', async () => {
  const { tenant, user, team } = await makeParties();
  const members = [await makeMember(tenant), await makeMember(tenant)];
  const keys = [team, (await tenant.addKey()).apiKey, (await tenant.addKey()).apiKey, (await tenant.addKey()).apiKey];
  const changes = { add_tags: ['macro'], priority: 'urgent' };
  const macro = (await post(team, '/v1/macros', { name: 'Note', body: 'of a macro', kind: 'note', changes })).body.id;

  const perform = performAs({ user, keys, members, macro });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(action, { minLength: 1, maxLength: 5 }), { minLength: 5, maxLength: 5 }),
      async plans => {
        const pair = { id: (await start(user, { subject: 'begin' })).body.id, other: (await start(user)).body.id };
        const made: Made[] = [];
        await Promise.all(
          plans.map(async (plan, writer) => {
            for (const act of plan) made.push({ writer, act, reply: await perform(writer, act, pair) });
          }),
        );
        for (const { writer, act, reply } of made) {
          expect([200, 201, 409]).toContain(reply.status);
          if (writer > 0 && reply.status === 200) expect(reply.body).toMatchObject(setBy(act));
          if (act.kind === 'message' && act.care === 'force' && writer > 0) expect(reply.status).toBe(201);
        }
        const stored: string[] = [];
        for (const [id, subject] of [
          [pair.id, 'begin'],
          [pair.other, ''],
        ] as const) {
          const all: Body[] = await messages(team, id);
          const final = await read(team, id);
          const events = all.filter(({ kind }) => kind === 'event').map(({ event }) => event as Body);
          expect(replay(events, subject)).toEqual(Object.fromEntries(FIELDS.map(field => [field, final[field]])));
          expectPriorities(events, made);
          if (id === pair.id) expectTags(final.tags, made);
          stored.push(...all.filter(({ kind }) => kind !== 'event').map(each => String(each.id)));
        }
        // every message that was confirmed is there once, and no other than the first two
        const written = made.flatMap(writtenBy);
        expect(new Set(stored).size).toBe(stored.length);
        expect(stored.length).toBe(written.length + 2);
        expect(stored).toEqual(expect.arrayContaining(written));
      },
    ),
    { numRuns: 20 },
  );
}, 240_000);
