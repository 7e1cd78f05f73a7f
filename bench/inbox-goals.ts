import { type Goal, lower, plain } from './goal.ts';

/** Goals of the inbox of one tenant with a million conversations next to 10,000 tenants. */
export const INBOX: Goal[] = [
  plain(
    {
      number: '24',
      what: 'inbox: dearest filter or order ÷ raw keyset query, p50',
      how: 'first page of 18 lists, each next to a prepared query for only this list',
      must: 1.6,
      aim: 1.2,
      ...lower,
      unit: '×',
    },
    'inbox dearest list',
  ),
  plain(
    {
      number: '24',
      what: 'inbox: page 500 ÷ page 1, p50',
      how: 'the list without filters',
      must: 1.1,
      aim: 1.05,
      ...lower,
      unit: '×',
    },
    'inbox page 500 ÷ 1',
  ),
  plain(
    {
      number: '24',
      what: 'inbox: counts of ten views, p50',
      how: 'one statement for all; one connection',
      must: 10,
      aim: 4,
      ...lower,
      unit: 'ms',
    },
    'inbox counts p50 ms',
  ),
  plain(
    {
      number: '24',
      what: 'inbox: bulk change of 100 conversations, p50',
      how: 'one request at a time',
      must: 200,
      aim: 80,
      ...lower,
      unit: 'ms',
    },
    'inbox bulk p50 ms',
  ),
  plain(
    {
      number: '24',
      what: 'inbox: 10,000 due timers woken',
      how: 'from the commit that makes them due to the last one, one worker',
      must: 10,
      aim: 4,
      ...lower,
      unit: 's',
    },
    'inbox woken s',
  ),
];
