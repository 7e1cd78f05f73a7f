import { type UseFormReturn, useFieldArray } from 'react-hook-form';
import { useAct } from '../../../api/hooks.ts';
import type { Tenant } from '../../../api/names.ts';
import { Button } from '../../../components/button.tsx';
import { NumberInput, TextInput } from '../../../components/fields/fields.tsx';
import { Form } from '../../../components/fields/form.tsx';
import { useStoredForm } from '../../../components/fields/use-stored-form.ts';
import { Icon } from '../../../components/icon.tsx';
import { toast } from '../../../components/toast.tsx';
import { formatNumber, formatTime, t } from '../../../i18n.ts';
import { PRIORITIES, priorityName } from '../../../words.ts';
import styles from './inbox-settings.module.css';
import { DAYS, nextPeriod, type ReplyValues, repliesOf, replyValuesOf, usualHours } from './inbox-values.ts';

/** Longest reply target: a week of office time (contract section 6). */
const MAX_MINUTES = 10_080;

const unit = (value: number, name: 'hour' | 'minute'): string =>
  formatNumber(value, { style: 'unit', unit: name, unitDisplay: 'short' });

/** Returns minutes as hours and minutes; undefined for less than an hour. */
function hoursText(minutes: number | null): string | undefined {
  if (minutes === null || !(minutes >= 60)) return undefined;
  const rest = minutes % 60;
  return [unit(Math.floor(minutes / 60), 'hour'), rest > 0 && unit(rest, 'minute')].filter(Boolean).join(' ');
}

const Targets = ({ form }: { form: UseFormReturn<ReplyValues> }) => (
  <fieldset className={styles.group}>
    <legend>{t('Minutes until a reply is due')}</legend>
    <p className="small quiet">
      {t('By priority, counted in office hours. Conversations of a priority without a target are never due.')}
    </p>
    <div className={styles.targets}>
      {PRIORITIES.toReversed().map(priority => (
        <NumberInput
          key={priority}
          form={form}
          name={`reply_targets.${priority}`}
          label={priorityName(priority)}
          min={1}
          max={MAX_MINUTES}
          optional
          hint={hoursText(form.watch(`reply_targets.${priority}`))}
        />
      ))}
    </div>
  </fieldset>
);

/** 2024 began on a Monday. */
const dayName = (day: number): string =>
  formatTime(new Date(Date.UTC(2024, 0, day)), { weekday: 'long', timeZone: 'UTC' });

interface PeriodsProps {
  form: UseFormReturn<ReplyValues>;
  day: number;
  /** Positions of the day's periods in the form. */
  places: number[];
  add(): void;
  remove(place: number): void;
}

/** The periods of a day, and a button that adds one. */
const DayPeriods = ({ form, day, places, add, remove }: PeriodsProps) => (
  <fieldset className={styles.day}>
    <legend>{dayName(day)}</legend>
    {places.length === 0 && <p className="small quiet">{t('Closed')}</p>}
    {places.map((place, at) => (
      <div key={place} className={styles.period}>
        <TextInput
          form={form}
          name={`office_hours.${place}.from`}
          type="time"
          label={t('From')}
          rules={{ required: true }}
        />
        <TextInput
          form={form}
          name={`office_hours.${place}.to`}
          type="time"
          label={t('To')}
          rules={{ required: true }}
        />
        <Button
          icon
          small
          look="quiet"
          aria-label={t('Remove period {number} of {day}', { number: at + 1, day: dayName(day) })}
          onPress={() => remove(place)}
        >
          <Icon name="close" size={15} />
        </Button>
      </div>
    ))}
    <div>
      <Button small look="quiet" aria-label={t('Add period on {day}', { day: dayName(day) })} onPress={add}>
        <Icon name="plus" size={15} /> {t('Add period')}
      </Button>
    </div>
  </fieldset>
);

function OfficeHours({ form, timezone }: { form: UseFormReturn<ReplyValues>; timezone: string }) {
  const { fields, append, remove, replace } = useFieldArray({ control: form.control, name: 'office_hours' });
  const periods = form.watch('office_hours');
  const placesOf = (day: number) => periods.flatMap((period, at) => (period.day === day ? [at] : []));
  return (
    <fieldset className={styles.group}>
      <legend>{t('Office hours')}</legend>
      <p className="small quiet">
        {fields.length === 0
          ? t('Without office hours, the time of reply targets always runs.')
          : t('In the time zone of the tenant, {timezone}.', { timezone })}
      </p>
      {fields.length === 0 ? (
        <div>
          <Button small onPress={() => replace(usualHours())}>
            {t('Set office hours')}
          </Button>
        </div>
      ) : (
        DAYS.map(day => (
          <DayPeriods
            key={day}
            form={form}
            day={day}
            places={placesOf(day)}
            add={() => append(nextPeriod(form.getValues('office_hours'), day))}
            remove={remove}
          />
        ))
      )}
    </fieldset>
  );
}

/** Reply targets by priority, and the office hours in which they run. */
export function ReplyForm({ tenant, etag }: { tenant: Tenant; etag: string | undefined }) {
  const form = useStoredForm(replyValuesOf(tenant), { isList: true });
  const patch = useAct('PATCH /v1/tenant');
  return (
    <Form
      form={form}
      submitLabel={t('Save changes')}
      send={async values => {
        const saved = await patch.mutateAsync({ body: repliesOf(values), ifMatch: etag });
        form.reset(replyValuesOf(saved));
        toast(t('Saved'));
      }}
    >
      <Targets form={form} />
      <OfficeHours form={form} timezone={tenant.timezone} />
    </Form>
  );
}
