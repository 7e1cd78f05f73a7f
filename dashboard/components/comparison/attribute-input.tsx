import { useId } from 'react';
import type { FieldValues, Path, RegisterOptions, UseFormReturn } from 'react-hook-form';
import type { Schemas } from '../../api/schema.ts';
import { TextInput } from '../fields/fields.tsx';

interface AttributeInputProps<V extends FieldValues> {
  form: UseFormReturn<V>;
  name: Path<V>;
  label: string;
  /** The attributes in use, as suggestions. */
  attributes: readonly Schemas['IdentityAttribute'][];
  rules?: RegisterOptions<V, Path<V>>;
}

/** The name of an attribute. */
export function AttributeInput<V extends FieldValues>({ attributes, ...input }: AttributeInputProps<V>) {
  const id = useId();
  return (
    <>
      <TextInput {...input} placeholder="plan" maxLength={64} list={id} autoComplete="off" />
      <datalist id={id}>
        {attributes.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
