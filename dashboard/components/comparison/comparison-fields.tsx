import { useId } from 'react';
import type { FieldValues, Path, UseFormReturn } from 'react-hook-form';
import { t } from '../../i18n.ts';
import { SelectInput, TextInput } from '../fields/fields.tsx';
import {
  type Comparison,
  type ComparisonValues,
  comparisonName,
  comparisonsFor,
  hasList,
  hasValue,
  newComparison,
  typeNames,
  type ValueType,
} from './comparisons.ts';

interface ComparisonFieldsProps<V extends FieldValues> {
  form: UseFormReturn<V>;
  /** Path of the comparison in the form. */
  name: string;
  /** Whether the type of the value can be chosen; it is known for facts about the device. */
  hasType: boolean;
  /** Values in use, as suggestions. */
  samples?: readonly (string | number | boolean)[];
}

const HINTS = (): Partial<Record<ValueType, string>> => ({ version: '1.4.0', date: '2026-11-25' });

/** Type, comparison and value of a condition. */
export function ComparisonFields<V extends FieldValues>({
  form,
  name,
  hasType,
  samples = [],
}: ComparisonFieldsProps<V>) {
  const id = useId();
  const at = (part: keyof ComparisonValues) => `${name}.${part}` as Path<V>;
  const type: ValueType = form.watch(at('type'));
  const op: Comparison = form.watch(at('op'));
  const reset = (next: ValueType) => {
    for (const [part, value] of Object.entries(newComparison(next)))
      form.setValue(at(part as keyof ComparisonValues), value as never, { shouldDirty: true });
  };
  return (
    <>
      {hasType && (
        <SelectInput
          form={form}
          name={at('type')}
          label={t('Type of the value')}
          rules={{ onChange: event => reset(event.target.value) }}
        >
          {Object.entries(typeNames()).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectInput>
      )}
      <SelectInput form={form} name={at('op')} label={t('Comparison')}>
        {comparisonsFor(type).map(each => (
          <option key={each} value={each}>
            {comparisonName(each)}
          </option>
        ))}
        {!comparisonsFor(type).includes(op) && <option value={op}>{comparisonName(op)}</option>}
      </SelectInput>
      {hasValue(op) &&
        (type === 'boolean' ? (
          <SelectInput form={form} name={at('text')} label={t('Value')}>
            <option value="true">{t('Yes')}</option>
            <option value="false">{t('No')}</option>
          </SelectInput>
        ) : (
          <>
            <TextInput
              form={form}
              name={at('text')}
              label={op.endsWith('_days') ? t('Days') : hasList(op) ? t('Values, separated by commas') : t('Value')}
              placeholder={op.endsWith('_days') ? '30' : HINTS()[type]}
              list={samples.length > 0 ? id : undefined}
              autoComplete="off"
              rules={{ required: true }}
            />
            {samples.length > 0 && (
              <datalist id={id}>
                {samples.map(sample => (
                  <option key={String(sample)} value={String(sample)} />
                ))}
              </datalist>
            )}
          </>
        ))}
    </>
  );
}
