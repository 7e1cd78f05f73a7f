import { describe, expect, test } from 'vitest';
import {
  addMessage,
  addNewest,
  addOlder,
  type KnownMessages,
  type Message,
  type NewestPage,
  reaches,
} from '../../dashboard/pages/inbox/message-pages.ts';

const message = (number: number, body = `m${number}`) => ({ id: `message_${number}`, body }) as Message;
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => message(from + index));
/** A page of the messages from `to` back to `from`, newest first. */
const page = (from: number, to: number, next: string | null = 'older'): NewestPage => ({
  data: range(from, to).toReversed(),
  next_cursor: next,
});
const known = (from: number, to: number): KnownMessages => ({
  messages: range(from, to),
  olderCursor: 'before',
  asOf: 'then',
});
const numbers = ({ messages }: KnownMessages) => messages.map(({ id }) => Number(id.split('_')[1]));

describe('the known messages of a conversation', () => {
  test('begin with the newest page, oldest first', () => {
    const made = addNewest(undefined, page(51, 100), 'now');
    expect(numbers(made)).toEqual(range(51, 100).map((_, index) => 51 + index));
    expect(made).toMatchObject({ olderCursor: 'older', asOf: 'now' });
  });

  test('keep the older ones when new ones arrive, once each and with their present content', () => {
    const edited = { data: [message(11), message(10, 'edited'), message(9)], next_cursor: 'x' };
    const made = addNewest(known(5, 10), edited, 'now');
    expect(numbers(made)).toEqual([5, 6, 7, 8, 9, 10, 11]);
    expect(made.messages[5]?.body).toBe('edited');
    expect(made).toMatchObject({ olderCursor: 'before', asOf: 'now' });
  });

  test('are dropped if there is a gap before the newest', () => {
    expect(reaches(known(1, 10), page(12, 20))).toBe(false);
    expect(numbers(addNewest(known(1, 10), page(12, 20), 'now'))).toEqual(numbers(known(12, 20)));
    expect(addNewest(known(1, 10), page(12, 20), 'now').olderCursor).toBe('older');
    expect(reaches(known(1, 10), page(10, 20))).toBe(true);
    expect(reaches(known(1, 10), page(12, 20, null))).toBe(true); // the whole conversation
    expect(reaches(undefined, page(12, 20))).toBe(true);
  });

  test('grow at the beginning by older pages', () => {
    const made = addOlder(known(5, 10), page(1, 5, null));
    expect(numbers(made)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(made.olderCursor).toBeNull();
  });

  test('contain a sent message once, before and after the poll brings it', () => {
    const sent = addMessage(known(1, 3), message(4));
    expect(numbers(sent)).toEqual([1, 2, 3, 4]);
    expect(numbers(addNewest(sent, page(2, 4), 'now'))).toEqual([1, 2, 3, 4]);
    expect(addMessage(sent, message(2, '')).messages[1]?.body).toBe('');
  });
});
