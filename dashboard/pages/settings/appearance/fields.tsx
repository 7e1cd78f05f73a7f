import type { UseFormReturn } from 'react-hook-form';
import type { Contrast } from '../../../api/problem.ts';
import { Choices, NumberInput, SelectInput } from '../../../components/fields/fields.tsx';
import { t } from '../../../i18n.ts';
import { PLACEMENTS, placementName } from '../../../words.ts';
import { ColorField } from './color-field.tsx';
import type { AppearanceValues, ColorName } from './form.ts';

interface FieldsProps {
  form: UseFormReturn<AppearanceValues>;
  /** The contrasts that the server has refused. */
  contrasts: Contrast[];
}

/** The colors with their labels and hints. */
const colors = (): [name: ColorName, label: string, hint: string][] => [
  ['accent', t('Accent color'), t('Chosen values and the main button. The text on it is black or white.')],
  ['background', t('Background color'), t('The background of the card in every theme.')],
  ['text', t('Text color'), t('All texts in every theme.')],
];

/** The fields of the appearance. */
export const AppearanceFields = ({ form, contrasts }: FieldsProps) => (
  <>
    <Choices
      form={form}
      name="theme"
      label={t('Theme')}
      choices={[
        { value: 'auto', label: t('As the visitor'), hint: t('Light or dark, as their system is') },
        { value: 'page', label: t('As the page'), hint: t('Follows the background around the card') },
        { value: 'light', label: t('Light') },
        { value: 'dark', label: t('Dark') },
      ]}
    />
    {colors().map(([name, label, hint]) => (
      <ColorField
        key={name}
        {...{ form, name, label, hint }}
        contrast={contrasts.find(({ field }) => field === name)}
      />
    ))}
    <NumberInput
      form={form}
      name="radius"
      min={0}
      max={24}
      label={t('Radius of corners')}
      hint={t('In pixels, from 0 to 24.')}
    />
    <SelectInput form={form} name="font" label={t('Font')}>
      <option value="inherit">{t('Font of your app')}</option>
      <option value="system">{t('Font of the system')}</option>
    </SelectInput>
    <SelectInput
      form={form}
      name="placement"
      label={t('Placement')}
      hint={t('Where cards appear unless a question has a placement of its own.')}
    >
      {PLACEMENTS.map(placement => (
        <option key={placement} value={placement}>
          {placementName(placement)}
        </option>
      ))}
    </SelectInput>
  </>
);
