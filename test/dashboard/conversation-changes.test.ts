import { describe, expect, test } from 'vitest';
import { ApiProblem, noReply } from '../../dashboard/api/problem.ts';
import {
  type Change,
  ChangedMeanwhile,
  type Conversation,
  createChangeQueue,
  type Patch,
  patchOf,
} from '../../dashboard/pages/inbox/conversation-changes.ts';

const conversation = (fields: Partial<Conversation> = {}) =>
  ({ id: 'conversation_1', status: 'open', assignee_id: null, priority: 'none', tags: [], ...fields }) as Conversation;

/** The conversation after a patch, or the problem of the server. */
function patched(body: Conversation, { was = {}, add_tags = [], remove_tags = [], ...fields }: Patch): Conversation {
  const changed = Object.entries(was).filter(([field, value]) => body[field as 'status'] !== value);
  if (changed.length > 0) throw new ApiProblem(409, { code: 'conversation-changed' });
  if (fields.status === body.status && fields.snoozed_until === undefined)
    throw new ApiProblem(409, { code: 'invalid-transition' });
  const kept = (body.tags ?? []).filter(tag => !remove_tags.includes(tag));
  return { ...body, ...fields, tags: [...kept, ...add_tags.filter(tag => !kept.includes(tag))] } as Conversation;
}

/** A server with one conversation; `before` runs before each write, like a colleague. */
function serverWith(
  start: Conversation,
  before: (attempt: number) => Partial<Conversation> | Error | undefined = () => undefined,
  losesReplies = false,
) {
  let [body, attempts] = [start, 0];
  const patches: Patch[] = [];
  const waits: number[] = [];
  const queue = createChangeQueue({
    read: async () => body,
    async write(patch) {
      const change = before(++attempts);
      if (change instanceof Error && !losesReplies) throw change;
      if (change && !(change instanceof Error)) body = { ...body, ...change };
      patches.push(patch);
      body = patched(body, patch);
      if (change instanceof Error) throw change;
      return body;
    },
    async wait(ms) {
      waits.push(ms);
    },
  });
  return { queue, patches, waits, stored: () => body };
}

const resolve: Change = { field: 'status', value: 'resolved', was: 'open' };

describe('changes of a conversation', () => {
  test('are requests with the value that was seen, and tags one by one', () => {
    expect(patchOf([resolve])).toEqual({ status: 'resolved', was: { status: 'open' } });
    const until = '2026-12-01T08:00:00Z';
    expect(patchOf([{ field: 'status', value: 'snoozed', was: 'open', until }])).toEqual({
      status: 'snoozed',
      snoozed_until: until,
      was: { status: 'open' },
    });
    expect(patchOf([{ addTag: 'a' }, { removeTag: 'b' }, { addTag: 'c' }, { removeTag: 'a' }])).toEqual({
      add_tags: ['c'],
      remove_tags: ['a', 'b'],
    });
  });

  test('by tags that are typed quickly are all stored', async () => {
    const { queue, stored, patches } = serverWith(conversation({ tags: ['old'] }));
    await Promise.all(['a', 'b', 'c'].map(addTag => queue.add({ addTag })));
    expect(stored().tags).toEqual(['old', 'a', 'b', 'c']);
    expect(patches.length).toBeLessThanOrEqual(2); // those that wait are sent together
    await queue.add({ removeTag: 'b' });
    expect(stored().tags).toEqual(['old', 'a', 'c']);
  });

  test('merge with what a colleague has changed or read meanwhile, in one request', async () => {
    const { queue, stored, patches } = serverWith(conversation({ tags: ['x'] }), attempt =>
      attempt === 1 ? { tags: ['x', 'theirs'], priority: 'high', unread_count: 3 } : undefined,
    );
    await queue.add({ addTag: 'mine' });
    await queue.add(resolve);
    expect(stored()).toMatchObject({ status: 'resolved', tags: ['x', 'theirs', 'mine'], priority: 'high' });
    expect(patches).toHaveLength(2);
  });

  test('of a field that a colleague has changed are refused, others are not', async () => {
    const { queue, stored } = serverWith(conversation(), attempt =>
      attempt === 1 ? { assignee_id: 'member_2' } : undefined,
    );
    const failed = queue.add({ field: 'assignee_id', value: 'member_1', was: null });
    const made = queue.add({ field: 'priority', value: 'high', was: 'none' });
    await expect(failed).rejects.toThrow(ChangedMeanwhile);
    await made;
    expect(stored()).toMatchObject({ assignee_id: 'member_2', priority: 'high' });
  });

  test('that a colleague has made too are made', async () => {
    const { queue } = serverWith(conversation(), () => ({ status: 'resolved' }));
    expect(await queue.add(resolve)).toMatchObject({ status: 'resolved' });
    const until = '2026-12-01T08:00:00Z';
    const snooze: Change = { field: 'status', value: 'snoozed', was: 'open', until };
    const same = serverWith(conversation(), () => ({ status: 'snoozed', snoozed_until: '2026-12-01T08:00:00.000Z' }));
    expect(await same.queue.add(snooze)).toMatchObject({ status: 'snoozed' });
    const other = serverWith(conversation(), () => ({ status: 'snoozed', snoozed_until: '2026-12-02T08:00:00.000Z' }));
    await expect(other.queue.add(snooze)).rejects.toThrow(ChangedMeanwhile);
  });

  test('wait for a restart of the API, and are made once although the response was lost', async () => {
    const { queue, stored, waits } = serverWith(conversation(), attempt =>
      attempt <= 3 ? (attempt === 2 ? new ApiProblem(503, { code: 'service-stopping' }) : noReply(null)) : undefined,
    );
    await queue.add(resolve);
    expect(stored().status).toBe('resolved');
    expect(waits).toEqual([1000, 2000, 4000]);
    const lost = serverWith(conversation(), attempt => (attempt === 1 ? noReply(null) : undefined), true);
    expect(await lost.queue.add(resolve)).toMatchObject({ status: 'resolved' });
  });

  test('that the server refuses fail alone', async () => {
    const { queue, stored } = serverWith(conversation());
    const bad = serverWith(conversation(), () => new ApiProblem(422, { code: 'validation-failed' }));
    await expect(bad.queue.add({ addTag: 'x' })).rejects.toThrow(ApiProblem);
    await queue.add({ addTag: 'good' });
    expect(stored().tags).toEqual(['good']);
  });
});
