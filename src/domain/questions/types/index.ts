import { z } from 'zod';
import { int32 } from '../../documented.ts';
import { ces } from './ces.ts';
import { consent } from './consent.ts';
import { csat } from './csat.ts';
import { date } from './date.ts';
import type { TypeDefinition } from './definition.ts';
import { multiChoice } from './multi-choice.ts';
import { EXAMPLE_LABELS, nps } from './nps.ts';
import { rating } from './rating.ts';
import { ScaleStyle } from './scale.ts';
import { singleChoice } from './single-choice.ts';
import { statement } from './statement.ts';
import { TextInput, text } from './text.ts';
import { thumbs } from './thumbs.ts';

/** All question types, in the order of the documents. */
export const TYPES = {
  nps,
  csat,
  ces,
  rating,
  thumbs,
  single_choice: singleChoice,
  multi_choice: multiChoice,
  text,
  date,
  consent,
  statement,
} as const;

export type QuestionType = keyof typeof TYPES;
export type ConfigOf<T extends QuestionType> = z.output<(typeof TYPES)[T]['config']>;
export type QuestionConfig = ConfigOf<QuestionType>;

export const QUESTION_TYPES = Object.keys(TYPES) as [QuestionType, ...QuestionType[]];
export const QuestionType = z.enum(QUESTION_TYPES);

/** Returns the definition of a type, for a config that has been checked with it. */
export const definitionOf = (type: QuestionType): TypeDefinition<z.ZodType<QuestionConfig>> => TYPES[type] as never;

/** Makes a schema for each type, to combine them in a union. `Made` is the TypeScript type that all of them have. */
export const eachType = <Made>(make: (type: QuestionType) => unknown) =>
  QUESTION_TYPES.map(type => make(type)) as [Made, ...Made[]];

/** The `config` in replies: the fields of all types, of which each question has those of its type. */
export const AnyConfig = z
  .object({
    labels: z
      .object({ low: z.string().optional(), high: z.string().optional() })
      .optional()
      .meta({ id: 'Labels', description: 'Labels of the ends of the scale', example: EXAMPLE_LABELS }),
    scale: int32(1).optional().meta({ description: '`ces`, `rating`: the highest value' }),
    style: ScaleStyle.optional().meta({ description: '`csat`, `rating`' }),
    options: z
      .array(z.object({ id: z.string(), label: z.string() }).meta({ id: 'ChoiceOption' }))
      .optional()
      .meta({ description: '`single_choice`, `multi_choice`' }),
    allow_other: z.boolean().optional().meta({ description: 'Whether a text for "other" is allowed' }),
    shuffle: z.boolean().optional().meta({ description: 'Whether clients show the options in random order' }),
    min: int32().optional().meta({ description: '`multi_choice`: minimum number of choices' }),
    max: int32().optional().meta({ description: '`multi_choice`: maximum number of choices' }),
    min_length: int32().optional().meta({ description: '`text`' }),
    max_length: int32().optional().meta({ description: '`text`' }),
    input: TextInput.optional().meta({ description: '`text`: the form of the value' }),
    url: z.string().optional().meta({ description: '`statement`: the address that it links to' }),
  })
  .meta({ id: 'QuestionConfig', description: 'Settings of the question; each type has some of them' });

/** `single_choice` as `SingleChoice`. */
export const inPascalCase = (type: QuestionType): string =>
  type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
