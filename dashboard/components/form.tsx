import { type ReactNode, useState } from 'react';
import { type FieldValues, get, type Path, type UseFormReturn } from 'react-hook-form';
import { ApiProblem } from '../api/problem.ts';
import { t } from '../i18n.ts';
import { Button } from './button.tsx';
import styles from './fields.module.css';
import { ProblemNote } from './problem-note.tsx';

interface FormProps<Values extends FieldValues> {
  form: UseFormReturn<Values>;
  /** Sends the values; what it throws is shown. */
  send(values: Values): Promise<unknown>;
  submitLabel: ReactNode;
  /** Further buttons beside the one that sends. */
  actions?: ReactNode;
  children?: ReactNode;
}

/**
 * The field of the form that a JSON pointer of a problem means: `/config/scale` is `config.scale`. A place within a field,
 * such as a line of a text that is sent as a list, is that field; a place in none is `undefined`.
 */
function fieldAt<Values extends FieldValues>(form: UseFormReturn<Values>, pointer: string): Path<Values> | undefined {
  const parts = pointer.split('/').slice(1);
  const names = parts.map((_, at) => parts.slice(0, parts.length - at).join('.'));
  const isField = (name: string) => Object.hasOwn(get(form.control._fields, name, {}) as object, '_f');
  return names.find(isField) as Path<Values> | undefined;
}

/** Puts each fault of a problem at its field; gives whether all found one. */
function placeFaults<Values extends FieldValues>(form: UseFormReturn<Values>, problem: ApiProblem): boolean {
  const placed = problem.errors.map(({ pointer, detail }) => {
    const name = fieldAt(form, pointer);
    if (name === undefined) return false;
    form.setError(name, { type: 'server', message: detail }, { shouldFocus: true });
    return true;
  });
  return placed.length > 0 && placed.every(Boolean);
}

/** A form that shows faults at their fields and everything else as a problem above its button. */
export function Form<Values extends FieldValues>({ form, send, submitLabel, actions, children }: FormProps<Values>) {
  const [problem, setProblem] = useState<ApiProblem>();
  const submit = form.handleSubmit(async values => {
    setProblem(undefined);
    try {
      await send(values);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      if (!placeFaults(form, error)) setProblem(error);
    }
  });
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
