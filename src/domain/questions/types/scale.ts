import { z } from 'zod';
import { text } from '../../text.ts';
import { ANY_STEP, type TypeDefinition } from './definition.ts';

const Labels = z
  .strictObject({ low: text(80), high: text(80) })
  .partial()
  .meta({ id: 'ScaleLabels', description: 'Labels of the ends of the scale' });

/** The labels of a scale in `config`. */
export const labels = Labels.optional();

/** How a scale is drawn. */
export const ScaleStyle = z.enum(['number', 'smiley', 'star']);

interface Scale {
  min: number;
  max: number;
}

const isOn = ({ min, max }: Scale, value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;

/** Returns the common parts of all types whose value is an integer of a scale. */
export const onScale = <Config extends z.ZodType>(
  scaleOf: (config: z.output<Config>) => Scale,
): Pick<TypeDefinition<Config>, 'check' | 'operators' | 'faultOfOperand' | 'values'> => ({
  check(value, config) {
    const scale = scaleOf(config);
    return isOn(scale, value) ? undefined : `Must be an integer from ${scale.min} to ${scale.max}.`;
  },
  operators: [...ANY_STEP, 'eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in'],
  faultOfOperand(value, { config }) {
    if (typeof value !== 'number') return ['wrong-type', 'Must be a number such as 6.'];
    const scale = scaleOf(config);
    if (isOn(scale, value)) return undefined;
    return ['out-of-range', `Must be an integer from ${scale.min} to ${scale.max}, the scale of the step.`];
  },
  values(config) {
    const { min, max } = scaleOf(config);
    return Array.from({ length: max - min + 1 }, (_, index) => min + index);
  },
});
