import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi, type TestApi, type TestReply } from '../support/api.ts';
import { type Body, conversationsOf } from '../support/conversations.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, patch, start, write, read, messages, makeMember } = conversationsOf(() => api);

const DAY_MS = 86_400_000;
const FIELDS = ['status', 'snoozed_until', 'assignee_id', 'priority', 'tags', 'subject'] as const;
type State = Record<(typeof FIELDS)[number], unknown>;

/** An action of one writer; the first writer is the user, the others are keys of the team. */
const action = fc.oneof(
  fc.record({ kind: fc.constant('tag' as const), add: fc.boolean(), tag: fc.constantFrom('a', 'b', 'c') }),
  fc.record({
    kind: fc.constant('status' as const),
    status: fc.constantFrom('open', 'pending', 'snoozed', 'resolved'),
  }),
  fc.record({ kind: fc.constant('priority' as const), priority: fc.constantFrom('none', 'low', 'urgent') }),
  fc.record({ kind: fc.constant('subject' as const), subject: fc.constantFrom('', 'one', 'two') }),
  fc.record({ kind: fc.constant('assign' as const), whom: fc.constantFrom(0, 1, null) }),
  fc.record({ kind: fc.constant('message' as const), note: fc.boolean(), careful: fc.boolean() }),
);
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the state that results from the events. */
function replay(events: Body[]): State {
  const state: State = {
    status: 'open',
    snoozed_until: null,
    assignee_id: null,
    priority: 'none',
    tags: [],
    subject: 'begin',
  };
  for (const { field, from, to } of events as { field: keyof State; from: unknown; to: unknown }[]) {
    expect([field, state[field]]).toEqual([field, from]); // no event is missing between two of a field
    state[field] = to;
    if (field === 'status' && to !== 'snoozed') state.snoozed_until = null;
  }
  return state;
}

test('five writers at once lose no update, and the events alone rebuild the state', async () => {
  const { tenant, user, team } = await makeParties();
  const members = [await makeMember(tenant), await makeMember(tenant)];
  const keys = [team, (await tenant.addKey()).apiKey, (await tenant.addKey()).apiKey, (await tenant.addKey()).apiKey];

  const perform = async (writer: number, act: Action, id: string): Promise<TestReply> => {
    const path = `/v1/conversations/${id}`;
    if (writer === 0)
      return act.kind === 'status'
        ? patch(user, path, { status: 'resolved' })
        : write(user, id, { body: 'of the user' });
    const as = keys[writer - 1] as string;
    const seen = await read(as, id);
    if (act.kind === 'tag') return patch(as, path, { [act.add ? 'add_tags' : 'remove_tags']: [act.tag] });
    if (act.kind === 'priority') return patch(as, path, { priority: act.priority, was: { priority: seen.priority } });
    if (act.kind === 'subject') return patch(as, path, { subject: act.subject, was: { subject: seen.subject } });
    if (act.kind === 'assign')
      return patch(as, path, {
        assignee_id: act.whom === null ? null : members[act.whom],
        was: { assignee_id: seen.assignee_id },
      });
    if (act.kind === 'status')
      return patch(as, path, {
        status: act.status,
        ...(act.status === 'snoozed' ? { snoozed_until: new Date(Date.now() + DAY_MS).toISOString() } : {}),
        was: { status: seen.status },
      });
    const after = act.careful ? { after: { seq: seen.message_count, note_seq: 0 } } : {};
    return write(as, id, { body: 'of the team', kind: act.note ? 'note' : 'reply', ...after });
  };

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(action, { minLength: 1, maxLength: 5 }), { minLength: 5, maxLength: 5 }),
      async plans => {
        const { id } = (await start(user, { subject: 'begin' })).body;
        const made: { writer: number; act: Action; reply: TestReply }[] = [];
        await Promise.all(
          plans.map(async (plan, writer) => {
            for (const act of plan) made.push({ writer, act, reply: await perform(writer, act, id) });
          }),
        );
        for (const { reply } of made) expect([200, 201, 409]).toContain(reply.status);

        const all: Body[] = await messages(team, id);
        const final = await read(team, id);
        const events = all.filter(({ kind }) => kind === 'event').map(({ event }) => event as Body);
        expect(replay(events)).toEqual(Object.fromEntries(FIELDS.map(field => [field, final[field]])));

        // every message that was confirmed is there once, and no other
        const written = made.filter(({ reply }) => reply.status === 201).map(({ reply }) => reply.body.id);
        expect(
          all
            .filter(({ kind }) => kind !== 'event')
            .map(({ id: messageId }) => messageId)
            .slice(1)
            .toSorted(),
        ).toEqual(written.toSorted());
        // a tag that was only added is there, one that was only removed is not
        for (const tag of ['a', 'b', 'c']) {
          const acts = made.flatMap(({ writer, act }) =>
            writer > 0 && act.kind === 'tag' && act.tag === tag ? [act.add] : [],
          );
          if (acts.length > 0 && new Set(acts).size === 1) expect(final.tags.includes(tag)).toBe(acts[0]);
        }
        // every event of a priority belongs to a confirmed change
        const confirmed = made.filter(({ act, reply }) => act.kind === 'priority' && reply.status === 200);
        const priorities = events.filter(({ field }) => field === 'priority');
        expect(priorities.length).toBeLessThanOrEqual(confirmed.length);
        for (const { to } of priorities)
          expect(confirmed.some(({ act }) => act.kind === 'priority' && act.priority === to)).toBe(true);
      },
    ),
    { numRuns: 12 },
  );
}, 240_000);
