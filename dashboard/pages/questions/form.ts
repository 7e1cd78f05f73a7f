import type { Schemas } from '../../api/schema.ts';
import type { QuestionType } from '../../words.ts';

type Question = Schemas['Question'];

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

export interface QuestionValues {
  type: QuestionType;
  name: string;
  title: string;
  description: string;
  config: ConfigValues;
  frequency: Question['frequency'];
  allow_public: boolean;
  priority: number;
}

const EMPTY_CONFIG: ConfigValues = {
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

/** Initial values of a new question. */
export const EMPTY_QUESTION: QuestionValues = {
  type: 'nps',
  name: '',
  title: '',
  description: '',
  config: EMPTY_CONFIG,
  frequency: { repeat: 'until_answered', snooze_after_dismiss_days: 30, ignore_cooldown: false },
  allow_public: false,
  priority: 0,
};

/** Editor values of a stored question. */
export const valuesOf = ({
  type,
  name,
  title,
  description,
  config,
  frequency,
  allow_public,
  priority,
}: Question): QuestionValues => ({
  type,
  name,
  title,
  description,
  config: { ...EMPTY_CONFIG, ...config, labels: { ...EMPTY_CONFIG.labels, ...(config.labels as object | undefined) } },
  frequency,
  allow_public,
  priority,
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
    multi_choice: { ...choice, ...(min ? { min } : {}), ...(max ? { max } : {}) },
    text: { min_length, max_length, input },
    date: {},
    consent: {},
    statement: url ? { url } : {},
  };
  return configs[type];
}

/** Request body for the editor values; without a name, the API uses the title. */
export const bodyOf = ({ name, config, ...values }: QuestionValues) => ({
  ...values,
  ...(name.trim() ? { name } : {}),
  config: configOf(values.type, config),
});

/** Returns an unused option id. Ids never change once published. */
export function freeOptionId(options: { id: string }[]): string {
  const taken = new Set(options.map(({ id }) => id));
  let number = options.length + 1;
  while (taken.has(`option-${number}`)) number++;
  return `option-${number}`;
}
