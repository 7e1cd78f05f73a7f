import { useId, useState } from 'react';
import { type UseFormReturn, useController } from 'react-hook-form';
import { useApi } from '../../../api/hooks.ts';
import fields from '../../../components/fields/fields.module.css';
import { CheckInput, NumberInput, SelectInput } from '../../../components/fields/fields.tsx';
import { t } from '../../../i18n.ts';
import { instantOf, wallTimeOf } from '../../../zoned-time.ts';
import editor from '../editor.module.css';
import type { QuestionValues } from '../form.ts';
import { Section } from './section.tsx';
import { TriggerFields } from './trigger.tsx';

type Form = UseFormReturn<QuestionValues>;

interface InstantProps {
  form: Form;
  name: 'schedule.start_at' | 'schedule.end_at';
  label: string;
  hint: string;
  timeZone: string;
}

/** The last time that the field accepts: years of four digits, after which browsers go to the hour. */
const LAST = '9999-12-31T23:59';

/** An instant, entered as the time of the clock in the tenant's time zone; empty is null. */
function InstantInput({ form, name, label, hint, timeZone }: InstantProps) {
  const id = useId();
  const { field, fieldState } = useController({ control: form.control, name });
  /** The text while it is typed. The time of its instant may be another one, which would replace it after each digit. */
  const [typed, setTyped] = useState<string>();
  const type = ({ value, validity }: HTMLInputElement) => {
    setTyped(value);
    field.onChange(value && validity.valid ? instantOf(value, timeZone) : null);
  };
  const leave = () => {
    setTyped(undefined);
    field.onBlur();
  };
  return (
    <div className={fields.field}>
      <label className={fields.label} htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        ref={field.ref}
        type="datetime-local"
        className={fields.input}
        max={LAST}
        value={typed ?? (field.value ? wallTimeOf(field.value, timeZone) : '')}
        onBlur={leave}
        onChange={event => type(event.target)}
        aria-invalid={fieldState.invalid || undefined}
        aria-describedby={`${id}-hint${fieldState.error ? ` ${id}-error` : ''}`}
      />
      <p id={`${id}-hint`} className={fields.hint}>
        {hint}
      </p>
      {fieldState.error && (
        <p id={`${id}-error`} className={fields.error}>
          {fieldState.error.message}
        </p>
      )}
    </div>
  );
}

/** From when to when the question is open. */
function Schedule({ form }: { form: Form }) {
  const { data: tenant } = useApi('GET /v1/tenant', {});
  if (!tenant) return null;
  const { timezone: timeZone } = tenant;
  return (
    <div className={editor.pair}>
      <InstantInput
        {...{ form, timeZone }}
        name="schedule.start_at"
        label={t('Starts at')}
        hint={t('Empty: from publication. Time zone: {zone}', { zone: timeZone })}
      />
      <InstantInput
        {...{ form, timeZone }}
        name="schedule.end_at"
        label={t('Ends at')}
        hint={t('Empty: until it is closed. Time zone: {zone}', { zone: timeZone })}
      />
    </div>
  );
}

/** How often the card is shown to one person. */
const Frequency = ({ form }: { form: Form }) => (
  <>
    <SelectInput
      form={form}
      name="frequency.repeat"
      label={t('Repeat')}
      rules={{
        onChange: event =>
          event.target.value === 'every_days' &&
          form.getValues('frequency.every_days') === null &&
          form.setValue('frequency.every_days', 90, { shouldDirty: true }),
      }}
    >
      <option value="until_answered">{t('Until answered')}</option>
      <option value="once">{t('Once (even if not answered)')}</option>
      <option value="every_days">{t('Again some days after the last answer')}</option>
      <option value="always">{t('Always (several answers per user)')}</option>
    </SelectInput>
    {form.watch('frequency.repeat') === 'every_days' && (
      <NumberInput
        form={form}
        name="frequency.every_days"
        min={1}
        max={730}
        optional
        label={t('Days after the last answer')}
      />
    )}
    <NumberInput
      form={form}
      name="frequency.max_displays"
      min={1}
      max={100}
      optional
      label={t('Maximum number of displays per person')}
      hint={t('Empty: without limit.')}
    />
    <NumberInput
      form={form}
      name="frequency.snooze_after_dismiss_days"
      min={0}
      max={365}
      label={t('Days until shown again after a dismissal')}
    />
    <CheckInput
      form={form}
      name="frequency.ignore_cooldown"
      label={t('Ignore the minimum time between questions')}
      hint={t('Other questions do not delay this one, and it does not delay them.')}
    />
  </>
);

/** The rules in a few words. */
function summaryOf({ schedule, trigger, frequency }: QuestionValues): string {
  const parts = [
    schedule.start_at || schedule.end_at ? t('Scheduled') : '',
    trigger.kind === 'none' ? '' : t('After a trigger'),
    {
      until_answered: t('Until answered'),
      once: t('Once'),
      always: t('Always'),
      every_days: t('Every {days} days', { days: frequency.every_days ?? 0 }),
    }[frequency.repeat],
  ];
  return parts.filter(Boolean).join(' · ');
}

/** When a card is shown: schedule, trigger and frequency. */
export const When = ({ form }: { form: Form }) => (
  <Section
    title={t('When')}
    summary={summaryOf(form.watch())}
    names={['schedule', 'trigger', 'frequency']}
    errors={form.formState.errors}
  >
    <Schedule form={form} />
    <TriggerFields form={form} />
    <Frequency form={form} />
  </Section>
);
