import { describe, expect, test } from 'vitest';
import {
  deliveryBody,
  FULL_PAYLOAD_BYTES,
  hrefOf,
  KEPT_RESPONSE_BYTES,
  keptResponse,
  nextAttemptAt,
} from '../../../src/domain/events/deliveries.ts';

const NOW = new Date('2027-01-04T12:00:00.000Z');
const BASE = 'https://parley.test';

describe('the next attempt', () => {
  const secondsAfter = (attempt: number, retryAfter?: string, random = 0.5) =>
    (nextAttemptAt(attempt, NOW, retryAfter, random).getTime() - NOW.getTime()) / 1000;

  test('follows the schedule, whose last delay repeats', () => {
    const delays = Array.from({ length: 11 }, (_, index) => secondsAfter(index + 1));
    expect(delays).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, 86_400, 86_400]);
  });

  test('varies by a tenth in both directions', () => {
    expect([secondsAfter(2, undefined, 0), secondsAfter(2, undefined, 1)]).toEqual([270, 330]);
  });

  test.each([
    ['seconds later than the schedule', '120', 120],
    ['seconds before the schedule', '2', 5],
    ['more than a day', '9999999', 86_400],
    ['a date', 'Mon, 04 Jan 2027 12:02:00 GMT', 120],
    ['a date in the past', 'Mon, 04 Jan 2027 11:00:00 GMT', 5],
    ['neither', 'soon', 5],
    ['a negative number', '-30', 5],
  ])('with a Retry-After of %s', (_, retryAfter, seconds) => {
    expect(secondsAfter(1, retryAfter)).toBe(seconds);
  });
});

describe('the address of an object', () => {
  test.each([
    [{ type: 'tenant', id: 'tenant_1' }, '/v1/tenant'],
    [{ type: 'answer', id: 'a' }, '/v1/answers/a'],
    [{ type: 'conversation', id: 'conversation_1' }, '/v1/conversations/conversation_1'],
    [{ type: 'question', id: 'question_1' }, '/v1/questions/question_1'],
    [{ type: 'api_key', id: 'key_1' }, '/v1/api-keys/key_1'],
    [{ type: 'webhook', id: 'webhook_1' }, '/v1/webhooks/webhook_1'],
    [{ type: 'identity', id: 'user|ä', verified: true }, '/v1/identities/user%7C%C3%A4'],
    [{ type: 'identity', id: 'ada', verified: false }, '/v1/identities/ada?verified=false'],
    [
      { type: 'message', id: 'message_1', conversation_id: 'conversation_1' },
      '/v1/conversations/conversation_1/messages',
    ],
  ])('%j is %s', (object, path) => {
    expect(hrefOf(BASE, object)).toBe(BASE + path);
  });

  test.each([[{ type: 'identity', id: null }], [{ type: 'message', id: 'message_1' }], [{ type: 'unknown', id: 'x' }]])(
    '%j has none',
    object => {
      expect(hrefOf(BASE, object)).toBeNull();
    },
  );
});

describe('the body of a delivery', () => {
  const object = { type: 'question', id: 'question_1' };
  const href = `${BASE}/v1/questions/question_1`;
  const bodyWith = (kept: { object: object | null } | undefined) => {
    const data = { to: 'x', ...kept };
    return JSON.parse(deliveryBody(BASE, { object, data })).data;
  };
  const sized = (bytes: number) => {
    const empty = JSON.stringify({ object, data: { to: 'x', object: { title: '' } } }).length;
    return { object: { title: 'a'.repeat(bytes - empty) } };
  };

  test('contains an object of up to 20 KB', () => {
    expect(bodyWith(sized(FULL_PAYLOAD_BYTES))).toEqual({ to: 'x', ...sized(FULL_PAYLOAD_BYTES) });
    expect(bodyWith(sized(FULL_PAYLOAD_BYTES + 1))).toEqual({ to: 'x', href });
  });

  test('contains null for an object that is gone, and the address without one', () => {
    expect(bodyWith({ object: null })).toEqual({ to: 'x', object: null });
    expect(bodyWith(undefined)).toEqual({ to: 'x', href });
  });
});

test('the kept part of a response is text of at most 1 KB that PostgreSQL can store', () => {
  expect(keptResponse(Buffer.from('a'.repeat(KEPT_RESPONSE_BYTES + 1)))).toHaveLength(KEPT_RESPONSE_BYTES);
  expect(keptResponse(Buffer.from([0x61, 0x00, 0xff, 0x62]))).toBe('a\uFFFD\uFFFDb');
  expect(keptResponse(Buffer.from(''))).toBeNull();
});
