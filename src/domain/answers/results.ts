import { z } from 'zod';
import { int32 } from '../documented.ts';
import { typeIdOut } from '../ids.ts';
import { EXAMPLE_FOLLOW_UP } from '../questions/follow-ups.ts';
import { EXAMPLE_MAIN_STEP, type QuestionContent } from '../questions/questions.ts';
import { definitionOf, QuestionType } from '../questions/types/index.ts';
import { addCounts, type Counts, noCounts } from './counts.ts';

const share = z.number().nullable();

const Score = z
  .object({
    measure: z.enum(['nps', 'csat', 'mean', 'positive']),
    value: z.number().nullable().meta({ description: 'null if there are no answers' }),
    answers: z.int().meta({ description: 'Number of answers the score is based on' }),
    interval: z
      .object({ low: z.number(), high: z.number() })
      .meta({ id: 'Interval' })
      .nullable()
      .meta({ description: '95 % confidence interval, only for NPS; null if all answers are in one group' }),
  })
  .meta({
    id: 'Score',
    description:
      '`nps`: percentage of 9 and 10 minus percentage of 0 to 6, −100…100. `csat`: percentage of 4 and 5. `mean`: mean of the scale (ces, rating). `positive`: percentage of true (thumbs).',
    example: { value: 40, answers: 120, interval: { low: 26.42, high: 53.58 } },
  });
export type Score = z.infer<typeof Score>;

const Value = z
  .object({
    value: z
      .union([z.int(), z.boolean(), z.string()])
      .meta({ id: 'CountedValue', description: 'Value of the scale, or id of an option' }),
    label: z.string().optional().meta({ description: 'Current label of the option' }),
    count: z.int(),
    share: share.meta({
      description: 'Share of the answers, 0…1; the sum can exceed 1 if several options can be chosen',
    }),
  })
  .meta({ id: 'ValueCount', example: { value: 10, count: 54, share: 0.45 } });

const Figures = {
  displays: z.int().meta({ description: 'Card views, with any outcome', example: 300 }),
  answered: z.int().meta({ description: 'Number of `partial` and `completed` answers', example: 120 }),
  response_rate: share.meta({ description: '`answered ÷ displays`, 0…1; null without displays', example: 0.4 }),
  score: Score.nullable().meta({ description: 'null for question types without a score', example: {} }),
};
const DetailedFigures = {
  ...Figures,
  values: z.array(Value).meta({ description: 'All possible values; empty for text and date questions' }),
};

export const GROUPINGS = ['day', 'week', 'month'] as const;
export const Grouping = z
  .enum(GROUPINGS)
  .meta({ description: 'Period of each data point, in UTC; weeks start on Monday' });
export type Grouping = z.infer<typeof Grouping>;

/** The results of one step: how many answers showed it, and how they continued. */
const StepResults = z
  .object({
    key: z.string().meta({ description: '`main` is the question itself' }),
    type: QuestionType,
    title: z.string(),
    shown: z.int().meta({ description: 'Number of answers that showed the step: the sum of the next three' }),
    answered: z.int().meta({ description: 'Number of `partial` and `completed` answers with a value for the step' }),
    skipped: z.int().meta({ description: 'Number of answers that continued without a value' }),
    left: z.int().meta({ description: 'Number of answers that ended at this step' }),
    score: Score.nullable().meta({ description: 'null for question types without a score', example: {} }),
    values: DetailedFigures.values,
  })
  .meta({
    id: 'StepResults',
    example: { key: 'main', title: EXAMPLE_MAIN_STEP.title, shown: 300, answered: 120, skipped: 0, left: 180 },
  });

const EXAMPLE_REASON = {
  ...{ key: 'reason', type: 'text', title: EXAMPLE_FOLLOW_UP.title, score: null, values: [] },
  ...{ shown: 40, answered: 31, skipped: 5, left: 4 },
};

/** The results of a question (contract section 3). */
export const Results = z
  .object({
    question_id: typeIdOut('question'),
    type: QuestionType,
    from: z.string().nullable().meta({ example: '2026-11-01' }),
    to: z.string().nullable(),
    group_by: Grouping.meta({ example: 'month' }),
    version: int32(1).nullable(),
    verified: z.boolean().nullable(),
    step: z
      .string()
      .meta({ description: 'The step whose figures these are; `main` is the question itself', example: 'main' }),
    test: z.boolean().meta({ description: 'Whether these are the results of test answers' }),
    seen: z.int().meta({ example: 150 }),
    dismissed: z.int().meta({ example: 30 }),
    partial: z.int().meta({ example: 0 }),
    completed: z.int().meta({ example: 120 }),
    written: z.int().meta({ description: 'Number of answers with a comment or text', example: 48 }),
    ...DetailedFigures,
    steps: z.array(StepResults).meta({
      description:
        'All steps in order, with the drop-off from step to step; last those that the current version no longer has',
      example: [{}, EXAMPLE_REASON],
    }),
    over_time: z.array(z.object({ start: z.string(), ...DetailedFigures }).meta({ id: 'PeriodResults' })).meta({
      description: 'One entry per period, without gaps, from the first to the last with a display; oldest first',
      example: [{ start: '2026-11-01' }],
    }),
    versions: z
      .array(z.object({ version: int32(1).meta({ example: 2 }), ...DetailedFigures }).meta({ id: 'VersionResults' }))
      .meta({ description: 'Results by question version, newest first' }),
  })
  .meta({ id: 'Results' });
export type Results = z.infer<typeof Results>;

/** The figures of a question in a list (`include=results`). */
export const ResultsSummary = z
  .object({
    ...Figures,
    answered_7_days: z.int().meta({ description: 'Answers today and in the previous six days (UTC)', example: 31 }),
  })
  .meta({ id: 'ResultsSummary' });

/** Rounds to `places` decimal places; never to -0. */
const round = (value: number, places: number): number => Math.round(value * 10 ** places) / 10 ** places + 0;

const shareOf = (part: number, whole: number): number | null => (whole > 0 ? round(part / whole, 4) : null);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** The 97.5 % quantile of the normal distribution: 95 % lie within this many standard errors of the mean. */
const Z_95 = 1.959964;

/**
 * The Net Promoter Score, and its 95 % interval: the normal approximation with the variance of a value that is 1 for a
 * promoter, 0 for a passive and -1 for a detractor, p + d − (p − d)².
 */
function npsOf(scores: readonly number[]): Pick<Score, 'value' | 'interval'> {
  const all = sum(scores);
  const [detractors, promoters] = [sum(scores.slice(0, 7)) / all, sum(scores.slice(9)) / all];
  const nps = promoters - detractors;
  const variance = promoters + detractors - nps ** 2;
  const margin = Z_95 * Math.sqrt(variance / all);
  const percent = (value: number) => round(100 * Math.max(-1, Math.min(1, value)), 2);
  const isOneGroup = [detractors, promoters, 1 - detractors - promoters].some(part => part > 1 - 1e-12);
  return {
    value: percent(nps),
    interval: isOneGroup ? null : { low: percent(nps - margin), high: percent(nps + margin) },
  };
}

const percentFrom = (place: number) => (scores: readonly number[]) =>
  round((100 * sum(scores.slice(place))) / sum(scores), 2);
const mean = (scores: readonly number[]) => round(sum(scores.map((number, place) => number * place)) / sum(scores), 2);

const VALUE_OF: Record<Exclude<Score['measure'], 'nps'>, (scores: readonly number[]) => number> = {
  csat: percentFrom(4),
  mean,
  positive: percentFrom(1),
};

/** Returns the main figure of a type; null for a type without one. */
export function scoreOf(type: QuestionType, scores: readonly number[]): Score | null {
  const { measure } = definitionOf(type);
  if (!measure) return null;
  const answers = sum(scores);
  const nobody = { measure, value: null, answers, interval: null };
  if (answers === 0) return nobody;
  return measure === 'nps' ? { ...nobody, ...npsOf(scores) } : { ...nobody, value: VALUE_OF[measure](scores) };
}

type Content = Pick<QuestionContent, 'type' | 'config'>;

const isScore = (value: unknown): value is number | boolean => typeof value === 'number' || typeof value === 'boolean';

interface Choices {
  options: { id: string; label: string }[];
  allow_other: boolean;
}

function optionsOf({ config }: Content, chosen: ReadonlyMap<string, number>): { id: string; label?: string }[] {
  const { options = [], allow_other = false } = config as Partial<Choices>;
  const isOther = !options.some(({ id }) => id === 'other') && (allow_other || chosen.has('other'));
  return [...options, ...(isOther ? [{ id: 'other' }] : [])];
}

/** How often each value was given. */
function valuesOf(content: Content, counts: Counts): Results['values'] {
  const scored = definitionOf(content.type)
    .values(content.config)
    .filter(isScore)
    .map(value => {
      const number = counts.scores[Number(value)] ?? 0;
      return { value, count: number, share: shareOf(number, sum(counts.scores)) };
    });
  const chosen = optionsOf(content, counts.choices).map(({ id, label }) => {
    const number = counts.choices.get(id) ?? 0;
    return {
      value: id,
      ...(label === undefined ? {} : { label }),
      count: number,
      share: shareOf(number, answeredOf(counts)),
    };
  });
  return [...scored, ...chosen];
}

const answeredOf = ({ partial, completed }: Counts): number => partial + completed;
const displaysOf = (counts: Counts): number => counts.seen + counts.dismissed + answeredOf(counts);

/** The figures of a question in lists. */
export const figuresOf = (type: QuestionType, counts: Counts) => ({
  displays: displaysOf(counts),
  answered: answeredOf(counts),
  response_rate: shareOf(answeredOf(counts), displaysOf(counts)),
  score: scoreOf(type, counts.scores),
});

const detailsOf = (content: Content, counts: Counts) => ({
  ...figuresOf(content.type, counts),
  values: valuesOf(content, counts),
});

/** The counts of one version of a question on one day. */
export interface DayCounts extends Counts {
  day: string;
  question_version: number;
}

const asDate = (day: string): Date => new Date(`${day}T00:00:00.000Z`);
const asDay = (date: Date): string => date.toISOString().slice(0, 10);

/** Returns the first day of the group that contains a day. */
function startOf(day: string, grouping: Grouping): string {
  const date = asDate(day);
  if (grouping === 'month') date.setUTCDate(1);
  if (grouping === 'week') date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return asDay(date);
}

/** Returns the first day of the next group. */
function nextStart(start: string, grouping: Grouping): string {
  const date = asDate(start);
  if (grouping === 'month') date.setUTCMonth(date.getUTCMonth() + 1);
  else date.setUTCDate(date.getUTCDate() + (grouping === 'week' ? 7 : 1));
  return asDay(date);
}

/** Adds up counts by key. */
function addUp<Key>(rows: readonly DayCounts[], keyOf: (row: DayCounts) => Key): Map<Key, Counts> {
  const sums = new Map<Key, Counts>();
  for (const row of rows) {
    const counts = sums.get(keyOf(row)) ?? noCounts();
    addCounts(counts, row);
    sums.set(keyOf(row), counts);
  }
  return sums;
}

/** Returns the groups from the first to the last day with a display, including empty ones. */
function groupsOf(rows: readonly DayCounts[], grouping: Grouping): [string, Counts][] {
  const sums = addUp(rows, ({ day }) => startOf(day, grouping));
  const starts = [...sums.keys()].sort();
  const [first, last] = [starts[0], starts.at(-1)];
  const groups: [string, Counts][] = [];
  if (first === undefined || last === undefined) return groups;
  for (let start = first; start <= last; start = nextStart(start, grouping))
    groups.push([start, sums.get(start) ?? noCounts()]);
  return groups;
}

/** A step with its counts in a period; for the question itself in the form of `asCounts`. */
export interface CountedStep extends Pick<QuestionContent, 'type' | 'config' | 'title'> {
  key: string;
  counts: Counts;
  skipped: number;
}

/** Computes the figures of each step. */
export const stepResultsOf = (steps: readonly CountedStep[]) =>
  steps.map(({ key, type, title, config, counts, skipped }) => ({
    ...{ key, type, title },
    shown: displaysOf(counts),
    answered: answeredOf(counts),
    skipped,
    left: displaysOf(counts) - answeredOf(counts) - skipped,
    score: scoreOf(type, counts.scores),
    values: valuesOf({ type, config }, counts),
  }));

/** Computes the figures of a question, or of one step, from its counts. */
export function resultsOf(content: Content, rows: readonly DayCounts[], grouping: Grouping) {
  const shown = rows.filter(row => displaysOf(row) > 0);
  const total = addUp(shown, () => 'all').get('all') ?? noCounts();
  const { seen, dismissed, partial, completed, written } = total;
  return {
    seen,
    dismissed,
    partial,
    completed,
    written,
    ...detailsOf(content, total),
    over_time: groupsOf(shown, grouping).map(([start, counts]) => ({ start, ...detailsOf(content, counts) })),
    versions: [...addUp(shown, row => row.question_version)]
      .sort(([a], [b]) => b - a)
      .map(([version, counts]) => ({ version, ...detailsOf(content, counts) })),
  };
}
