import type { UseFormReturn } from 'react-hook-form';
import { SelectInput } from '../../../components/fields/fields.tsx';
import { t } from '../../../i18n.ts';
import { ConditionFrame } from '../condition-frame.tsx';
import type { QuestionValues } from '../form.ts';
import {
  type ComparedStep,
  needsList,
  needsValue,
  newCondition,
  operandsFor,
  operatorName,
  operatorsFor,
} from './conditions.ts';
import { Operand } from './operand.tsx';

interface ConditionProps {
  form: UseFormReturn<QuestionValues>;
  name: `follow_ups.${number}.conditions.${number}`;
  number: number;
  /** All steps of the question; those before `end` come before the step with the condition. */
  steps: ComparedStep[];
  end: number;
  remove(): void;
}

const nameOf = ({ title }: ComparedStep, at: number): string =>
  `${at + 1}. ${title || t('Step {number}', { number: at + 1 })}`;

/** One comparison with an earlier step. Steps that were moved behind or removed stay visible until they are replaced. */
export function Condition({ form, name, number, steps, end, remove }: ConditionProps) {
  const condition = form.watch(name);
  const place = steps.findIndex(({ id }) => id === condition.step);
  const step = steps[place];
  const operators = step ? operatorsFor(step.type) : [];
  const reset = (id: string) => {
    const chosen = steps.find(each => each.id === id);
    if (chosen) form.setValue(name, newCondition(chosen), { shouldDirty: true });
    form.clearErrors(name);
  };
  const fit = () => {
    const { op, value } = form.getValues(name);
    if (!needsList(op)) form.setValue(`${name}.value`, value.slice(0, 1), { shouldDirty: true });
    form.clearErrors(name);
  };
  return (
    <ConditionFrame number={number} remove={remove}>
      <SelectInput
        form={form}
        name={`${name}.step`}
        label={t('Step')}
        rules={{ onChange: event => reset(event.target.value) }}
      >
        {steps.slice(0, end).map((each, at) => (
          <option key={each.id} value={each.id}>
            {nameOf(each, at)}
          </option>
        ))}
        {(place < 0 || place >= end) && (
          <option value={condition.step}>
            {step
              ? t('{name} (comes later)', { name: nameOf(step, place) })
              : t('{name} (removed)', { name: condition.step })}
          </option>
        )}
      </SelectInput>
      <SelectInput form={form} name={`${name}.op`} label={t('Comparison')} rules={{ onChange: fit }}>
        {operators.map(op => (
          <option key={op} value={op}>
            {operatorName(op)}
          </option>
        ))}
        {!operators.includes(condition.op) && (
          <option value={condition.op}>{t('{name} (does not fit)', { name: operatorName(condition.op) })}</option>
        )}
      </SelectInput>
      {needsValue(condition.op) && (
        <Operand
          form={form}
          name={`${name}.value`}
          choices={step ? operandsFor(step) : []}
          isList={needsList(condition.op)}
        />
      )}
    </ConditionFrame>
  );
}
