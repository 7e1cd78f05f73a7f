import { type Goal, higher, lower, overKoa, plain } from './goal.ts';

/** Goals of webhooks. */
export const WEBHOOKS: Goal[] = [
  overKoa(
    {
      number: '20',
      what: 'webhook deliveries/s to one receiver',
      how: 'one worker, a feed of 20,000 events with their answers; a receiver on this machine that accepts everything',
      must: 0.1,
      aim: 0.2,
      ...higher,
    },
    'deliveries',
  ),
  plain(
    {
      number: '20',
      what: 'from the commit of an event to the receiver, p50',
      how: 'one event at a time, at rest',
      must: 250,
      aim: 150,
      ...lower,
      unit: 'ms',
    },
    'delivery p50 ms',
  ),
  plain(
    {
      number: '20',
      what: 'memory, worker that delivers',
      how: 'highest RSS, with the memory settings of the image',
      must: 280,
      aim: 240,
      ...lower,
      unit: 'MB',
    },
    'deliveries peak MB',
  ),
];
