import { type ComponentProps, type ReactNode, useId } from 'react';
import {
  type FieldError,
  type FieldValues,
  get,
  type Path,
  type RegisterOptions,
  type UseFormReturn,
} from 'react-hook-form';
import { t } from '../../i18n.ts';
import styles from './fields.module.css';

interface FieldProps<Values extends FieldValues> {
  form: UseFormReturn<Values>;
  name: Path<Values>;
  label: ReactNode;
  hint?: ReactNode;
  rules?: RegisterOptions<Values>;
}

/** Registers a field in the form and connects its hint and error by id. */
function useField<Values extends FieldValues>({ form, name, rules, hint }: FieldProps<Values>) {
  const id = useId();
  const error = get(form.formState.errors, name) as FieldError | undefined;
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  const input = {
    id,
    'aria-invalid': error ? true : undefined,
    'aria-describedby': described,
    required: Boolean(rules?.required) || undefined,
    ...form.register(name, rules as never),
  };
  return { id, error, input };
}

type Input = ReturnType<typeof useField>['input'];

/** A control between its label and its hint or error; `children` renders it with the given properties. */
function Labeled<Values extends FieldValues>({
  children,
  ...field
}: FieldProps<Values> & { children(input: Input): ReactNode }) {
  const { label, hint } = field;
  const { id, error, input } = useField(field);
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children(input)}
      {hint && (
        <p id={`${id}-hint`} className={styles.hint}>
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className={styles.error}>
          {error.message || t('Required')}
        </p>
      )}
    </div>
  );
}

type Attributes<Tag extends 'input' | 'textarea' | 'select'> = Omit<ComponentProps<Tag>, 'form' | 'name'>;
type Control<Values extends FieldValues, Tag extends 'input' | 'textarea' | 'select'> = FieldProps<Values> &
  Attributes<Tag>;

/** Input for text, a number or a date, by `type`. */
export const TextInput = <V extends FieldValues>({ form, name, label, hint, rules, ...rest }: Control<V, 'input'>) => (
  <Labeled {...{ form, name, label, hint, rules }}>
    {input => (
      <input className={`${styles.input} ${rest.type === 'number' ? styles.narrow : ''}`} {...rest} {...input} />
    )}
  </Labeled>
);

/** Input for a whole number from `min` to `max`; empty is null if it is optional, otherwise NaN. */
export const NumberInput = <V extends FieldValues>({
  optional,
  ...rest
}: FieldProps<V> & { min: number; max: number; optional?: boolean }) => (
  <TextInput type="number" rules={optional ? { setValueAs: numberOrNull } : { valueAsNumber: true }} {...rest} />
);

const numberOrNull = (text: unknown): number | null => (text === '' || text === null ? null : Number(text));

/** Multi-line text input. */
export const TextArea = <V extends FieldValues>({
  form,
  name,
  label,
  hint,
  rules,
  ...rest
}: Control<V, 'textarea'>) => (
  <Labeled {...{ form, name, label, hint, rules }}>
    {input => <textarea className={styles.input} {...rest} {...input} />}
  </Labeled>
);

/** Drop-down list. */
export const SelectInput = <V extends FieldValues>({
  form,
  name,
  label,
  hint,
  rules,
  ...rest
}: Control<V, 'select'>) => (
  <Labeled {...{ form, name, label, hint, rules }}>
    {input => <select className={styles.input} {...rest} {...input} />}
  </Labeled>
);

/** Checkbox. */
export function CheckInput<V extends FieldValues>({
  form,
  name,
  label,
  hint,
  rules,
  ...rest
}: FieldProps<V> & Attributes<'input'>) {
  const { id, input } = useField({ form, name, label, hint, rules });
  return (
    <div className={styles.check}>
      <input type="checkbox" {...rest} {...input} required={undefined} />
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p id={`${id}-hint`} className={styles.hint}>
          {hint}
        </p>
      )}
    </div>
  );
}

export interface Choice {
  value: string;
  label: ReactNode;
  hint?: ReactNode;
}

/** Radio buttons with hints. */
export function Choices<V extends FieldValues>({
  form,
  name,
  label,
  choices,
  disabled,
}: FieldProps<V> & { choices: Choice[]; disabled?: boolean }) {
  const id = useId();
  return (
    <fieldset className={styles.field} disabled={disabled}>
      <legend className={styles.label}>{label}</legend>
      <div className={styles.cards}>
        {choices.map(({ value, label: text, hint }) => (
          <label key={value} className={styles.choice}>
            <input
              type="radio"
              value={value}
              aria-labelledby={`${id}-${value}-label`}
              aria-describedby={hint ? `${id}-${value}` : undefined}
              {...form.register(name)}
            />
            <span id={`${id}-${value}-label`}>{text}</span>
            {hint && (
              <span id={`${id}-${value}`} className={styles.hint}>
                {hint}
              </span>
            )}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Drop-down filter outside a form; `small` shrinks it to its content. */
export function Filter({ label, small, children, ...rest }: Attributes<'select'> & { label: string; small?: boolean }) {
  return (
    <select className={small ? `${styles.input} ${styles.small}` : styles.input} aria-label={label} {...rest}>
      {children}
    </select>
  );
}
