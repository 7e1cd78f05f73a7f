import type { z } from 'zod';
import type { OperandFault } from '../../rules/operators.ts';
import type { Operator } from '../../steps.ts';

/** How the answers to a type are summed up in one figure (`results`). */
export type Measure = 'nps' | 'csat' | 'mean' | 'positive';

/** A question type (contract section 3). All tables by type are made from these. */
export interface TypeDefinition<Config extends z.ZodType = z.ZodType> {
  /** The schema of `config`, with its defaults. */
  config: Config;
  /** A question of the type in examples. */
  example: { title: string; config?: z.input<Config>; allow_public?: boolean };
  /** The main figure of its results; null without one. Such questions may have a comment. */
  measure: Measure | null;
  /** Whether a step of the type has no value: users only read it. */
  isOnlyRead?: boolean;
  /** Returns why a value of an answer is invalid, if it is. */
  check(value: unknown, config: z.output<Config>): string | undefined;
  /** The operators of conditions on such a step. */
  operators: readonly Operator[];
  /** Returns the fault of a value that a condition compares with. Not called for operators without a value. */
  faultOfOperand?(value: unknown, step: { key: string; config: z.output<Config> }): OperandFault | undefined;
  /** The values that differ for conditions: the scores, true and false, one choice of each option; one for any text. */
  values(config: z.output<Config>): readonly unknown[];
  /** For a type with several options in a value: which ones, and how many at most. Conditions are about single ones. */
  choices?(config: z.output<Config>): { ids: string[]; max: number };
  /** Returns why no answer can have a value with this config. A draft may have it. */
  faultOfConfig?(config: z.output<Config>): { field: string; detail: string } | undefined;
}

/** The operators of every type. */
export const ANY_STEP: readonly Operator[] = ['answered', 'not_answered'];

/** Keeps the exact type of a definition's config. */
export const defineType = <Config extends z.ZodType>(definition: TypeDefinition<Config>): TypeDefinition<Config> =>
  definition;
