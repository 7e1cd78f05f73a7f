import { describe, expect, test } from 'vitest';
import {
  causedBy,
  EVENT_OBJECTS,
  isExpanded,
  presentEvent,
  rightsToExpand,
  type StoredEvent,
} from '../../../src/domain/events/events.ts';
import { newUuid, toTypeId } from '../../../src/domain/ids.ts';

const [TENANT, OBJECT, CONVERSATION] = [newUuid(), newUuid(), newUuid()];
const shownObject = (fields: Partial<StoredEvent>, named?: { identity: string; verified: boolean }) =>
  presentEvent(
    TENANT,
    {
      ...{ id: newUuid(), type: 'answer.stored', object_type: 'answer', object_id: OBJECT, conversation_id: null },
      ...{ data: {}, written_at: new Date(), sequence: 1, ...fields },
    },
    named,
  ).object;

describe('the object of an event', () => {
  test.each([
    ['conversation', 'conversation'],
    ['question', 'question'],
    ['api_key', 'key'],
    ['webhook', 'webhook'],
    ['tenant', 'tenant'],
  ] as const)('of a %s has the id of the API', (type, prefix) => {
    expect(shownObject({ object_type: type })).toEqual({ type, id: toTypeId(prefix, OBJECT) });
  });

  test('of an answer has the id of the client', () => {
    expect(shownObject({})).toEqual({ type: 'answer', id: OBJECT });
  });

  test('of a message names its conversation', () => {
    expect(shownObject({ object_type: 'message', conversation_id: CONVERSATION })).toEqual({
      type: 'message',
      id: toTypeId('message', OBJECT),
      conversation_id: toTypeId('conversation', CONVERSATION),
    });
  });

  test('of an identity has its name, and null once its profile is gone', () => {
    const named = { identity: 'ada', verified: false };
    expect(shownObject({ object_type: 'identity' }, named)).toEqual({ type: 'identity', id: 'ada', verified: false });
    expect(shownObject({ object_type: 'identity' })).toEqual({ type: 'identity', id: null });
  });
});

test.each([
  [
    { type: 'member', id: 'member_1' },
    { type: 'member', id: 'member_1' },
  ],
  [
    { type: 'api', id: 'key_1' },
    { type: 'api_key', id: 'key_1' },
  ],
  [
    { type: 'user', id: 'ada' },
    { type: 'user', id: null },
  ],
  [
    { type: 'system', id: null },
    { type: 'system', id: null },
  ],
])('the actor of a change by %j', (author, actor) => {
  expect(causedBy(author)).toEqual(actor);
});

test('objects are added only to events that may contain them, each with the right to read it', () => {
  expect(EVENT_OBJECTS.filter(isExpanded)).toEqual(['answer', 'conversation', 'message', 'identity', 'question']);
  expect(rightsToExpand(['message.created', 'conversation.created', 'answer.stored'])).toEqual([
    'conversations:read',
    'answers:read',
  ]);
  expect(rightsToExpand(['answers.expired', 'api_key.created', 'webhook.disabled'])).toEqual([]);
});
