import { useForm } from 'react-hook-form';
import { Dialog } from '../../components/dialog.tsx';
import { CheckInput, SelectInput, TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { t } from '../../i18n.ts';
import { type CustomField, type CustomValue, hasOptions, inputTypeOf, optionsOf, readValue } from './custom-values.ts';

interface FieldFormProps {
  /** The fields from which to choose. */
  definitions: readonly CustomField[];
  submitLabel: string;
  /** Called with the chosen field and its value; null removes it. */
  apply(field: CustomField, value: CustomValue | null): void;
}

interface Typed {
  key: string;
  value: string;
  isRemoved: boolean;
}

function FieldForm({ definitions, submitLabel, apply }: FieldFormProps) {
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
  const send = async (typed: Typed) => apply(field, isRemoved ? null : readValue(field, typed.value));
  return (
    <Form form={form} submitLabel={submitLabel} send={send}>
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

/** Dialog that asks for one of the tenant's fields, and for the value to which it is changed. */
export const FieldDialog = ({ isOpen, close, ...form }: FieldDialogProps) => (
  <Dialog title={t('Fields')} isOpen={isOpen} close={close}>
    <FieldForm {...form} />
  </Dialog>
);
