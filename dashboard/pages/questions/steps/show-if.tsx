import { type UseFormReturn, useFieldArray } from 'react-hook-form';
import { Button } from '../../../components/button.tsx';
import { SelectInput } from '../../../components/fields/fields.tsx';
import { Icon } from '../../../components/icon.tsx';
import { t } from '../../../i18n.ts';
import type { QuestionValues } from '../form.ts';
import { Condition } from './condition.tsx';
import { type ComparedStep, newCondition } from './conditions.ts';
import { MAX_CONDITIONS } from './step-values.ts';
import styles from './steps.module.css';

interface ShowIfProps {
  form: UseFormReturn<QuestionValues>;
  /** Position of the step among the follow-ups. */
  index: number;
  /** All steps of the question; the first is the question itself. */
  steps: ComparedStep[];
}

/** Selects when a step is shown: always, or depending on earlier steps. */
export function ShowIf({ form, index, steps }: ShowIfProps) {
  const at = `follow_ups.${index}` as const;
  const { fields, append, remove } = useFieldArray({
    control: form.control,
    name: `${at}.conditions`,
    keyName: 'row',
  });
  const end = index + 1;
  const match = form.watch(`${at}.match`);
  const add = () => append(newCondition(steps[end - 1] as ComparedStep), { shouldFocus: false });
  const begin = () => {
    form.clearErrors(`${at}.match`);
    if (fields.length === 0) add();
  };
  const drop = (number: number) => {
    remove(number);
    if (fields.length === 1) form.setValue(`${at}.match`, 'always', { shouldDirty: true });
    form.setFocus(`${at}.match`);
  };
  return (
    <div className="stack">
      <SelectInput
        form={form}
        name={`${at}.match`}
        label={t('Show this step')}
        rules={{ onChange: event => event.target.value !== 'always' && begin() }}
      >
        <option value="always">{t('Always')}</option>
        <option value="all">{t('If all conditions are met')}</option>
        <option value="any">{t('If at least one condition is met')}</option>
      </SelectInput>
      {match !== 'always' && (
        <div className={styles.conditions}>
          {fields.map(({ row }, number) => (
            <Condition
              key={row}
              form={form}
              name={`${at}.conditions.${number}`}
              number={number + 1}
              steps={steps}
              end={end}
              remove={() => drop(number)}
            />
          ))}
          <div>
            <Button small isDisabled={fields.length >= MAX_CONDITIONS} onPress={add}>
              <Icon name="plus" size={15} /> {t('Add condition')}
            </Button>
          </div>
        </div>
      )}
    </div>
  );
}
