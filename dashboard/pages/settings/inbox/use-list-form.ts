import { useEffect } from 'react';
import { type DefaultValues, type FieldValues, useForm } from 'react-hook-form';

/**
 * A form with lists. Stored values that change meanwhile are shown unless the form was edited: positions do not
 * identify the entries of two versions.
 */
export function useListForm<Values extends FieldValues>(stored: Values) {
  const form = useForm<Values>({ defaultValues: stored as DefaultValues<Values> });
  const { isDirty } = form.formState;
  const text = JSON.stringify(stored);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text stands for the values
  useEffect(() => {
    if (!isDirty) form.reset(stored);
  }, [text]);
  return form;
}
