import { describe, expect, test } from 'vitest';
import { eventText, type People } from '../../../dashboard/pages/inbox/event-text.ts';
import type { Message } from '../../../dashboard/pages/inbox/message-pages.ts';
import { activateTexts } from './activate-texts.ts';

const NAMES: Record<string, string> = { member_1: 'Ada', member_2: 'Linus' };
const PEOPLE: People = {
  identity: 'mara',
  nameOf: id => NAMES[id] ?? 'Former member',
  macroName: id => (id === 'macro_1' ? 'Where the export is' : undefined),
  ruleName: id => (id === 'rule_1' ? 'Billing' : undefined),
  fieldLabel: key => (key === 'order' ? 'Order number' : key),
  timeZone: 'Europe/Berlin',
};
const ADA = { type: 'member', id: 'member_1', name: 'Ada' } as const;
const SYSTEM = { type: 'system', id: null, name: null } as const;
const USER = { type: 'user', id: null, name: null } as const;
const BY_ADA = { type: 'member', id: 'member_1' };
const RULE = { type: 'rule', id: 'rule_1' };
const TIMER = { type: 'timer', id: null };

type Author = Message['author'];
const text = (field: string, from: unknown, to: unknown, reason: object = BY_ADA, author: Author = ADA) =>
  eventText({ author, body: '', event: { field, from, to, reason } as Message['event'] }, PEOPLE);

activateTexts('en'); // before the rows of the table

describe('an event is a sentence', () => {
  test.each([
    ['a status', text('status', 'open', 'resolved'), 'Ada resolved the conversation'],
    ['a reopening', text('status', 'resolved', 'open'), 'Ada reopened the conversation'],
    ['an early end of a snooze', text('status', 'snoozed', 'open'), 'Ada ended the snooze'],
    [
      'a snooze',
      text('snoozed_until', null, '2026-11-27T08:00:00Z'),
      'Ada snoozed the conversation until Fri 27 Nov, 09:00',
    ],
    ['a timer', text('status', 'snoozed', 'open', TIMER, SYSTEM), 'The snooze ended'],
    [
      'a timer of the tenant',
      text('status', 'pending', 'resolved', TIMER, SYSTEM),
      'Resolved because the user did not reply',
    ],
    [
      'the user',
      text('status', 'open', 'resolved', { type: 'user', id: 'mara' }, USER),
      'mara resolved the conversation',
    ],
    ['an assignment', text('assignee_id', null, 'member_2'), 'Ada assigned the conversation to Linus'],
    ['one to oneself', text('assignee_id', 'member_2', 'member_1'), 'Ada took the conversation'],
    ['no assignee', text('assignee_id', 'member_9', null), 'Ada removed Former member as assignee'],
    ['a priority', text('priority', 'none', 'urgent'), 'Ada set the priority to Urgent'],
    ['tags', text('tags', ['a', 'b'], ['b', 'c']), 'Ada added #c and removed #a'],
    ['a subject', text('subject', '', 'Export'), 'Ada changed the subject to “Export”'],
    [
      'custom fields',
      text('custom', { order: null, gift: true }, { order: '4711', gift: null }),
      'Ada changed Order number: 4711, gift: None',
    ],
    ['a merge', text('merged_into_id', null, 'conversation_1'), 'Ada merged the conversation into another one'],
    [
      'the end of a merge',
      text('merged_into_id', 'conversation_1', null),
      'Ada deleted the conversation into which this one was merged',
    ],
    [
      'a macro',
      text('tags', [], ['export'], { type: 'macro', id: 'macro_1' }),
      'Ada added #export with “Where the export is”',
    ],
    [
      'a rule',
      text('assignee_id', null, 'member_2', RULE, SYSTEM),
      'Parley assigned the conversation to Linus (rule “Billing”)',
    ],
    [
      'a rule without a place',
      text('assignee_id', null, null, { ...RULE, code: 'members-full' }, SYSTEM),
      'Nobody was assigned: no member of the rule has a place (rule “Billing”)',
    ],
    ['a deleted macro', text('tags', [], ['x'], { type: 'macro', id: 'macro_2' }), 'Ada added #x with a saved reply'],
  ])('about %s', (_, sentence, expected) => {
    expect(sentence).toBe(expected);
  });

  test('or the text of the server if it has no data, or data of a later version', () => {
    expect(eventText({ author: ADA, body: 'Assigned to Linus', event: null }, PEOPLE)).toBe('Ada: Assigned to Linus');
    const event = { field: 'mood', from: 'a', to: 'b', reason: BY_ADA } as unknown as Message['event'];
    expect(eventText({ author: ADA, body: 'mood: a → b', event }, PEOPLE)).toBe('Ada: mood: a → b');
  });

  test('in German too', () => {
    activateTexts('de');
    expect(text('assignee_id', null, 'member_2')).toBe('Ada hat die Unterhaltung Linus zugewiesen');
    activateTexts('en');
  });
});
