import type { UseFormReturn } from 'react-hook-form';
import { Button } from '../../components/button.tsx';
import { SelectInput } from '../../components/fields/fields.tsx';
import { Note } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import { PLACEMENTS, placementName } from '../../words.ts';
import type { QuestionValues } from './form.ts';

/** Where the card appears. A button that waits for a press must not take the place of other questions. */
export function PlacementField({ form }: { form: UseFormReturn<QuestionValues> }) {
  const lacksCooldown = form.watch('placement') === 'button' && !form.watch('frequency.ignore_cooldown');
  const ignore = () => {
    form.setValue('frequency.ignore_cooldown', true, { shouldDirty: true });
    form.clearErrors('placement');
    form.setFocus('placement');
  };
  return (
    <>
      <SelectInput
        form={form}
        name="placement"
        label={t('Placement')}
        hint={t('Where the card appears in your app. All but “within the page” need the placements of the client.')}
        rules={{
          validate: placement =>
            placement !== 'button' ||
            form.getValues('frequency.ignore_cooldown') ||
            t('A feedback button has to ignore the minimum time between questions.'),
        }}
      >
        <option value="">{t('As in the settings of the tenant')}</option>
        {PLACEMENTS.map(placement => (
          <option key={placement} value={placement}>
            {placementName(placement)}
          </option>
        ))}
      </SelectInput>
      {lacksCooldown && (
        <Note tone="warn">
          <p>
            {t(
              'A button waits until it is pressed. Under the minimum time between questions it would keep all other questions away, so it has to ignore that time.',
            )}
          </p>
          <div>
            <Button small onPress={ignore}>
              {t('Ignore the minimum time')}
            </Button>
          </div>
        </Note>
      )}
    </>
  );
}
