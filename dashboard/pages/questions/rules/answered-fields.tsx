import type { UseFormReturn } from 'react-hook-form';
import { useList } from '../../../api/hooks.ts';
import type { Schemas } from '../../../api/schema.ts';
import { NumberInput, SelectInput } from '../../../components/fields/fields.tsx';
import { t } from '../../../i18n.ts';
import { configValuesOf } from '../config-values.ts';
import type { QuestionValues } from '../form.ts';
import {
  type ComparedStep,
  needsList,
  needsValue,
  operandsFor,
  operatorName,
  operatorsFor,
} from '../steps/conditions.ts';
import { Operand } from '../steps/operand.tsx';
import type { AnswerType } from './audience-values.ts';

interface AnsweredFieldsProps {
  form: UseFormReturn<QuestionValues>;
  name: `audience.conditions.${number}`;
}

const stepOf = ({ type, title, config }: Schemas['QuestionListItem']): ComparedStep => ({
  ...{ id: 'main', key: 'main', title, type, config: configValuesOf(config) },
});

/** The type of a question's values. */
function answerTypeOf(type: ComparedStep['type']): AnswerType {
  if (type === 'thumbs' || type === 'consent') return 'boolean';
  return ['nps', 'csat', 'ces', 'rating'].includes(type) ? 'number' : 'string';
}

/** Question, comparison and value of a condition on the last answer to another question. */
export function AnsweredFields({ form, name }: AnsweredFieldsProps) {
  const { items, data } = useList('GET /v1/questions', {}, { limit: 100 });
  const { question: id, answerOp: op } = form.watch(name);
  const question = items.find(each => each.id === id);
  const step = question && stepOf(question);
  const choose = (chosen: string) => {
    const next = items.find(each => each.id === chosen);
    if (!next) return;
    form.setValue(`${name}.answerType`, answerTypeOf(next.type));
    form.setValue(`${name}.answerOp`, operatorsFor(next.type)[0] ?? 'answered', { shouldDirty: true });
    form.setValue(`${name}.answers`, [], { shouldDirty: true });
  };
  return (
    <>
      <SelectInput
        key={data ? 'listed' : 'loading'} // a browser unselects an option that is replaced
        form={form}
        name={`${name}.question`}
        label={t('Question to compare')}
        rules={{ required: true, onChange: event => choose(event.target.value) }}
      >
        <option value="">{t('Select…')}</option>
        {items.map(each => (
          <option key={each.id} value={each.id}>
            {each.name}
          </option>
        ))}
        {id && !question && <option value={id}>{id}</option>}
      </SelectInput>
      <SelectInput form={form} name={`${name}.answerOp`} label={t('Comparison')}>
        {(step ? operatorsFor(step.type) : [op]).map(each => (
          <option key={each} value={each}>
            {operatorName(each)}
          </option>
        ))}
      </SelectInput>
      {needsValue(op) && (
        <Operand form={form} name={`${name}.answers`} choices={step ? operandsFor(step) : []} isList={needsList(op)} />
      )}
      <NumberInput
        form={form}
        name={`${name}.within_days`}
        min={1}
        max={3650}
        optional
        label={t('Only answers of the last days')}
      />
    </>
  );
}
