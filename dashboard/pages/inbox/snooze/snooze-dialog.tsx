import { useForm } from 'react-hook-form';
import { Dialog } from '../../../components/dialog.tsx';
import { TextInput } from '../../../components/fields/fields.tsx';
import { Form } from '../../../components/fields/form.tsx';
import { t } from '../../../i18n.ts';
import { instantOf, wallTimeOf } from '../../../zoned-time.ts';
import { canSnoozeUntil, snoozeTimes } from './snooze-times.ts';

interface SnoozeFormProps {
  /** Time zone of the tenant. */
  timeZone: string;
  /** Snoozes until this time, an ISO string. */
  snooze(until: string): void;
}

function SnoozeForm({ timeZone, snooze }: SnoozeFormProps) {
  const now = new Date();
  const tomorrow = snoozeTimes(now, timeZone).find(({ id }) => id === 'tomorrow')?.until ?? now.toISOString();
  const form = useForm({ defaultValues: { until: wallTimeOf(tomorrow, timeZone) } });
  const isPossible = (wallTime: string) =>
    canSnoozeUntil(wallTime, timeZone, new Date()) || t('Choose a time from one minute to one year ahead.');
  return (
    <Form form={form} submitLabel={t('Snooze')} send={async ({ until }) => snooze(instantOf(until, timeZone))}>
      <TextInput
        form={form}
        name="until"
        type="datetime-local"
        autoFocus
        label={t('Snooze until')}
        hint={t('The conversation opens again at this time, or earlier if the user writes. Time zone: {zone}.', {
          zone: timeZone,
        })}
        rules={{ required: true, validate: isPossible }}
      />
    </Form>
  );
}

/** Dialog that asks until when to snooze, by the clock of the tenant. */
export const SnoozeDialog = ({ isOpen, close, ...form }: SnoozeFormProps & { isOpen: boolean; close(): void }) => (
  <Dialog title={t('Snooze')} isOpen={isOpen} close={close}>
    <SnoozeForm {...form} />
  </Dialog>
);
