import type { QuestionConfig } from '../questions/types/index.ts';
import type { AudienceNode } from '../rules/audiences.ts';

const STEP_BYTES = 300;
const OPTION_BYTES = 110;

/** Returns the heap bytes of a config's options. */
export const optionBytes = (config: QuestionConfig | null): number =>
  config && 'options' in config ? OPTION_BYTES * config.options.length : 0;

/** Returns the heap bytes of the rules of some steps, each with its options. */
export const stepBytes = (steps: readonly { config: QuestionConfig }[]): number =>
  steps.reduce((sum, { config }) => sum + STEP_BYTES + optionBytes(config), 0);

const CONDITION_BYTES = 500;
const VALUE_BYTES = 32;
/** Versions are parsed, for decisions and for the context. */
const VERSION_BYTES = 400;

/** Returns the heap bytes of a compiled condition of an audience. */
export function conditionBytes(condition: AudienceNode): number {
  const { platform, app_version, locale, answered } = condition;
  const value = condition.value ?? (platform ?? app_version ?? locale ?? answered)?.value;
  const values = Array.isArray(value) ? value.length : 1;
  return CONDITION_BYTES + JSON.stringify(condition).length + values * (app_version ? VERSION_BYTES : VALUE_BYTES);
}
