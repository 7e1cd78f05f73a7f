import { useId } from 'react';
import { type UseFormReturn, useController } from 'react-hook-form';
import fields from '../../../components/fields/fields.module.css';
import { t } from '../../../i18n.ts';
import type { QuestionValues } from '../form.ts';
import type { OperandChoice } from './conditions.ts';
import styles from './steps.module.css';

interface OperandProps {
  form: UseFormReturn<QuestionValues>;
  name: `follow_ups.${number}.conditions.${number}.value` | `audience.conditions.${number}.answers`;
  choices: OperandChoice[];
  /** Whether several values can be chosen. */
  isList: boolean;
}

/** The choices, with values that the step no longer has, so that these are seen and can be replaced. */
const withRemoved = (choices: OperandChoice[], value: string[]): OperandChoice[] => [
  ...choices,
  ...value
    .filter(text => !choices.some(choice => choice.value === text))
    .map(text => ({ value: text, label: t('{name} (removed)', { name: text }) })),
];

/** Selects the value, or the values, with which a condition compares a step. */
export function Operand({ form, name, choices, isList }: OperandProps) {
  const id = useId();
  const { field, fieldState } = useController({ control: form.control, name });
  const { value, onChange } = field;
  const error = fieldState.error && (
    <p id={`${id}-error`} className={fields.error}>
      {fieldState.error.message || t('Required')}
    </p>
  );
  const input = {
    onBlur: field.onBlur,
    'aria-invalid': fieldState.invalid || undefined,
    'aria-describedby': fieldState.invalid ? `${id}-error` : undefined,
  };
  const all = withRemoved(choices, value);
  if (!isList)
    return (
      <div className={fields.field}>
        <label className={fields.label} htmlFor={id}>
          {t('Value')}
        </label>
        <select
          id={id}
          ref={field.ref}
          className={fields.input}
          value={value[0] ?? ''}
          onChange={event => onChange(event.target.value === '' ? [] : [event.target.value])}
          {...input}
        >
          <option value="">{t('Select…')}</option>
          {all.map(choice => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
        {error}
      </div>
    );
  const toggle = (text: string) =>
    onChange(value.includes(text) ? value.filter(each => each !== text) : [...value, text]);
  return (
    <fieldset className={fields.field}>
      <legend className={fields.label}>{t('Values')}</legend>
      <div className={styles.values}>
        {all.map((choice, at) => (
          <label key={choice.value} className={styles.value}>
            <input
              type="checkbox"
              ref={at === 0 ? field.ref : undefined}
              checked={value.includes(choice.value)}
              onChange={() => toggle(choice.value)}
              {...input}
            />
            <span>{choice.label}</span>
          </label>
        ))}
      </div>
      {error}
    </fieldset>
  );
}
