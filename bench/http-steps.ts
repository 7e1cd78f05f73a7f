import type { Bench, CostRow, Figures, Measured, QueuePlace } from './bench.ts';
import { type Program, readSeries } from './children.ts';
import { peakMb, residentMb } from './cpu.ts';
import { type LoadResult, type LoadSet, measureLoad } from './load.ts';

export const costRow = (program: string, { requests, cost }: LoadResult, answers = 1): CostRow => ({
  program,
  count: requests * answers,
  per: answers > 1 ? 'answer' : 'request',
  cost,
});

/** Bare Koa, the reference for all rates. */
export async function measureKoa(bench: Bench): Promise<Measured> {
  await using koa = await bench.floor('koa-hello');
  const result = await measureLoad(koa.url, bench.loadSet('cards'), bench.plan, bench.roles({ api: koa.pid }));
  return { figures: { koa: result.rate }, costs: [costRow('bare Koa', result)] };
}

/** `GET /v1/cards` with a set of requests, in a fresh process. */
export const measureCards =
  (figure: string, set: Parameters<Bench['loadSet']>[0], program: string, profile?: string) =>
  async (bench: Bench): Promise<Measured> => {
    await using api = await bench.parley('serve', bench.stores.valkeyUrl ? 'valkey' : 'postgres', { profile });
    const result = await measureLoad(api.url, bench.loadSet(set), bench.plan, bench.roles({ api: api.pid }));
    return { figures: { [figure]: result.rate }, costs: [costRow(program, result)] };
  };

/**
 * Checks that the API accepted every answer that the load generator saw acknowledged: none was rejected inside a 202.
 */
export async function checkAccepted(api: Program, atLeast: number): Promise<void> {
  const accepted = await readSeries(api, 'parley_answers_accepted_total');
  if (!(accepted >= atLeast)) throw new Error(`only ${accepted} of ${atLeast} acknowledged answers were accepted`);
}

export interface AnswersRun {
  figure: string;
  set: Parameters<Bench['loadSet']>[0];
  program: string;
  queue: QueuePlace;
  role?: 'serve' | 'start';
  answers?: number;
  profile?: string;
}

/** `POST /v1/answers` with a set of requests, in a fresh process with an empty queue. */
export const measureAnswers =
  ({ figure, set, program, queue, role = 'serve', answers = 1, profile }: AnswersRun) =>
  async (bench: Bench): Promise<Measured> => {
    await bench.empty(queue);
    await using api = await bench.parley(role, queue, { profile });
    const result = await measureLoad(api.url, bench.loadSet(set), bench.plan, bench.roles({ api: api.pid }));
    const figures = { [figure]: result.rate * answers, [`${figure} peak MB`]: peakMb(api.pid) };
    await checkAccepted(api, result.requests * answers);
    return { figures, costs: [costRow(program, result, answers)] };
  };

async function measureLone(bench: Bench, program: Program, set: LoadSet): Promise<LoadResult> {
  return measureLoad(program.url, set, { ...bench.plan, connections: 1 }, bench.roles({ api: program.pid }));
}

/** The latency of an acknowledgement for a single client. */
export async function measureLoneAnswers(bench: Bench): Promise<Measured> {
  await bench.empty();
  await using api = await bench.parley('serve', 'valkey');
  const result = await measureLone(bench, api, bench.loadSet('answers'));
  return { figures: { 'lone p50 ms': result.p50Ms }, costs: [costRow('POST, 1 connection', result)] };
}

/** The same for the naive API, which awaits `queue.add`. */
export async function measureLoneNaive(bench: Bench): Promise<Measured> {
  await bench.empty();
  await using api = await bench.floor('naive-api');
  const result = await measureLone(bench, api, bench.loadSet('naive'));
  return { figures: { 'lone naive p50 ms': result.p50Ms }, costs: [costRow('naive POST, 1 connection', result)] };
}

const AT_REST_AFTER_MS = 1000;

/** Start times of `serve` with running stores, and its memory when idle. */
export async function measureStarts(bench: Bench): Promise<Measured> {
  const figures: Figures = { 'start ms': Number.POSITIVE_INFINITY, 'rest MB': 0 };
  const starts: number[] = [];
  for (let start = 0; start < bench.settings.starts; start++) {
    await using api = await bench.parley('serve', bench.stores.valkeyUrl ? 'valkey' : 'postgres');
    starts.push(api.readyAfterMs);
    if (start > 0) continue;
    await new Promise(done => setTimeout(done, AT_REST_AFTER_MS));
    figures['rest MB'] = residentMb(api.pid);
  }
  figures['start ms'] = starts.sort((a, b) => a - b)[Math.floor(starts.length / 2)] as number;
  return { figures, costs: [] };
}
