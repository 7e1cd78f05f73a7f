import type { QuestionConfig } from './question-types.ts';

const STEP_BYTES = 300;
const OPTION_BYTES = 110;

/** Returns the heap bytes of a config's options. */
export const optionBytes = (config: QuestionConfig | null): number =>
  config && 'options' in config ? OPTION_BYTES * config.options.length : 0;

/** Returns the heap bytes of the rules of some steps, each with its options. */
export const stepBytes = (steps: readonly { config: QuestionConfig }[]): number =>
  steps.reduce((sum, { config }) => sum + STEP_BYTES + optionBytes(config), 0);
