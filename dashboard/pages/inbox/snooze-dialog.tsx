import { useForm } from 'react-hook-form';
import { Dialog } from '../../components/dialog.tsx';
import { TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { t } from '../../i18n.ts';
import { canSnoozeUntil, fieldTimeOf, snoozeTimes } from './snooze-times.ts';

interface SnoozeFormProps {
  /** Snoozes until this time; a thrown problem is shown. */
  snooze(until: Date): Promise<unknown>;
}

function SnoozeForm({ snooze }: SnoozeFormProps) {
  const tomorrow = snoozeTimes().find(({ id }) => id === 'tomorrow')?.at ?? new Date();
  const form = useForm({ defaultValues: { until: fieldTimeOf(tomorrow) } });
  return (
    <Form form={form} submitLabel={t('Snooze')} send={({ until }) => snooze(new Date(until))}>
      <TextInput
        form={form}
        name="until"
        type="datetime-local"
        autoFocus
        label={t('Snooze until')}
        hint={t('The conversation opens again at this time, or earlier if the user writes.')}
        rules={{
          required: true,
          validate: text =>
            canSnoozeUntil(new Date(String(text))) || t('Choose a time from one minute to one year ahead.'),
        }}
      />
    </Form>
  );
}

/** Dialog that asks until when to snooze. */
export const SnoozeDialog = ({ isOpen, close, snooze }: SnoozeFormProps & { isOpen: boolean; close(): void }) => (
  <Dialog title={t('Snooze')} isOpen={isOpen} close={close}>
    <SnoozeForm snooze={snooze} />
  </Dialog>
);
