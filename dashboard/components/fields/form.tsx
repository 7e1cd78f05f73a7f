import { type ReactNode, useState } from 'react';
import { type FieldValues, get, type Path, type UseFormReturn } from 'react-hook-form';
import { ApiProblem } from '../../api/problem.ts';
import { fieldErrorText } from '../../field-errors.ts';
import { t } from '../../i18n.ts';
import { Button } from '../button.tsx';
import { ProblemNote } from '../problem-note.tsx';
import styles from './fields.module.css';

interface FormProps<Values extends FieldValues> {
  form: UseFormReturn<Values>;
  /** Submits the values; a thrown `ApiProblem` is shown. */
  send(values: Values): Promise<unknown>;
  submitLabel: ReactNode;
  /** Additional buttons next to the submit button. */
  actions?: ReactNode;
  children?: ReactNode;
}

/** Returns the name of the form's field at a JSON pointer: `/config/scale` is `config.scale`. */
type NameOf = (pointer: string) => string;

const sameName: NameOf = pointer => pointer.slice(1).replaceAll('/', '.');

/**
 * Finds the form field with a name. A name below that of a field, such as of an item of a list that is edited as text,
 * returns that field. Returns `undefined` if no field matches.
 */
function fieldAt<Values extends FieldValues>(form: UseFormReturn<Values>, name: string): Path<Values> | undefined {
  const parts = name.split('.');
  const names = parts.map((_, at) => parts.slice(0, parts.length - at).join('.'));
  const isField = (name: string) => Object.hasOwn(get(form.control._fields, name, {}) as object, '_f');
  return names.find(isField) as Path<Values> | undefined;
}

/** Sets each validation error on its field and focuses the first; returns whether every error has a field. */
export function setFieldErrors<Values extends FieldValues>(
  form: UseFormReturn<Values>,
  problem: ApiProblem,
  nameOf: NameOf = sameName,
): boolean {
  const placed = problem.errors.map((error, at) => {
    const name = fieldAt(form, nameOf(error.pointer ?? ''));
    if (name === undefined) return false;
    form.setError(name, { type: 'server', message: fieldErrorText(error) }, { shouldFocus: at === 0 });
    return true;
  });
  return placed.length > 0 && placed.every(Boolean);
}

/**
 * Submits a form: `submit` validates and sends it, with validation errors of the server at their fields. `problem` is any
 * other failure of the last attempt.
 */
export function useSubmit<Values extends FieldValues>(
  form: UseFormReturn<Values>,
  send: (values: Values) => Promise<unknown>,
  nameOf?: NameOf,
) {
  const [problem, setProblem] = useState<ApiProblem>();
  const submit = form.handleSubmit(async values => {
    setProblem(undefined);
    try {
      await send(values);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      if (!setFieldErrors(form, error, nameOf)) setProblem(error);
    }
  });
  return { submit, problem };
}

/** A form that shows validation errors at their fields and other problems above the submit button. */
export function Form<Values extends FieldValues>({ form, send, submitLabel, actions, children }: FormProps<Values>) {
  const { submit, problem } = useSubmit(form, send);
  return (
    <form className={styles.form} noValidate onSubmit={event => void submit(event)}>
      {children}
      {problem && <ProblemNote problem={problem} />}
      <div className={styles.actions}>
        <Button type="submit" look="primary" isPending={form.formState.isSubmitting}>
          {form.formState.isSubmitting ? t('Please wait…') : submitLabel}
        </Button>
        {actions}
      </div>
    </form>
  );
}
