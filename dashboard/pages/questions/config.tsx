import { type UseFormReturn, useFieldArray } from 'react-hook-form';
import { Button } from '../../components/button.tsx';
import { CheckInput, NumberInput, SelectInput, TextInput } from '../../components/fields/fields.tsx';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n.ts';
import type { QuestionType } from '../../words.ts';
import { freeOptionId } from './config-values.ts';
import styles from './editor.module.css';
import type { QuestionValues, StepPath } from './form.ts';

interface PartProps {
  form: UseFormReturn<QuestionValues>;
  /** Prefix of the step's fields. */
  at: StepPath;
  /** Whether the step is published; scale and options then stay unchanged, so that stored answers keep their meaning. */
  isFixed: boolean;
}

const Labels = ({ form, at }: PartProps) => (
  <div className={styles.pair}>
    <TextInput
      form={form}
      name={`${at}config.labels.low`}
      label={t('Low end label')}
      placeholder={t('Not at all')}
      maxLength={80}
    />
    <TextInput
      form={form}
      name={`${at}config.labels.high`}
      label={t('High end label')}
      placeholder={t('Very much')}
      maxLength={80}
    />
  </div>
);

const Style = ({ form, at }: PartProps) => (
  <SelectInput form={form} name={`${at}config.style`} label={t('Display style')}>
    <option value="number">{t('Numbers')}</option>
    <option value="smiley">{t('Smileys')}</option>
    <option value="star">{t('Stars')}</option>
  </SelectInput>
);

const Scale = ({ form, at, isFixed, scales }: PartProps & { scales: number[] }) => (
  <SelectInput
    form={form}
    name={`${at}config.scale`}
    label={t('Scale')}
    disabled={isFixed}
    rules={{ setValueAs: Number }}
  >
    {scales.map(scale => (
      <option key={scale} value={scale}>
        {t('1 to {scale}', { scale })}
      </option>
    ))}
  </SelectInput>
);

function Options({ form, at, isFixed }: PartProps) {
  const { fields, append, remove, move } = useFieldArray({
    control: form.control,
    name: `${at}config.options`,
    keyName: 'key',
  });
  return (
    <fieldset className="stack">
      <legend className={styles.legend}>{t('Options')}</legend>
      <ol className="stack">
        {fields.map(({ key }, index) => (
          <li key={key} className={styles.option}>
            <TextInput
              form={form}
              name={`${at}config.options.${index}.label`}
              label={t('Option {number}', { number: index + 1 })}
              maxLength={200}
              rules={{ required: true }}
            />
            <div className={styles.optionActions}>
              <Button
                icon
                small
                look="quiet"
                isDisabled={index === 0}
                aria-label={t('Move option {number} up', { number: index + 1 })}
                onPress={() => move(index, index - 1)}
              >
                ↑
              </Button>
              <Button
                icon
                small
                look="quiet"
                isDisabled={isFixed || fields.length <= 2}
                aria-label={t('Remove option {number}', { number: index + 1 })}
                onPress={() => remove(index)}
              >
                <Icon name="close" size={15} />
              </Button>
            </div>
          </li>
        ))}
      </ol>
      {!isFixed && (
        <div>
          <Button
            small
            isDisabled={fields.length >= 30}
            onPress={() => append({ id: freeOptionId(form.getValues(`${at}config.options`)), label: '' })}
          >
            <Icon name="plus" size={15} /> {t('Add option')}
          </Button>
        </div>
      )}
      <CheckInput form={form} name={`${at}config.allow_other`} label={t('Allow “Other” with free text')} />
      <CheckInput form={form} name={`${at}config.shuffle`} label={t('Show options in random order')} />
    </fieldset>
  );
}

const SelectionLimits = ({ form, at }: PartProps) => (
  <div className={styles.pair}>
    <NumberInput form={form} name={`${at}config.min`} min={0} max={31} optional label={t('Minimum selections')} />
    <NumberInput form={form} name={`${at}config.max`} min={1} max={31} optional label={t('Maximum selections')} />
  </div>
);

const Text = ({ form, at }: PartProps) => (
  <>
    <SelectInput form={form} name={`${at}config.input`} label={t('Input type')}>
      <option value="text">{t('Any text')}</option>
      <option value="email">{t('Email address')}</option>
      <option value="url">{t('URL')}</option>
      <option value="number">{t('Number')}</option>
    </SelectInput>
    <div className={styles.pair}>
      <NumberInput form={form} name={`${at}config.min_length`} min={0} max={5000} label={t('Minimum length')} />
      <NumberInput form={form} name={`${at}config.max_length`} min={1} max={5000} label={t('Maximum length')} />
    </div>
  </>
);

/** Config fields of a step of the given type. */
export function ConfigFields({ type, ...props }: PartProps & { type: QuestionType }) {
  switch (type) {
    case 'nps':
      return <Labels {...props} />;
    case 'csat':
      return (
        <>
          <Style {...props} />
          <Labels {...props} />
        </>
      );
    case 'ces':
      return (
        <>
          <Scale {...props} scales={[5, 7]} />
          <Labels {...props} />
        </>
      );
    case 'rating':
      return (
        <>
          <Scale {...props} scales={[3, 4, 5, 6, 7, 8, 9, 10]} />
          <Style {...props} />
          <Labels {...props} />
        </>
      );
    case 'single_choice':
      return <Options {...props} />;
    case 'multi_choice':
      return (
        <>
          <Options {...props} />
          <SelectionLimits {...props} />
        </>
      );
    case 'text':
      return <Text {...props} />;
    case 'statement':
      return (
        <TextInput
          form={props.form}
          name={`${props.at}config.url`}
          type="url"
          label={t('Link')}
          placeholder="https://"
        />
      );
    default:
      return null;
  }
}
