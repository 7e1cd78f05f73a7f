import { describe, expect, test } from 'vitest';
import type { Message } from '../../../dashboard/pages/inbox/message-pages.ts';
import { rowsOf } from '../../../dashboard/pages/inbox/message-rows.ts';

const ADA = { type: 'member', id: 'member_1', name: 'Ada' } as const;
const message = (id: string, fields: Partial<Message>) =>
  ({ id, kind: 'reply', author: ADA, event: null, created_at: '2026-01-01T10:00:00.000Z', ...fields }) as Message;
const event = (id: string, field: string, to: string, fields: Partial<Message> = {}) =>
  message(id, {
    kind: 'event',
    event: { field, from: null, to, reason: { type: 'member', id: 'member_1' } } as Message['event'],
    ...fields,
  });
const shown = (messages: Message[]) =>
  rowsOf(messages).map(({ message: { id }, status }) => (status ? [id, status] : id));

describe('the rows of a thread', () => {
  test('show the status that a reply has led to with the reply', () => {
    expect(shown([message('reply', {}), event('status', 'status', 'pending'), message('next', {})])).toEqual([
      ['reply', 'pending'],
      'next',
    ]);
  });

  test('show a status that somebody has set by itself', () => {
    const later = { created_at: '2026-01-01T10:00:01.000Z' };
    expect(shown([message('reply', {}), event('status', 'status', 'resolved', later)])).toEqual(['reply', 'status']);
    const user = { author: { type: 'user', id: null, name: null } } as Partial<Message>;
    expect(shown([message('reply', user), event('status', 'status', 'resolved')])).toEqual(['reply', 'status']);
    expect(shown([message('note', { kind: 'note' }), event('status', 'status', 'open')])).toEqual(['note', 'status']);
  });

  test('show a snooze and a merge once', () => {
    expect(shown([event('status', 'status', 'snoozed'), event('until', 'snoozed_until', '2026-02-01')])).toEqual([
      'until',
    ]);
    expect(
      shown([
        event('status', 'status', 'resolved'),
        event('tags', 'tags', 'a'),
        event('merged', 'merged_into_id', 'c'),
      ]),
    ).toEqual(['tags', 'merged']);
  });
});
