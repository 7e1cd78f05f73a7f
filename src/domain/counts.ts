import { type AnswerState, isAnswered } from './answers.ts';

/** What the results of its question count of one stored answer. */
export interface Counted {
  /** The UTC day of the answer's first receipt, `YYYY-MM-DD`: it stays, whatever comes later. */
  day: string;
  question_version: number;
  state: AnswerState;
  /** What was answered to the question itself, where it can be counted: not a text. */
  value: unknown;
  /** Whether the user wrote something: a comment, a text, or the words of "other". */
  written: boolean;
}

/** What an answer adds to the results while another answer to its card is counted: a view without a value. */
export const asView = (counted: Counted): Counted =>
  isAnswered(counted.state) ? { ...counted, state: 'seen', value: undefined, written: false } : counted;

/** How many places `Counts.scores` has: the values 0…10. */
export const SCORE_PLACES = 11;

/** What is counted of some answers to one question. */
export interface Counts {
  seen: number;
  dismissed: number;
  partial: number;
  completed: number;
  written: number;
  /** How often each score was given, that of n at place n; of a yes or no, false at 0 and true at 1. */
  scores: number[];
  /** How often each option was chosen, by its id; `other` for words of the user's own. */
  choices: Map<string, number>;
}

/** Nothing counted yet. */
export const noCounts = (): Counts => ({
  seen: 0,
  dismissed: 0,
  partial: 0,
  completed: 0,
  written: 0,
  scores: new Array<number>(SCORE_PLACES).fill(0),
  choices: new Map(),
});

/** The place of a value among the scores; undefined when it is none. */
function scorePlace(value: unknown): number | undefined {
  const score = typeof value === 'boolean' ? Number(value) : value;
  return Number.isInteger(score) && (score as number) >= 0 && (score as number) < SCORE_PLACES
    ? (score as number)
    : undefined;
}

/** The options that a value chooses, each once. */
function chosenIn(value: unknown): Set<string> {
  if (typeof value !== 'object' || value === null) return new Set();
  const { option_id, option_ids, other_text } = value as Record<string, unknown>;
  const ids = [option_id, ...(Array.isArray(option_ids) ? option_ids : []), other_text === undefined ? null : 'other'];
  return new Set(ids.filter(id => typeof id === 'string'));
}

/** Counts an answer in, or with `by` -1 out again. Values count of answers that are `partial` or `completed`. */
export function count(counts: Counts, { state, value, written }: Counted, by: 1 | -1): void {
  counts[state] += by;
  if (written) counts.written += by;
  if (!isAnswered(state)) return;
  const place = scorePlace(value);
  if (place !== undefined) counts.scores[place] = (counts.scores[place] ?? 0) + by;
  for (const id of chosenIn(value)) counts.choices.set(id, (counts.choices.get(id) ?? 0) + by);
}

/** Adds what was counted elsewhere. */
export function addCounts(counts: Counts, more: Counts): void {
  for (const name of ['seen', 'dismissed', 'partial', 'completed', 'written'] as const) counts[name] += more[name];
  counts.scores = counts.scores.map((number, place) => number + (more.scores[place] ?? 0));
  for (const [id, number] of more.choices) counts.choices.set(id, (counts.choices.get(id) ?? 0) + number);
}
