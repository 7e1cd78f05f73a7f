import type { UseFormReturn } from 'react-hook-form';
import { TextInput } from '../../components/fields/fields.tsx';
import { t } from '../../i18n.ts';

/** Input of the hours for which a former secret stays valid. */
export const GracePeriodInput = ({ form }: { form: UseFormReturn<{ overlap_hours: number }> }) => (
  <TextInput
    form={form}
    name="overlap_hours"
    autoFocus
    type="number"
    min={0}
    max={168}
    label={t('Grace period (hours)')}
    hint={t('Up to 168 hours (one week).')}
    rules={{ required: true, valueAsNumber: true }}
  />
);
