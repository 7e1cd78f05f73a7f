import type { FieldValues, Path, UseFormReturn } from 'react-hook-form';
import { TextInput } from '../components/fields.tsx';
import { t } from '../i18n.ts';

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
