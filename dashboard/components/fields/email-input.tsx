import type { FieldValues, Path, UseFormReturn } from 'react-hook-form';
import { t } from '../../i18n.ts';
import { TextInput } from './fields.tsx';

/** Input for the email address of an account. */
export const EmailInput = <V extends FieldValues>({ form, name }: { form: UseFormReturn<V>; name: Path<V> }) => (
  <TextInput
    form={form}
    name={name}
    label={t('Email')}
    type="email"
    autoComplete="username"
    rules={{ required: true }}
  />
);
