import type { FieldValues, Path, UseFormReturn } from 'react-hook-form';
import { t } from '../../i18n.ts';
import { TextInput } from './fields.tsx';

const MIN_LENGTH = 12;

/** Input for a new password. */
export const NewPassword = <V extends FieldValues>({
  form,
  name,
  label,
}: {
  form: UseFormReturn<V>;
  name: Path<V>;
  label?: string;
}) => (
  <TextInput
    form={form}
    name={name}
    label={label ?? t('Password')}
    hint={t('At least {least} characters. A few words are easier to remember than symbols.', { least: MIN_LENGTH })}
    type="password"
    autoComplete="new-password"
    rules={{
      required: true,
      minLength: { value: MIN_LENGTH, message: t('At least {least} characters.', { least: MIN_LENGTH }) },
    }}
  />
);
