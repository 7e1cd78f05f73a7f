import { describe, expect, test } from 'vitest';
import { ApiProblem, noReply } from '../../dashboard/api/problem.ts';
import {
  type Change,
  ChangedMeanwhile,
  type Conversation,
  createChangeQueue,
  type Patch,
  patchFor,
} from '../../dashboard/pages/inbox/conversation-changes.ts';

const conversation = (fields: Partial<Conversation> = {}) =>
  ({ id: 'conversation_1', status: 'open', assignee_id: null, priority: 'none', tags: [], ...fields }) as Conversation;

/** A server with one conversation; `before` runs before each write, like a colleague. */
function serverWith(
  start: Conversation,
  before: (attempt: number) => Partial<Conversation> | Error | undefined = () => undefined,
) {
  let [body, version, attempts] = [start, 1, 0];
  const patches: Patch[] = [];
  const waits: number[] = [];
  const tagged = () => ({ body, etag: String(version) });
  let known = tagged();
  const queue = createChangeQueue({
    known: () => known,
    read: async () => tagged(),
    async write(patch, etag) {
      const change = before(++attempts);
      if (change instanceof Error) throw change;
      if (change) [body, version] = [{ ...body, ...change }, version + 1];
      if (etag !== String(version)) throw new ApiProblem(412, { code: 'precondition-failed' });
      patches.push(patch);
      [body, version] = [{ ...body, ...patch } as Conversation, version + 1];
      known = tagged();
      return known;
    },
    async wait(ms) {
      waits.push(ms);
    },
  });
  return { queue, patches, waits, stored: () => body };
}

const resolve: Change = { field: 'status', value: 'resolved', was: 'open' };

describe('changes of a conversation', () => {
  test('by tags that are typed quickly are all stored', async () => {
    const { queue, stored, patches } = serverWith(conversation({ tags: ['old'] }));
    await Promise.all(['a', 'b', 'c'].map(addTag => queue.add({ addTag })));
    expect(stored().tags).toEqual(['old', 'a', 'b', 'c']);
    expect(patches.length).toBeLessThanOrEqual(2); // those that wait are sent together
    await queue.add({ removeTag: 'b' });
    expect(stored().tags).toEqual(['old', 'a', 'c']);
  });

  test('are repeated after anybody else has written or read', async () => {
    const { queue, stored, patches } = serverWith(conversation(), attempt =>
      attempt === 1 ? { tags: ['theirs'], unread_count: 3 } : undefined,
    );
    await queue.add(resolve);
    expect(stored()).toMatchObject({ status: 'resolved', tags: ['theirs'] });
    expect(patches).toEqual([{ status: 'resolved' }]);
  });

  test('keep the tags of a colleague', async () => {
    const { queue, stored } = serverWith(conversation({ tags: ['x'] }), attempt =>
      attempt === 1 ? { tags: ['x', 'theirs'] } : undefined,
    );
    await queue.add({ addTag: 'mine' });
    expect(stored().tags).toEqual(['x', 'theirs', 'mine']);
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

  test('wait for a restart of the API, and are made once although the response was lost', async () => {
    const { queue, stored, waits } = serverWith(conversation(), attempt =>
      attempt <= 3 ? (attempt === 2 ? new ApiProblem(503, { code: 'service-stopping' }) : noReply(null)) : undefined,
    );
    await queue.add(resolve);
    expect(stored().status).toBe('resolved');
    expect(waits).toEqual([1000, 2000, 4000]);
    expect(patchFor(conversation({ status: 'resolved' }), [resolve])).toBeUndefined();
  });

  test('that the server refuses fail alone', async () => {
    const { queue, stored } = serverWith(conversation());
    const bad = serverWith(conversation(), () => new ApiProblem(422, { code: 'validation-failed' }));
    await expect(bad.queue.add({ addTag: 'x' })).rejects.toThrow(ApiProblem);
    await queue.add({ addTag: 'good' });
    expect(stored().tags).toEqual(['good']);
  });
});
