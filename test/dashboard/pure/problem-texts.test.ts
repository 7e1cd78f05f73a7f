import { beforeEach, describe, expect, test } from 'vitest';
import { ApiProblem, noReply, unreadableReply } from '../../../dashboard/api/problem.ts';
import { formatTime } from '../../../dashboard/i18n.ts';
import { problemText } from '../../../dashboard/problem-texts.ts';
import { activateTexts } from './activate-texts.ts';

const LIMITED = { code: 'rate-limit-exceeded', title: 'Too many requests', detail: 'The limit is 300 a minute.' };

describe('in English', () => {
  beforeEach(() => activateTexts('en'));

  test('a problem has the words of the server, and the time until the next attempt', () => {
    expect(problemText(new ApiProblem(429, LIMITED, '7'))).toEqual({
      title: 'Too many requests',
      detail: 'The limit is 300 a minute. Next attempt possible in 7 seconds.',
    });
  });

  test('a missing, foreign or unknown response has words of its own', () => {
    for (const problem of [noReply('x'), unreadableReply(200), new ApiProblem(502, {})])
      expect(problemText(problem).title).toBe('Parley could not be reached');
    for (const status of [403, 405])
      expect(problemText(new ApiProblem(status, {})).title).toBe('Something in front of Parley refused the request');
    expect(problemText(new ApiProblem(418, {})).title).toBe('Request failed (status 418)');
  });

  test('a conflict is explained without the protocol', () => {
    const detail = 'If-Match does not match the current version of the resource.';
    expect(problemText(new ApiProblem(412, { code: 'precondition-failed', title: 'Other', detail }))).toEqual({
      title: 'Somebody else has changed this',
      detail: 'The current version has been loaded. Check it and try again.',
    });
  });

  test('dates are British', () => {
    expect(formatTime('2026-03-09T13:05:00Z', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })).toBe(
      '9 Mar 2026, 13:05',
    );
  });
});

describe('in German', () => {
  beforeEach(() => activateTexts('de'));

  test('a problem has German words by its code', () => {
    expect(problemText(new ApiProblem(429, LIMITED, '1'))).toEqual({
      title: 'Zu viele Anfragen',
      detail: 'Warte einen Moment und versuche es noch einmal. Nächster Versuch in 1 Sekunde möglich.',
    });
  });

  test('a problem of a later version has the words of the server', () => {
    expect(problemText(new ApiProblem(409, { code: 'new', title: 'New', detail: 'Detail' }))).toEqual({
      title: 'New',
      detail: 'Detail',
    });
  });

  test('dates are German', () => {
    expect(formatTime('2026-03-09T13:05:00Z', { dateStyle: 'medium', timeZone: 'UTC' })).toBe('09.03.2026');
  });
});
