import type { UseFormReturn } from 'react-hook-form';
import type { Schemas } from '../../../api/schema.ts';
import { AttributeInput } from '../../../components/comparison/attribute-input.tsx';
import { ComparisonFields } from '../../../components/comparison/comparison-fields.tsx';
import { SelectInput } from '../../../components/fields/fields.tsx';
import { t } from '../../../i18n.ts';
import { ConditionFrame } from '../condition-frame.tsx';
import type { QuestionValues } from '../form.ts';
import { AnsweredFields } from './answered-fields.tsx';
import { newCondition, type Subject } from './audience-values.ts';

type Attribute = Schemas['IdentityAttribute'];

interface ConditionProps {
  form: UseFormReturn<QuestionValues>;
  name: `audience.conditions.${number}`;
  number: number;
  /** The attributes in use. */
  attributes: Attribute[];
  remove(): void;
}

const subjects = (): Record<Subject, string> => ({
  attribute: t('Attribute of the person'),
  platform: t('Platform'),
  app_version: t('Version of the app'),
  locale: t('Language'),
  verified: t('Verified identity'),
  answered: t('Answer to another question'),
});

/** The name of an attribute. One that is in use sets the type of the value. */
function AttributeName({ form, name, attributes }: Pick<ConditionProps, 'form' | 'name' | 'attributes'>) {
  const takeType = (chosen: string) => {
    const [type] = attributes.find(each => each.name === chosen)?.types ?? [];
    if (!type || type === form.getValues(`${name}.type`)) return;
    const { op, text } = newCondition('attribute', chosen, type);
    form.setValue(`${name}.type`, type);
    form.setValue(`${name}.op`, op);
    form.setValue(`${name}.text`, text);
  };
  return (
    <AttributeInput
      form={form}
      name={`${name}.attribute`}
      label={t('Attribute')}
      attributes={attributes}
      rules={{ required: true, onChange: event => takeType(event.target.value) }}
    />
  );
}

const PLATFORMS = ['web', 'ios', 'android'];

/** A condition on a person: its subject and the comparison. */
export function Condition({ form, name, number, attributes, remove }: ConditionProps) {
  const { subject, attribute } = form.watch(name);
  const known = attributes.find(each => each.name === attribute);
  const change = (next: Subject) => form.setValue(name, newCondition(next), { shouldDirty: true });
  return (
    <ConditionFrame number={number} remove={remove}>
      <SelectInput
        form={form}
        name={`${name}.subject`}
        label={t('Compares')}
        rules={{ onChange: event => change(event.target.value) }}
      >
        {Object.entries(subjects()).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectInput>
      {subject === 'attribute' && <AttributeName {...{ form, name, attributes }} />}
      {subject === 'verified' && (
        <SelectInput form={form} name={`${name}.verified`} label={t('Value')}>
          <option value="true">{t('Yes')}</option>
          <option value="false">{t('No')}</option>
        </SelectInput>
      )}
      {subject === 'answered' && <AnsweredFields form={form} name={name} />}
      {subject !== 'verified' && subject !== 'answered' && (
        <ComparisonFields
          {...{ form, name }}
          hasType={subject === 'attribute' && known?.types.length !== 1}
          samples={subject === 'attribute' ? known?.values : subject === 'platform' ? PLATFORMS : []}
        />
      )}
    </ConditionFrame>
  );
}
