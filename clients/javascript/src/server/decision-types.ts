import type { Audience } from './types.ts';

/** A condition of a card, in the order in which they are evaluated. */
export type Gate =
  | 'status'
  | 'schedule'
  | 'public'
  | 'frequency'
  | 'sampling'
  | 'limit'
  | 'audience'
  | 'cooldown'
  | (string & {});

/** The device that the app would name; without a field, that of the profile. */
export interface CardDecisionsQuery {
  verified?: boolean;
  platform?: string;
  app_version?: string;
  locale?: string;
}

/** Whether a gate lets the card pass. */
export interface GateDecision {
  gate: Gate;
  passed: boolean;
  /** The time from which it passes if nothing else changes. */
  passes_at: string | null;
}

/** Whether a user sees the card of a question, and why not. */
export interface CardDecision {
  question_id: string;
  name: string;
  shown: boolean;
  gates: GateDecision[];
}

/** The decision on the card of each question for a user. */
export interface CardDecisions {
  identity: string;
  verified: boolean;
  data: CardDecision[];
}

/** Rules to evaluate instead of those of the question. */
export interface ReachRequest {
  audience?: Audience | null;
  sampling_percent?: number;
}

/** The number of people whom a question would reach now, of those who were shown a card last. */
export interface Reach {
  judged: number;
  reached: number;
  /** The number of others by the first gate that fails. */
  withheld: Record<string, number>;
}
