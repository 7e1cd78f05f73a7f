import { type AnswerState, isAnswered } from './answers.ts';

/** The part of a stored answer that is counted in its question's results. */
export interface Counted {
  /** The UTC day of the answer's first receipt, `YYYY-MM-DD`. It never changes. */
  day: string;
  question_version: number;
  state: AnswerState;
  /** The value of the question itself if it can be counted; texts cannot. */
  value: unknown;
  /** Whether the user wrote a comment, a text, or the text of "other". */
  written: boolean;
}

/** Returns the contribution of an answer while another answer to its card is counted: a view without a value. */
export const asView = (counted: Counted): Counted =>
  isAnswered(counted.state) ? { ...counted, state: 'seen', value: undefined, written: false } : counted;

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

/** Returns the distinct options in a value. */
function chosenIn(value: unknown): Set<string> {
  if (typeof value !== 'object' || value === null) return new Set();
  const { option_id, option_ids, other_text } = value as Record<string, unknown>;
  const ids = [option_id, ...(Array.isArray(option_ids) ? option_ids : []), other_text === undefined ? null : 'other'];
  return new Set(ids.filter(id => typeof id === 'string'));
}

/** Adds an answer, or with `by` -1 subtracts it. Values count for `partial` and `completed` answers. */
export function count(counts: Counts, { state, value, written }: Counted, by: 1 | -1): void {
  counts[state] += by;
  if (written) counts.written += by;
  if (!isAnswered(state)) return;
  const place = scorePlace(value);
  if (place !== undefined) counts.scores[place] = (counts.scores[place] ?? 0) + by;
  for (const id of chosenIn(value)) counts.choices.set(id, (counts.choices.get(id) ?? 0) + by);
}

/** Adds other counts. */
export function addCounts(counts: Counts, more: Counts): void {
  for (const name of ['seen', 'dismissed', 'partial', 'completed', 'written'] as const) counts[name] += more[name];
  counts.scores = counts.scores.map((number, place) => number + (more.scores[place] ?? 0));
  for (const [id, number] of more.choices) counts.choices.set(id, (counts.choices.get(id) ?? 0) + number);
}
