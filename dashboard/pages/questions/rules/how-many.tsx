import type { UseFormReturn } from 'react-hook-form';
import { NumberInput, SelectInput, TextInput } from '../../../components/fields/fields.tsx';
import { formatNumber, formatShare, t } from '../../../i18n.ts';
import editor from '../editor.module.css';
import type { QuestionValues } from '../form.ts';
import { Section } from './section.tsx';

/** The rules in a few words. */
function summaryOf({ sampling_percent, response_limit: { count } }: QuestionValues): string {
  const share = Number.isFinite(sampling_percent) ? formatShare(sampling_percent / 100, 2) : '';
  return count ? `${share} · ${t('At most {count}', { count: formatNumber(count) })}` : share;
}

/** How many people are asked, and how many answers are counted. */
export const HowMany = ({ form }: { form: UseFormReturn<QuestionValues> }) => (
  <Section
    title={t('How many')}
    summary={summaryOf(form.watch())}
    names={['sampling_percent', 'response_limit', 'priority']}
    errors={form.formState.errors}
  >
    <TextInput
      form={form}
      name="sampling_percent"
      type="number"
      min={0.01}
      max={100}
      step={0.01}
      label={t('Share of people in percent')}
      hint={t('The same people are chosen every time. A higher share keeps those of a lower one.')}
      rules={{ valueAsNumber: true, validate: share => Number(share) > 0 || t('Required') }}
    />
    <div className={editor.pair}>
      <NumberInput
        form={form}
        name="response_limit.count"
        min={1}
        max={1_000_000_000}
        optional
        label={t('Maximum number of answers')}
        hint={t('Empty: without limit. Only completed answers are counted.')}
      />
      <SelectInput
        form={form}
        name="response_limit.per"
        label={t('Counted')}
        hint={t('When the total is reached, the question closes.')}
      >
        <option value="total">{t('In total')}</option>
        <option value="day">{t('Per day')}</option>
        <option value="week">{t('Per week')}</option>
        <option value="month">{t('Per month')}</option>
      </SelectInput>
    </div>
    <NumberInput
      form={form}
      name="priority"
      min={0}
      max={1000}
      label={t('Priority')}
      hint={t('When several questions are due, the one with the highest priority is shown first.')}
    />
  </Section>
);
