import { useEffect, useRef } from 'react';
import { type DefaultValues, type FieldValues, type UseFormReturn, useForm } from 'react-hook-form';

interface StoredForm {
  /** Whether an edited form keeps all its fields: positions do not identify the entries of two versions of a list. */
  isList?: boolean;
}

/**
 * A form that edits stored values. Values that change on the server meanwhile are shown in the fields without an edit,
 * and an edit that equals the stored value is no edit any more.
 *
 * The form opens with the values as its defaults. With the option `values`, or a reset after it has opened, an input of
 * that moment, such as of a password manager, would be set back.
 */
export function useStoredForm<Values extends FieldValues>(
  stored: Values,
  { isList = false }: StoredForm = {},
): UseFormReturn<Values> {
  const form = useForm<Values>({ defaultValues: stored as DefaultValues<Values> });
  const { isDirty } = form.formState;
  const text = JSON.stringify(stored);
  const taken = useRef(text);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text stands for the values
  useEffect(() => {
    if (taken.current === text || (isList && isDirty)) return;
    taken.current = text;
    form.reset(stored, { keepDirtyValues: !isList });
    form.resetDefaultValues(stored);
  }, [text]);
  return form;
}
