import { type UseFormReturn, useFieldArray } from 'react-hook-form';
import { useApi } from '../../../api/hooks.ts';
import { Button } from '../../../components/button.tsx';
import { CheckInput, SelectInput } from '../../../components/fields/fields.tsx';
import { Icon } from '../../../components/icon.tsx';
import { t } from '../../../i18n.ts';
import type { QuestionValues } from '../form.ts';
import styles from '../steps/steps.module.css';
import { type AudienceValues, MAX_CONDITIONS, newCondition } from './audience-values.ts';
import { Condition } from './condition.tsx';
import { Section } from './section.tsx';

/** The audience in a few words. */
const summaryOf = ({ match, conditions }: AudienceValues): string =>
  match === 'everyone' || (match !== 'nested' && conditions.length === 0)
    ? t('Everyone')
    : match === 'nested'
      ? t('Groups of conditions')
      : t('{count, plural, one {# condition} other {# conditions}}', { count: conditions.length });

/** The conditions on a person. */
function Conditions({ form }: { form: UseFormReturn<QuestionValues> }) {
  const { data } = useApi('GET /v1/identity-attributes', {});
  const { fields, append, remove } = useFieldArray({
    control: form.control,
    name: 'audience.conditions',
    keyName: 'row',
  });
  const drop = (at: number) => {
    remove(at);
    if (fields.length === 1) form.setValue('audience.match', 'everyone', { shouldDirty: true });
    form.setFocus('audience.match');
  };
  return (
    <div className={styles.conditions}>
      {fields.map(({ row }, at) => (
        <Condition
          key={row}
          form={form}
          name={`audience.conditions.${at}`}
          number={at + 1}
          attributes={data?.data ?? []}
          remove={() => drop(at)}
        />
      ))}
      <div>
        <Button
          small
          isDisabled={fields.length >= MAX_CONDITIONS}
          onPress={() => append(newCondition('attribute'), { shouldFocus: false })}
        >
          <Icon name="plus" size={15} /> {t('Add condition')}
        </Button>
      </div>
    </div>
  );
}

/** Who is asked: everyone, or the people to whom conditions apply. */
export function Who({ form }: { form: UseFormReturn<QuestionValues> }) {
  const audience = form.watch('audience');
  const begin = (match: string) => {
    form.clearErrors('audience');
    if (match === 'everyone' || match === 'nested' || audience.conditions.length > 0) return;
    form.setValue('audience.conditions', [newCondition('attribute')], { shouldDirty: true });
  };
  return (
    <Section
      title={t('Who')}
      summary={summaryOf(audience)}
      names={['audience', 'allow_public']}
      errors={form.formState.errors}
    >
      <SelectInput
        form={form}
        name="audience.match"
        label={t('Ask')}
        hint={
          audience.match === 'nested'
            ? t('The audience has groups in groups. They can be edited with the API.')
            : undefined
        }
        rules={{ onChange: event => begin(event.target.value) }}
      >
        <option value="everyone">{t('Everyone')}</option>
        <option value="all">{t('People to whom all conditions apply')}</option>
        <option value="any">{t('People to whom at least one condition applies')}</option>
        <option value="none">{t('People to whom no condition applies')}</option>
        {audience.nested && <option value="nested">{t('Groups of conditions')}</option>}
      </SelectInput>
      {audience.match !== 'everyone' && audience.match !== 'nested' && <Conditions form={form} />}
      <CheckInput
        form={form}
        name="allow_public"
        label={t('Show in apps that use a public key')}
        hint={t('Users of these apps are not verified. Their answers are marked as unverified.')}
      />
    </Section>
  );
}
