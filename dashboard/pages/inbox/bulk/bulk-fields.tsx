import { useForm } from 'react-hook-form';
import { Dialog } from '../../../components/dialog.tsx';
import { CheckInput, SelectInput, TextInput } from '../../../components/fields/fields.tsx';
import { Form } from '../../../components/fields/form.tsx';
import { t } from '../../../i18n.ts';
import { type CustomField, hasOptions, inputTypeOf, optionsOf } from '../custom-values.ts';
import { fieldChange, type NamedChange } from './bulk-choices.ts';

interface FieldFormProps {
  /** The fields of the tenant. */
  definitions: readonly CustomField[];
  apply(change: NamedChange): void;
}

interface Typed {
  key: string;
  value: string;
  isRemoved: boolean;
}

function FieldForm({ definitions, apply }: FieldFormProps) {
  const form = useForm<Typed>({ defaultValues: { key: definitions[0]?.key ?? '', value: '', isRemoved: false } });
  const [key, isRemoved] = form.watch(['key', 'isRemoved']);
  const field = definitions.find(one => one.key === key);
  if (!field) return null;
  const value = {
    form,
    name: 'value',
    label: t('Value'),
    rules: { required: !isRemoved },
    disabled: isRemoved,
  } as const;
  const send = async (typed: Typed) => apply(fieldChange(field, isRemoved ? '' : typed.value));
  return (
    <Form form={form} submitLabel={t('Change field')} send={send}>
      <SelectInput form={form} name="key" label={t('Field')} rules={{ onChange: () => form.setValue('value', '') }}>
        {definitions.map(one => (
          <option key={one.key} value={one.key}>
            {one.label}
          </option>
        ))}
      </SelectInput>
      {hasOptions(field) ? (
        <SelectInput {...value}>
          <option value="">–</option>
          {optionsOf(field).map(([option, label]) => (
            <option key={option} value={option}>
              {label}
            </option>
          ))}
        </SelectInput>
      ) : (
        <TextInput {...value} type={inputTypeOf(field)} step="any" maxLength={500} />
      )}
      <CheckInput form={form} name="isRemoved" label={t('Remove the value')} />
    </Form>
  );
}

interface FieldDialogProps extends FieldFormProps {
  isOpen: boolean;
  close(): void;
}

/** Dialog that asks which of the tenant's fields to change, and to which value. */
export const FieldDialog = ({ isOpen, close, ...form }: FieldDialogProps) => (
  <Dialog title={t('Fields')} isOpen={isOpen} close={close}>
    <FieldForm {...form} />
  </Dialog>
);
