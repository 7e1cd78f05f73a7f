import { type UseFormReturn, useFieldArray } from 'react-hook-form';
import { useAct } from '../../../api/hooks.ts';
import type { Tenant } from '../../../api/names.ts';
import { SelectInput, TextArea, TextInput } from '../../../components/fields/fields.tsx';
import { Form } from '../../../components/fields/form.tsx';
import { useStoredForm } from '../../../components/fields/use-stored-form.ts';
import { toast } from '../../../components/toast.tsx';
import { t } from '../../../i18n.ts';
import { EntryList } from './entry-list.tsx';
import { type FieldValues, fieldsOf, fieldValuesOf, keyOf, newField } from './inbox-values.ts';

const MAX_FIELDS = 20;

interface Values {
  custom_fields: FieldValues[];
}

const typeNames = (): Record<FieldValues['type'], string> => ({
  text: t('Text'),
  number: t('Number'),
  boolean: t('Yes or no'),
  date: t('Date'),
  choice: t('Choice'),
});

/** The inputs of a field. The key of a new one follows its label until it is edited. */
function FieldInputs({ form, at }: { form: UseFormReturn<Values>; at: number }) {
  const name = `custom_fields.${at}` as const;
  const { type, isNew } = form.watch(name);
  const follow = (label: string) => {
    const isTyped = form.getFieldState(`${name}.key`).isTouched;
    if (isNew && !isTyped) form.setValue(`${name}.key`, keyOf(label), { shouldDirty: true });
  };
  return (
    <>
      <TextInput
        form={form}
        name={`${name}.label`}
        label={t('Name')}
        maxLength={80}
        rules={{ required: true, onChange: event => follow(event.target.value) }}
      />
      <TextInput
        form={form}
        name={`${name}.key`}
        label={t('Key')}
        hint={t('Name of the field in the API.')}
        maxLength={40}
        readOnly={!isNew}
        rules={{ required: true }}
      />
      <SelectInput form={form} name={`${name}.type`} label={t('Type')}>
        {Object.entries(typeNames()).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectInput>
      {type === 'choice' && (
        <TextArea
          form={form}
          name={`${name}.options`}
          label={t('Options')}
          hint={t('One per line.')}
          rows={3}
          rules={{ required: true }}
        />
      )}
    </>
  );
}

function FieldList({ form }: { form: UseFormReturn<Values> }) {
  const { fields, append, remove, move } = useFieldArray({ control: form.control, name: 'custom_fields' });
  return (
    <EntryList
      entries={fields}
      maximum={MAX_FIELDS}
      addLabel={t('Add field')}
      add={() => append(newField(), { focusName: `custom_fields.${fields.length}.label` })}
      heading={at => <h3 className="wrap-anywhere">{form.watch(`custom_fields.${at}.label`) || t('New field')}</h3>}
      name={at => t('field {number}', { number: at + 1 })}
      inputs={at => <FieldInputs form={form} at={at} />}
      move={move}
      remove={remove}
    />
  );
}

/** The fields that a team adds to its conversations. */
export function CustomFieldsForm({ tenant, etag }: { tenant: Tenant; etag: string | undefined }) {
  const form = useStoredForm<Values>({ custom_fields: fieldValuesOf(tenant.custom_fields) }, { isList: true });
  const patch = useAct('PATCH /v1/tenant');
  return (
    <Form
      form={form}
      submitLabel={t('Save changes')}
      send={async typed => {
        const body = { custom_fields: fieldsOf(typed.custom_fields) };
        const saved = await patch.mutateAsync({ body, ifMatch: etag });
        form.reset({ custom_fields: fieldValuesOf(saved.custom_fields) });
        toast(t('Saved'));
      }}
    >
      <FieldList form={form} />
    </Form>
  );
}
