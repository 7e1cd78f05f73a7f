import { chosenOptions, type StepValues } from '../steps.ts';
import { type AnswerState, isAnswered } from './answers.ts';

/** The part of a stored answer that is counted in its question's results. */
export interface Counted {
  /** The UTC day of the answer's first receipt, `YYYY-MM-DD`. It never changes. */
  day: string;
  question_version: number;
  state: AnswerState;
  /** The value of the question itself if it can be counted; texts cannot. */
  value: unknown;
  /** Whether the user wrote a comment, a text, or the text of "other", in any step. */
  written: boolean;
  /** The values by step, from which those of follow-ups are counted. Texts may be replaced by their presence. */
  values: StepValues;
}

/** Returns the contribution of an answer while another answer to its card is counted: a view without a value. */
export const asView = (counted: Counted): Counted =>
  isAnswered(counted.state) ? { ...counted, state: 'seen', value: undefined, written: false, values: {} } : counted;

/** How often each score and each option was given. */
export type CountedValues = Pick<Counts, 'scores' | 'choices'>;

/** Length of `Counts.scores`: the values 0…10. */
export const SCORE_PLACES = 11;

/** The counts of some answers to one question. */
export interface Counts {
  seen: number;
  dismissed: number;
  partial: number;
  completed: number;
  written: number;
  /** How often each score was given: score n at index n; for yes or no, false at 0 and true at 1. */
  scores: number[];
  /** How often each option was chosen, by id; `other` for the user's own text. */
  choices: Map<string, number>;
}

/** Empty counts. */
export const noCounts = (): Counts => ({
  seen: 0,
  dismissed: 0,
  partial: 0,
  completed: 0,
  written: 0,
  scores: new Array<number>(SCORE_PLACES).fill(0),
  choices: new Map(),
});

/** Returns the index of a value among the scores; undefined when it is not a score. */
function scorePlace(value: unknown): number | undefined {
  const score = typeof value === 'boolean' ? Number(value) : value;
  return Number.isInteger(score) && (score as number) >= 0 && (score as number) < SCORE_PLACES
    ? (score as number)
    : undefined;
}

/** Adds an answer, or with `by` -1 subtracts it. Values count for `partial` and `completed` answers. */
export function count(counts: Counts, { state, value, written }: Omit<Counted, 'values'>, by: 1 | -1): void {
  counts[state] += by;
  if (written) counts.written += by;
  if (isAnswered(state)) countValue(counts, value, by);
}

/** Adds or subtracts a value. */
export function countValue(counts: CountedValues, value: unknown, by: 1 | -1): void {
  const place = scorePlace(value);
  if (place !== undefined) counts.scores[place] = (counts.scores[place] ?? 0) + by;
  for (const id of chosenOptions(value)) counts.choices.set(id, (counts.choices.get(id) ?? 0) + by);
}

/** Adds other counts. */
export function addCounts(counts: Counts, more: Counts): void {
  for (const name of ['seen', 'dismissed', 'partial', 'completed', 'written'] as const) counts[name] += more[name];
  addValues(counts, more, 1);
}

/** Adds or subtracts the values of other counts. */
export function addValues(counts: CountedValues, more: CountedValues, by: 1 | -1): void {
  counts.scores = counts.scores.map((number, place) => number + by * (more.scores[place] ?? 0));
  for (const [id, number] of more.choices) counts.choices.set(id, (counts.choices.get(id) ?? 0) + by * number);
}

const isText = (text: unknown): boolean => typeof text === 'string' && text !== '';

/** Whether a value contains a text by the user: a text, or the text of "other". */
export const hasText = (value: unknown): boolean =>
  isText(value) || isText((value as { other_text?: unknown } | null | undefined)?.other_text);
