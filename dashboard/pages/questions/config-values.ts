import type { Schemas } from '../../api/schema.ts';
import type { QuestionType } from '../../words.ts';

/** Config values of all types at once, so that switching the type in the editor keeps them. */
export interface ConfigValues {
  labels: { low: string; high: string };
  style: 'number' | 'smiley' | 'star';
  scale: number;
  options: { id: string; label: string }[];
  allow_other: boolean;
  shuffle: boolean;
  min: number | null;
  max: number | null;
  min_length: number;
  max_length: number;
  input: 'text' | 'email' | 'url' | 'number';
  url: string;
}

export const EMPTY_CONFIG: ConfigValues = {
  labels: { low: '', high: '' },
  style: 'number',
  scale: 5,
  options: [
    { id: 'option-1', label: '' },
    { id: 'option-2', label: '' },
  ],
  allow_other: false,
  shuffle: false,
  min: null,
  max: null,
  min_length: 0,
  max_length: 5000,
  input: 'text',
  url: '',
};

/** Editor values of a stored config. */
export const configValuesOf = (config: Schemas['QuestionConfig']): ConfigValues => ({
  ...EMPTY_CONFIG,
  ...config,
  labels: { ...EMPTY_CONFIG.labels, ...config.labels },
});

/** Omits empty labels; the API rejects an empty `labels` object. */
function labelsOf({ labels: { low, high } }: ConfigValues): { labels?: { low?: string; high?: string } } {
  if (!low && !high) return {};
  return { labels: { ...(low ? { low } : {}), ...(high ? { high } : {}) } };
}

/** Picks the config of one type from the editor values. */
export function configOf(type: QuestionType, config: ConfigValues): Record<string, unknown> {
  const { style, scale, options, allow_other, shuffle, min, max, min_length, max_length, input, url } = config;
  const choice = { options: options.map(({ id, label }) => ({ id, label })), allow_other, shuffle };
  const labels = labelsOf(config);
  const configs: Record<QuestionType, Record<string, unknown>> = {
    nps: labels,
    csat: { style, ...labels },
    ces: { scale, ...labels },
    rating: { scale, style, ...labels },
    thumbs: {},
    single_choice: choice,
    multi_choice: { ...choice, ...(min === null ? {} : { min }), ...(max === null ? {} : { max }) },
    text: { min_length, max_length, input },
    date: {},
    consent: {},
    statement: url ? { url } : {},
  };
  return configs[type];
}

/** Returns an unused option id. Ids never change once published. */
export function freeOptionId(options: { id: string }[]): string {
  const taken = new Set(options.map(({ id }) => id));
  let number = options.length + 1;
  while (taken.has(`option-${number}`)) number++;
  return `option-${number}`;
}
