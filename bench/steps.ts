import { BATCH, type Bench, type Measured } from './bench.ts';
import { measureFeed, measureMessages, measureNeighbours } from './event-steps.ts';
import {
  measureAnswers,
  measureCards,
  measureKoa,
  measureLoneAnswers,
  measureLoneNaive,
  measureStarts,
} from './http-steps.ts';
import { measureInbox } from './inbox-steps.ts';
import { measureLists } from './list-steps.ts';
import { LATENCY_IS_FINE } from './load.ts';
import { measureWatched } from './observer-steps.ts';
import { measureNaive, measureStored } from './pipeline-steps.ts';
import { measureCatalog, measureManyUsers, measureSteppedAnswers, measureSteppedCards } from './stepped-steps.ts';
import {
  measureCopy,
  measureDrain,
  measureLimitedRecord,
  measureLimitsCopy,
  measureOneLimit,
  measureRecord,
  measureSteppedCopy,
  measureSteppedRecord,
} from './store-steps.ts';
import { measureFirstFetches, measureHistories, measureManyContexts, measureTargetedCards } from './targeted-steps.ts';
import { measureDeliveries } from './webhook-steps.ts';

/** A program measured once a round. */
export interface Step {
  /** The figures that it produces. */
  figures: string[];
  needsValkey?: boolean;
  needsFineLatency?: boolean;
  /** Whether it writes a CPU profile if profiles are enabled. */
  profiled?: boolean;
  run(bench: Bench): Promise<Measured>;
}

const valkey = { needsValkey: true };
const cards = (
  figure: 'cards' | 'unchanged' | 'cold cards' | 'cold unchanged',
  program: string,
  profile?: string,
): Step => ({
  figures: [figure],
  profiled: profile !== undefined,
  run: measureCards(figure, figure, program, profile),
});

/** The floor of most steps, measured directly before and after each. */
export const KOA: Step = { figures: ['koa'], run: measureKoa };

/** Questions with five steps in five languages. */
const STEPPED_STEPS: Step[] = [
  {
    figures: ['stepped cards'],
    run: measureSteppedCards('stepped cards', 'stepped', 'cards', 'GET /v1/cards 200, five steps'),
  },
  {
    figures: ['plain cards'],
    run: measureSteppedCards('plain cards', 'plain', 'cards', 'GET /v1/cards 200, one step of that size'),
  },
  {
    figures: ['stepped unchanged'],
    run: measureSteppedCards('stepped unchanged', 'stepped', 'unchanged', 'GET /v1/cards 304, five steps'),
  },
  { figures: ['stepped answers'], ...valkey, run: measureSteppedAnswers },
  { figures: ['stepped copy'], run: measureSteppedCopy },
  { figures: ['stepped record'], run: measureSteppedRecord },
  { figures: ['many users peak MB'], run: measureManyUsers },
  { figures: ['catalog MB', 'catalog estimate MB', 'catalog ms'], run: measureCatalog },
];

/** Tenants with 200 live questions of 20 conditions each, or with limits. */
const TARGETED_STEPS: Step[] = [
  {
    figures: ['ruled cards'],
    run: measureTargetedCards('ruled cards', 'ruled', false, 'GET /v1/cards 200, 200 questions'),
  },
  {
    figures: ['unruled cards'],
    run: measureTargetedCards('unruled cards', 'plain', false, 'GET /v1/cards 200, three questions'),
  },
  {
    figures: ['ruled unchanged'],
    run: measureTargetedCards('ruled unchanged', 'ruled', true, 'GET /v1/cards 304, 200 questions'),
  },
  {
    figures: ['unruled unchanged'],
    run: measureTargetedCards('unruled unchanged', 'plain', true, 'GET /v1/cards 304, three questions'),
  },
  { figures: ['ruled first'], run: measureFirstFetches('ruled first', 'ruled', 'first fetch, 200 questions') },
  { figures: ['unruled first'], run: measureFirstFetches('unruled first', 'plain', 'first fetch, three questions') },
  { figures: ['few answers', 'many answers'], run: measureHistories },
  { figures: ['contexts peak MB'], run: measureManyContexts },
  { figures: ['limits copy'], run: measureLimitsCopy },
  { figures: ['limited record'], run: measureLimitedRecord },
  { figures: ['one limit'], run: measureOneLimit },
];

/** The steps of a round. Steps that are compared with each other are adjacent. */
export const STEPS: Step[] = [
  cards('cards', 'GET /v1/cards 200', 'goal-1-serve'),
  cards('unchanged', 'GET /v1/cards 304'),
  cards('cold cards', 'GET /v1/cards 200, cold'),
  cards('cold unchanged', 'GET /v1/cards 304, cold'),
  {
    figures: ['answers', 'answers peak MB'],
    profiled: true,
    ...valkey,
    run: measureAnswers({
      figure: 'answers',
      set: 'answers',
      program: 'POST, 1 answer',
      queue: 'valkey',
      profile: 'goal-3-serve',
    }),
  },
  {
    figures: ['cold answers'],
    ...valkey,
    run: measureAnswers({
      figure: 'cold answers',
      set: 'cold answers',
      program: 'POST, 1 answer, cold',
      queue: 'valkey',
    }),
  },
  {
    figures: ['batches'],
    ...valkey,
    run: measureAnswers({
      figure: 'batches',
      set: 'batches',
      program: 'POST, 20 answers',
      queue: 'valkey',
      answers: BATCH,
    }),
  },
  {
    figures: ['cold batches'],
    ...valkey,
    run: measureAnswers({
      figure: 'cold batches',
      set: 'cold batches',
      program: 'POST, 20 answers, cold',
      queue: 'valkey',
      answers: BATCH,
    }),
  },
  {
    figures: ['embedded'],
    run: measureAnswers({
      figure: 'embedded',
      set: 'answers',
      program: 'POST, queue in PostgreSQL',
      queue: 'postgres',
    }),
  },
  {
    figures: ['embedded whole'],
    run: measureAnswers({
      figure: 'embedded whole',
      set: 'answers',
      program: 'POST, npm start',
      queue: 'postgres',
      role: 'start',
    }),
  },
  { figures: ['watched', 'dashboard ms'], ...valkey, run: measureWatched },
  { figures: ['stored', 'stored backlog'], ...valkey, run: measureStored },
  { figures: ['naive'], ...valkey, run: measureNaive },
  { figures: ['lone naive p50 ms'], ...valkey, needsFineLatency: true, run: measureLoneNaive },
  { figures: ['lone p50 ms'], ...valkey, needsFineLatency: true, run: measureLoneAnswers },
  { figures: ['copy'], run: measureCopy },
  { figures: ['record'], run: measureRecord },
  { figures: ['drain', 'drain peak MB'], profiled: true, ...valkey, run: measureDrain },
  ...STEPPED_STEPS,
  ...TARGETED_STEPS,
  { figures: ['deliveries', 'deliveries peak MB', 'delivery p50 ms'], profiled: true, run: measureDeliveries },
  { figures: ['webhook alone p99 ms', 'webhook next to dead ones p99 ms'], run: measureNeighbours },
  { figures: ['feed page 1 p50 ms', 'feed page at the end p50 ms'], run: measureFeed },
  { figures: ['messages', 'messages of one tenant'], run: measureMessages },
  { figures: ['raw list p50 ms', 'list page 1 p50 ms', 'list page 500 p50 ms'], run: measureLists },
  {
    figures: ['inbox dearest list', 'inbox page 500 ÷ 1', 'inbox counts p50 ms', 'inbox bulk p50 ms', 'inbox woken s'],
    run: measureInbox,
  },
  { figures: ['start ms', 'rest MB'], run: measureStarts },
];

/** Returns why a step cannot run on this machine; `undefined` if it can. */
export function obstacle(step: Step, bench: Bench): string | undefined {
  if (step.needsValkey && !bench.stores.valkeyUrl) return 'needs Valkey, and no Docker Engine was found';
  if (step.needsFineLatency && !LATENCY_IS_FINE) return 'needs wrk: autocannon only measures whole milliseconds';
  return undefined;
}
