import { type Goal, higher, lower, overKoa, plain, ratio } from './goal.ts';
import { INBOX } from './inbox-goals.ts';
import { TARGETED } from './targeted-goals.ts';
import { WEBHOOKS } from './webhook-goals.ts';

const COLD = 'the same, 0 % cache hits';

/** Goals of questions with five steps in five languages. */
const STEPPED: Goal[] = [
  overKoa(
    {
      number: '15',
      what: 'GET /v1/cards 200, five steps in five languages',
      how: 'as 1, one card each, asked for in German by the JavaScript client',
      must: 0.5,
      aim: 0.75,
      ...higher,
    },
    'stepped cards',
  ),
  overKoa(
    {
      number: '15',
      what: 'the same, If-None-Match, 304',
      how: 'as 2, one card each',
      must: 0.6,
      aim: 0.85,
      ...higher,
    },
    'stepped unchanged',
  ),
  ratio(
    {
      number: '15',
      what: 'five steps ÷ one step, 200',
      how: 'cards of the same size',
      must: 0.95,
      aim: 1,
      ...higher,
    },
    'stepped cards',
    'plain cards',
  ),
  overKoa(
    {
      number: '16',
      what: 'POST /v1/answers, 1 answer of five steps',
      how: 'as 3',
      must: 0.4,
      aim: 0.55,
      ...higher,
    },
    'stepped answers',
  ),
  ratio(
    {
      number: '16',
      what: "worker's store function ÷ one COPY, five steps",
      how: 'as 8, with the results of each step',
      must: 0.45,
      aim: 0.8,
      ...higher,
    },
    'stepped record',
    'stepped copy',
  ),
  plain(
    {
      number: '17',
      what: 'memory, API with 50,000 users of 20 cards',
      how: 'highest RSS; each card has five steps in five languages',
      must: 280,
      aim: 220,
      ...lower,
      unit: 'MB',
    },
    'many users peak MB',
  ),
  plain(
    {
      number: '17',
      what: 'catalog of a tenant: heap',
      how: '200 questions, each with 50 versions and five steps in five languages',
      must: 10,
      aim: 8,
      ...lower,
      unit: 'MB',
    },
    'catalog MB',
  ),
  plain(
    { number: '17', what: 'the same, as its cache counts it', how: 'estimate', ...lower, unit: 'MB' },
    'catalog estimate MB',
  ),
  plain(
    {
      number: '17',
      what: 'the same: time to read it',
      how: 'median of five',
      must: 100,
      aim: 50,
      ...lower,
      unit: 'ms',
    },
    'catalog ms',
  ),
];

/** All goals, in the order of the table. Each is compared with its own floor, measured in the same run. */
export const GOALS: Goal[] = [
  overKoa(
    {
      number: '1',
      what: 'GET /v1/cards, 200',
      how: '64 connections, 500 users of 20 tenants in rotation, three cards each; requests/s',
      must: 0.5,
      aim: 0.75,
      ...higher,
    },
    'cards',
  ),
  overKoa({ number: '1', what: COLD, how: '5,000 users, a new token for each request', ...higher }, 'cold cards'),
  overKoa(
    {
      number: '2',
      what: 'GET /v1/cards, If-None-Match, 304',
      how: 'as 1, each user with the entity tag of its cards',
      must: 0.6,
      aim: 0.85,
      ...higher,
    },
    'unchanged',
  ),
  overKoa({ number: '2', what: COLD, how: 'as 1 at 0 %', ...higher }, 'cold unchanged'),
  overKoa(
    {
      number: '3',
      what: 'POST /v1/answers, 1 answer',
      how: 'as 1; acknowledged once the queue has written it to disk (AOF always)',
      must: 0.4,
      aim: 0.6,
      ...higher,
    },
    'answers',
  ),
  overKoa({ number: '3', what: COLD, how: 'as 1 at 0 %', ...higher }, 'cold answers'),
  overKoa(
    {
      number: '4',
      what: 'POST /v1/answers, 20 answers: answers/s',
      how: 'as 3; answers/s ÷ requests/s of Koa',
      must: 1.5,
      aim: 4,
      ...higher,
    },
    'batches',
  ),
  overKoa({ number: '4', what: COLD, how: 'as 1 at 0 %', ...higher }, 'cold batches'),
  ratio(
    {
      number: '5',
      what: 'POST, one client: p50 ÷ queue.add p50',
      how: '1 connection; the floor is Koa + jose + one `queue.add`',
      must: 1.3,
      aim: 1.05,
      ...lower,
    },
    'lone p50 ms',
    'lone naive p50 ms',
  ),
  overKoa(
    {
      number: '6',
      what: 'acknowledged and stored/s',
      how: 'API, worker, stores and load generator together, until all is stored; every acknowledged answer is checked',
      must: 0.3,
      aim: 0.42,
      ...higher,
    },
    'stored',
  ),
  plain(
    {
      number: '6',
      what: 'backlog when the load ends',
      how: 'share of the acknowledged answers that is not stored yet',
      must: 2,
      aim: 0.5,
      ...lower,
      unit: '%',
    },
    'stored backlog',
    100,
  ),
  ratio(
    {
      number: '7',
      what: '6 ÷ the naive design',
      how: '`queue.add` an answer, one INSERT a job, 50 at once, measured as 6',
      must: 3.5,
      aim: 5,
      ...higher,
    },
    'stored',
    'naive',
  ),
  ratio(
    {
      number: '8',
      what: "worker's store function ÷ one COPY",
      how: 'rows/s with flush marks, card records and totals; transactions of 1,000, two in flight',
      must: 0.45,
      aim: 0.8,
      ...higher,
    },
    'record',
    'copy',
  ),
  ratio(
    {
      number: '9',
      what: 'worker from the queue ÷ one COPY',
      how: 'a full queue of jobs of 50 answers, one worker process',
      must: 0.35,
      aim: 0.6,
      ...higher,
    },
    'drain',
    'copy',
  ),
  ratio(
    {
      number: '10',
      what: 'conversation list ÷ raw keyset, p50',
      how: 'page 500 of 20,000 conversations a tenant, both prepared, one connection each',
      must: 1.6,
      aim: 1.2,
      ...lower,
    },
    'list page 500 p50 ms',
    'raw list p50 ms',
  ),
  ratio(
    { number: '10', what: 'page 500 ÷ page 1, p50', how: 'the list query of Parley', must: 1.1, aim: 1.05, ...lower },
    'list page 500 p50 ms',
    'list page 1 p50 ms',
  ),
  plain(
    {
      number: '11',
      what: 'memory, API at rest',
      how: 'RSS a second after it is ready',
      must: 200,
      aim: 160,
      ...lower,
      unit: 'MB',
    },
    'rest MB',
  ),
  plain(
    { number: '11', what: 'memory, API under goal 3', how: 'highest RSS', must: 280, aim: 220, ...lower, unit: 'MB' },
    'answers peak MB',
  ),
  plain(
    {
      number: '11',
      what: 'memory, worker under goal 9',
      how: 'highest RSS',
      must: 280,
      aim: 220,
      ...lower,
      unit: 'MB',
    },
    'drain peak MB',
  ),
  plain(
    {
      number: '12',
      what: 'cold start of serve',
      how: 'from the start of the process to /readyz 200 against running stores',
      must: 1.5,
      aim: 0.8,
      ...lower,
      unit: 's',
    },
    'start ms',
    1 / 1000,
  ),
  overKoa(
    {
      number: '13',
      what: 'POST /v1/answers, queue in PostgreSQL',
      how: 'as 3, `serve` without REDIS_URL',
      must: 0.3,
      aim: 0.4,
      ...higher,
    },
    'embedded',
  ),
  overKoa(
    {
      number: '13',
      what: 'the same, npm start: API and worker in one',
      how: 'as 13, while the same process stores the answers',
      ...higher,
    },
    'embedded whole',
  ),
  plain(
    {
      number: '14',
      what: 'POST /v1/answers, watched backlog ÷ empty queue',
      how: '90,000 jobs wait and ten dashboards read GET /v1/ingestion every 2 s; in turn with an empty queue, 8 pairs of 3 s',
      must: 0.95,
      aim: 1,
      ...higher,
      unit: '×',
    },
    'watched',
  ),
  ...STEPPED,
  ...TARGETED,
  ...WEBHOOKS,
  ...INBOX,
];
