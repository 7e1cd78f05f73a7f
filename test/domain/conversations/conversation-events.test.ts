import { describe, expect, test } from 'vitest';
import {
  changeEvents,
  describeEvent,
  type MessageEvent,
  type Recorded,
  readEventText,
  reasonOf,
} from '../../../src/domain/conversations/conversation-events.ts';
import { newUuid, toTypeId } from '../../../src/domain/ids.ts';

const [ADA, TARGET] = [newUuid(), newUuid()];
const LATER = new Date('2027-01-04T12:00:00.000Z');
const BEFORE: Recorded = {
  ...{ status: 'open', snoozed_until: null, assignee_id: null, priority: 'none', tags: ['a'], subject: 'Hello' },
  ...{ custom: { plan: 'pro', seats: 3 }, merged_into_id: null },
};
const REASON = reasonOf({ type: 'api', id: 'key_1' });
const eventsOf = (change: Partial<Recorded>, before: Partial<Recorded> = {}) =>
  changeEvents({ ...BEFORE, ...before }, { ...BEFORE, ...before, ...change }, REASON).map(({ field, from, to }) => [
    field,
    from,
    to,
  ]);

describe('a change', () => {
  test.each<[string, Partial<Recorded>, unknown]>([
    ['of the status', { status: 'resolved' }, ['status', 'open', 'resolved']],
    ['of the assignee has public ids', { assignee_id: ADA }, ['assignee_id', null, toTypeId('member', ADA)]],
    ['of the priority', { priority: 'urgent' }, ['priority', 'none', 'urgent']],
    ['of the tags', { tags: ['a', 'b'] }, ['tags', ['a'], ['a', 'b']]],
    ['of the subject', { subject: '' }, ['subject', 'Hello', '']],
    ['of a merge', { merged_into_id: TARGET }, ['merged_into_id', null, toTypeId('conversation', TARGET)]],
    [
      'of a custom field has only that one',
      { custom: { plan: 'free', seats: 3 } },
      ['custom', { plan: 'pro' }, { plan: 'free' }],
    ],
    ['that removes a custom field', { custom: { plan: 'pro' } }, ['custom', { seats: 3 }, { seats: null }]],
    [
      'that adds one',
      { custom: { plan: 'pro', seats: 3, city: 'Kiel' } },
      ['custom', { city: null }, { city: 'Kiel' }],
    ],
    [
      'that adds one with the name of a member that every object inherits',
      { custom: { plan: 'pro', seats: 3, constructor: 'Lotus' } },
      ['custom', { constructor: null }, { constructor: 'Lotus' }],
    ],
  ])('%s', (_, change, event) => {
    expect(eventsOf(change)).toEqual([event]);
  });

  test('without effect has no event', () => {
    expect(eventsOf({ tags: ['a'], custom: { plan: 'pro', seats: 3 } })).toEqual([]);
  });

  test('of several fields has an event for each, in one order', () => {
    expect(eventsOf({ subject: 'Bye', assignee_id: ADA, status: 'pending' }).map(([field]) => field)).toEqual([
      ...['status', 'assignee_id', 'subject'],
    ]);
  });

  test('that snoozes has the time, and the end of a snooze only the status', () => {
    const snoozed = { status: 'snoozed', snoozed_until: LATER };
    expect(eventsOf(snoozed)).toEqual([
      ['status', 'open', 'snoozed'],
      ['snoozed_until', null, LATER.toISOString()],
    ]);
    expect(eventsOf({ status: 'open', snoozed_until: null }, snoozed)).toEqual([['status', 'snoozed', 'open']]);
    expect(eventsOf({ assignee_id: null }, { assignee_id: ADA })).toHaveLength(1);
  });
});

test.each([
  [
    { type: 'system', id: null },
    { type: 'timer', id: null },
  ],
  [
    { type: 'user', id: 'ada' },
    { type: 'user', id: 'ada' },
  ],
  [
    { type: 'member', id: 'member_1' },
    { type: 'member', id: 'member_1' },
  ],
  [
    { type: 'api', id: 'key_1' },
    { type: 'member', id: null },
  ],
])('the reason of a change by %j', (author, reason) => {
  expect(reasonOf(author)).toEqual(reason);
});

test.each<[string, Partial<MessageEvent>]>([
  ['status: open → resolved', { field: 'status', from: 'open', to: 'resolved' }],
  ['tags: none → a, b', { field: 'tags', from: [], to: ['a', 'b'] }],
  ['subject: none → Hello', { field: 'subject', from: '', to: 'Hello' }],
  ['custom: plan none → plan pro', { field: 'custom', from: { plan: null }, to: { plan: 'pro' } }],
  [
    'assignee_id: none, because every member of the rule is away',
    { field: 'assignee_id', from: null, to: null, reason: { type: 'rule', id: 'rule_1', code: 'members-away' } },
  ],
])('"%s" describes an event', (text, event) => {
  expect(describeEvent({ reason: REASON, ...event } as MessageEvent)).toBe(text);
});

describe('the text of an event of an earlier version', () => {
  const read = (text: string) => readEventText(text, { type: 'member', id: 'member_1' });
  const reason = { type: 'member', id: 'member_1' };

  test('is read as the event', () => {
    expect(read('status: open → resolved')).toEqual({ field: 'status', from: 'open', to: 'resolved', reason });
    expect(read('assignee_id: none → member_2')).toEqual({ field: 'assignee_id', from: null, to: 'member_2', reason });
    expect(read('priority: none → urgent')).toEqual({ field: 'priority', from: 'none', to: 'urgent', reason });
  });

  test.each(['subject: a → b', 'status: open', 'status: open → resolved now', 'Hello'])('is not "%s"', text => {
    expect(read(text)).toBeNull();
  });
});
