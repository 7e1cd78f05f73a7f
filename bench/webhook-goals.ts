import { type Goal, higher, lower, overKoa, plain, ratio } from './goal.ts';

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
  ratio(
    {
      number: '21',
      what: "a good webhook's p99 next to ten dead ones ÷ alone",
      how: 'from the commit of an event to the receiver, 25 events/s; the other receivers never reply',
      must: 1.2,
      aim: 1.05,
      ...lower,
    },
    'webhook next to dead ones p99 ms',
    'webhook alone p99 ms',
  ),
  ratio(
    {
      number: '22',
      what: 'feed page at event 10⁶ ÷ at 1, p50',
      how: '100 events, in turn, through the storage layer',
      must: 1.1,
      aim: 1.05,
      ...lower,
    },
    'feed page at the end p50 ms',
    'feed page 1 p50 ms',
  ),
  plain(
    {
      number: '23',
      what: 'POST messages, 16 writers in 16 tenants',
      how: 'replies of the team, each writer in a conversation of its own; `--against` compares versions',
      ...higher,
      unit: '/s',
    },
    'messages',
  ),
  plain(
    { number: '23', what: 'the same, in one tenant', how: 'as before', ...higher, unit: '/s' },
    'messages of one tenant',
  ),
];
