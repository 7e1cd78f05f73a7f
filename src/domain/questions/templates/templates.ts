import { z } from 'zod';
import { int32 } from '../../documented.ts';
import { chooseLocale, indexLocales, rankLocales } from '../../locales.ts';
import { FrequencyOut } from '../../rules/card-rules.ts';
import { FollowUpOut } from '../follow-ups.ts';
import { EXAMPLE_MAIN_STEP, NewQuestion } from '../questions.ts';
import { AnyConfig, QuestionType } from '../types/index.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { STRUCTURES, type TemplateTexts } from './structure.ts';

/** A question to start from. */
export const QuestionTemplate = z
  .object({
    id: z.string().meta({ description: 'The same in every language', example: 'nps' }),
    name: z.string().meta({ example: 'Net Promoter Score' }),
    description: z.string().meta({
      description: 'Purpose of the template, in a sentence for the team',
      example: 'How likely users are to recommend you, and why.',
    }),
    question: z
      .object({
        name: z.string().meta({ example: 'Net Promoter Score' }),
        type: QuestionType,
        title: z.string().meta({ example: EXAMPLE_MAIN_STEP.title }),
        description: z.string().meta({ example: '' }),
        config: AnyConfig,
        follow_ups: z.array(FollowUpOut),
        locale: z.string().meta({ example: 'en' }),
        frequency: z.object(FrequencyOut.shape).meta({ id: 'TemplateFrequency' }),
        allow_public: z.boolean(),
        priority: int32(),
      })
      .meta({ id: 'TemplateQuestion', description: 'A body for `POST /v1/questions`' }),
  })
  .meta({ id: 'QuestionTemplate' });
export type QuestionTemplate = z.output<typeof QuestionTemplate>;

const TEXTS: Record<string, TemplateTexts> = { en, de };

type Structure = (typeof STRUCTURES)[number];
type AnyStep = Structure['steps'][number];

/** The texts of any step; `structure.ts` checks that each step has its own. */
interface AnyStepTexts {
  title: string;
  description?: string;
  labels?: { low: string; high: string };
  options?: Record<string, string>;
}

function contentOf(step: AnyStep, { title, description = '', labels, options = {} }: AnyStepTexts) {
  const { type } = step;
  const config = {
    ...(labels ? { labels } : {}),
    ...('options' in step ? { options: step.options.map(id => ({ id, label: options[id] ?? id })) } : {}),
    ...('config' in step ? step.config : {}),
  };
  return { type, title, description, config };
}

function templateOf(structure: Structure, texts: TemplateTexts, locale: string): QuestionTemplate {
  const { name, description, steps } = texts[structure.id];
  const textsOf = ({ key }: AnyStep) => (steps as Record<string, AnyStepTexts>)[key] as AnyStepTexts;
  const [main, ...others] = structure.steps as readonly [AnyStep, ...AnyStep[]];
  const question = NewQuestion.parse({
    name,
    locale,
    ...contentOf(main, textsOf(main)),
    follow_ups: others.map(step => ({
      key: step.key,
      ...contentOf(step, textsOf(step)),
      ...('required' in step ? { required: step.required } : {}),
      ...('show_if' in step ? { show_if: step.show_if } : {}),
    })),
    ...('frequency' in structure ? { frequency: structure.frequency } : {}),
  });
  return QuestionTemplate.parse({ id: structure.id, name, description, question });
}

/** The templates in each language. */
const TEMPLATES = new Map(
  Object.entries(TEXTS).map(([locale, texts]) => [locale, STRUCTURES.map(each => templateOf(each, texts, locale))]),
);

const LOCALES = indexLocales(TEMPLATES.keys());

/** Returns the templates in the language of a tag such as `de-AT`, else in English. */
export const questionTemplates = (locale: string): QuestionTemplate[] => {
  const found = chooseLocale(rankLocales([locale], LOCALES), TEMPLATES, 'en');
  return TEMPLATES.get(found) as QuestionTemplate[];
};
