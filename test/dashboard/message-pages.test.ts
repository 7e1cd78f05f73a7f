import { describe, expect, test } from 'vitest';
import {
  addMessage,
  addNewer,
  addOlder,
  type KnownMessages,
  type Message,
  type NewestPage,
  positionOf,
  reaches,
  settledAt,
  startAt,
} from '../../dashboard/pages/inbox/message-pages.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const timeOf = (minute: number) => new Date(START + minute * 60_000).toISOString();
const message = (number: number, fields: Partial<Message> = {}) =>
  ({
    id: `message_${number}`,
    seq: number,
    kind: 'reply',
    body: `m${number}`,
    created_at: timeOf(number),
    ...fields,
  }) as Message;
const note = (number: number, at: number) =>
  message(number, { id: `note_${number}`, kind: 'note', created_at: timeOf(at) });
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => message(from + index));
/** A page of the messages from `to` back to `from`, newest first. */
const page = (from: number, to: number, next: string | null = 'older'): NewestPage => ({
  data: range(from, to).toReversed(),
  next_cursor: next,
});
const known = (from: number, to: number, olderCursor: string | null = 'before'): KnownMessages => ({
  messages: range(from, to),
  olderCursor,
  asOf: 'then',
});
const numbers = ({ messages }: KnownMessages) => messages.map(({ id }) => Number(id.split('_')[1]));

describe('the known messages of a conversation', () => {
  test('begin with the newest page, oldest first', () => {
    const made = startAt(page(51, 100), 'now');
    expect(numbers(made)).toEqual(range(51, 100).map((_, index) => 51 + index));
    expect(made).toMatchObject({ olderCursor: 'older', asOf: 'now' });
  });

  test('keep the older ones when new ones arrive, once each and with their present content', () => {
    const made = addNewer(known(5, 10), [message(9), message(10, { body: 'edited' }), message(11)], 'now');
    expect(numbers(made)).toEqual([5, 6, 7, 8, 9, 10, 11]);
    expect(made.messages[5]?.body).toBe('edited');
    expect(made).toMatchObject({ olderCursor: 'before', asOf: 'now' });
    expect(numbers(addNewer(known(5, 10), [message(11)], 'now'))).toEqual([5, 6, 7, 8, 9, 10, 11]);
    expect(numbers(addNewer(known(5, 10), [], 'now'))).toEqual([5, 6, 7, 8, 9, 10]);
  });

  test('keep a message that was sent while the new ones were requested', () => {
    const sent = addMessage(known(5, 10), message(12));
    expect(numbers(addNewer(sent, [message(10), message(11)], 'now'))).toEqual([5, 6, 7, 8, 9, 10, 11, 12]);
  });

  test('have a gap before a page that does not reach them', () => {
    expect(reaches(known(1, 10), page(12, 20))).toBe(false);
    expect(reaches(known(1, 10), page(10, 20))).toBe(true);
    expect(reaches(known(1, 10), page(12, 20, null))).toBe(true); // the whole conversation
  });

  test('are requested again from those that can still be edited', () => {
    expect(settledAt(known(1, 60, null), timeOf(60))).toEqual({ seq: 43, note_seq: 0 });
    const noted = { ...known(1, 60), messages: [...range(1, 50), note(7, 50), ...range(51, 60), note(8, 60)] };
    expect(settledAt(noted, timeOf(70))).toEqual({ seq: 53, note_seq: 7 });
    expect(settledAt(noted, timeOf(60))).toEqual({ seq: 43, note_seq: 6 }); // from the first known note
    expect(settledAt(known(30, 60), timeOf(60))).toBeUndefined(); // older notes are not known
    expect(settledAt(known(30, 30), timeOf(30))).toBeUndefined();
  });

  test('have a position in each of the two sequences', () => {
    expect(positionOf([])).toEqual({ seq: 0, note_seq: 0 });
    expect(positionOf([...range(1, 3), note(9, 4)])).toEqual({ seq: 3, note_seq: 9 });
  });

  test('grow at the beginning by older pages', () => {
    const made = addOlder(known(5, 10), page(1, 5, null));
    expect(numbers(made)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(made.olderCursor).toBeNull();
  });

  test('contain a sent message once, before and after the poll brings it', () => {
    const sent = addMessage(known(1, 3), message(4));
    expect(numbers(sent)).toEqual([1, 2, 3, 4]);
    expect(numbers(addNewer(sent, range(2, 4), 'now'))).toEqual([1, 2, 3, 4]);
    expect(addMessage(sent, message(2, { body: '' })).messages[1]?.body).toBe('');
  });
});
