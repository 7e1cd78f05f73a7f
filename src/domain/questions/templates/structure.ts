import { completeFrequency, type Frequency } from '../../rules/card-rules.ts';
import type { ShowIf } from '../../steps.ts';
import type { QuestionType } from '../types/index.ts';

/** A step of a template, without texts. */
interface StepStructure {
  key: string;
  type: QuestionType;
  /** Ids of the options of a choice. */
  options?: readonly string[];
  /** Whether the ends of the scale have labels. */
  hasLabels?: true;
  config?: Readonly<Record<string, unknown>>;
  required?: true;
  show_if?: ShowIf;
}

interface TemplateStructure {
  id: string;
  /** The first step is the question itself. */
  steps: readonly [StepStructure, ...StepStructure[]];
  frequency?: Frequency;
}

/** Shown whenever the app opens the card, such as behind a button. */
const ANY_TIME: Frequency = completeFrequency({
  repeat: 'always',
  snooze_after_dismiss_days: 0,
  ignore_cooldown: true,
});

/** The templates in the order in which they are offered. Their texts are in a file per language. */
export const STRUCTURES = [
  {
    id: 'nps',
    steps: [
      { key: 'main', type: 'nps', hasLabels: true },
      { key: 'improve', type: 'text', show_if: { step: 'main', op: 'lte', value: 8 } },
      { key: 'like', type: 'text', show_if: { step: 'main', op: 'gte', value: 9 } },
    ],
    frequency: completeFrequency({ repeat: 'every_days', every_days: 90 }),
  },
  {
    id: 'csat',
    steps: [
      { key: 'main', type: 'csat', hasLabels: true, config: { style: 'smiley' } },
      { key: 'improve', type: 'text', show_if: { step: 'main', op: 'lte', value: 3 } },
    ],
  },
  {
    id: 'ces',
    steps: [
      { key: 'main', type: 'ces', hasLabels: true, config: { scale: 7 } },
      { key: 'obstacle', type: 'text', show_if: { step: 'main', op: 'lte', value: 4 } },
    ],
  },
  {
    id: 'product-market-fit',
    steps: [
      { key: 'main', type: 'single_choice', options: ['very', 'somewhat', 'not'] },
      { key: 'benefit', type: 'text', show_if: { step: 'main', op: 'in', value: ['very', 'somewhat'] } },
      { key: 'audience', type: 'text', show_if: { step: 'main', op: 'eq', value: 'very' } },
      { key: 'improve', type: 'text' },
    ],
  },
  {
    id: 'churn',
    steps: [
      {
        key: 'main',
        type: 'single_choice',
        options: ['price', 'features', 'usability', 'problems', 'competitor', 'need'],
        config: { allow_other: true, shuffle: true },
      },
      { key: 'missing', type: 'text', show_if: { step: 'main', op: 'eq', value: 'features' } },
      { key: 'problem', type: 'text', show_if: { step: 'main', op: 'in', value: ['usability', 'problems'] } },
      { key: 'competitor', type: 'text', show_if: { step: 'main', op: 'eq', value: 'competitor' } },
      { key: 'return', type: 'text' },
    ],
  },
  {
    id: 'onboarding',
    steps: [
      {
        key: 'main',
        type: 'single_choice',
        options: ['evaluate', 'switch', 'team', 'learn'],
        config: { allow_other: true },
      },
      { key: 'previous', type: 'text', show_if: { step: 'main', op: 'eq', value: 'switch' } },
      { key: 'goal', type: 'text' },
      {
        key: 'source',
        type: 'single_choice',
        options: ['search', 'recommendation', 'social', 'article', 'event'],
        config: { allow_other: true, shuffle: true },
      },
    ],
  },
  {
    id: 'feature-request',
    steps: [
      { key: 'main', type: 'text', config: { max_length: 2000 } },
      { key: 'importance', type: 'rating', hasLabels: true, config: { scale: 5, style: 'number' } },
      { key: 'today', type: 'text', show_if: { step: 'importance', op: 'gte', value: 4 } },
      { key: 'contact', type: 'consent' },
    ],
    frequency: ANY_TIME,
  },
  {
    id: 'bug-report',
    steps: [
      { key: 'main', type: 'text', config: { max_length: 5000 } },
      { key: 'expected', type: 'text' },
      { key: 'frequency', type: 'single_choice', options: ['once', 'sometimes', 'always'], required: true },
      { key: 'impact', type: 'single_choice', options: ['minor', 'workaround', 'blocked'], required: true },
      { key: 'email', type: 'text', config: { input: 'email', max_length: 320 } },
    ],
    frequency: ANY_TIME,
  },
] as const satisfies readonly TemplateStructure[];

type Structure = (typeof STRUCTURES)[number];
export type TemplateId = Structure['id'];

/** The texts of a step, as its structure requires them. */
type StepTexts<Step> = { title: string; description?: string } & (Step extends {
  options: readonly (infer Id extends string)[];
}
  ? { options: Record<Id, string> }
  : unknown) &
  (Step extends { hasLabels: true } ? { labels: { low: string; high: string } } : unknown);

/** All texts of the templates in one language. A missing one does not compile. */
export type TemplateTexts = {
  [Each in Structure as Each['id']]: {
    name: string;
    /** The purpose of the template, in a sentence. */
    description: string;
    steps: { [Step in Each['steps'][number] as Step['key']]: StepTexts<Step> };
  };
};
