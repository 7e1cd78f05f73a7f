import { type UseFormReturn, useFieldArray } from 'react-hook-form';
import { Button } from '../../components/button.tsx';
import { CheckInput, SelectInput, TextInput } from '../../components/fields/fields.tsx';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n.ts';
import styles from './editor.module.css';
import { freeOptionId, type QuestionValues } from './form.ts';

interface PartProps {
  form: UseFormReturn<QuestionValues>;
  /** Whether the question is published; scale and options then stay unchanged, so that stored answers keep their meaning. */
  isFixed: boolean;
}

const Labels = ({ form }: PartProps) => (
  <div className={styles.pair}>
    <TextInput
      form={form}
      name="config.labels.low"
      label={t('Low end label')}
      placeholder={t('Not at all')}
      maxLength={80}
    />
    <TextInput
      form={form}
      name="config.labels.high"
      label={t('High end label')}
      placeholder={t('Very much')}
      maxLength={80}
    />
  </div>
);

const Style = ({ form }: PartProps) => (
  <SelectInput form={form} name="config.style" label={t('Display style')}>
    <option value="number">{t('Numbers')}</option>
    <option value="smiley">{t('Smileys')}</option>
    <option value="star">{t('Stars')}</option>
  </SelectInput>
);

const Scale = ({ form, isFixed, scales }: PartProps & { scales: number[] }) => (
  <SelectInput form={form} name="config.scale" label={t('Scale')} disabled={isFixed} rules={{ setValueAs: Number }}>
    {scales.map(scale => (
      <option key={scale} value={scale}>
        {t('1 to {scale}', { scale })}
      </option>
    ))}
  </SelectInput>
);

function Options({ form, isFixed }: PartProps) {
  const { fields, append, remove, move } = useFieldArray({
    control: form.control,
    name: 'config.options',
    keyName: 'key',
  });
  return (
    <fieldset className="stack">
      <legend className={styles.legend}>{t('Options')}</legend>
      <ol className="stack">
        {fields.map(({ key }, at) => (
          <li key={key} className={styles.option}>
            <TextInput
              form={form}
              name={`config.options.${at}.label`}
              label={t('Option {number}', { number: at + 1 })}
              maxLength={200}
              rules={{ required: true }}
            />
            <div className={styles.optionActions}>
              <Button
                icon
                small
                look="quiet"
                isDisabled={at === 0}
                aria-label={t('Move option {number} up', { number: at + 1 })}
                onPress={() => move(at, at - 1)}
              >
                ↑
              </Button>
              <Button
                icon
                small
                look="quiet"
                isDisabled={isFixed || fields.length <= 2}
                aria-label={t('Remove option {number}', { number: at + 1 })}
                onPress={() => remove(at)}
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
            onPress={() => append({ id: freeOptionId(form.getValues('config.options')), label: '' })}
          >
            <Icon name="plus" size={15} /> {t('Add option')}
          </Button>
        </div>
      )}
      <CheckInput form={form} name="config.allow_other" label={t('Allow “Other” with free text')} />
      <CheckInput form={form} name="config.shuffle" label={t('Show options in random order')} />
    </fieldset>
  );
}

const numberOrNull = (text: unknown): number | null => (text === '' || text === null ? null : Number(text));

const SelectionLimits = ({ form }: PartProps) => (
  <div className={styles.pair}>
    <TextInput
      form={form}
      name="config.min"
      type="number"
      min={0}
      max={31}
      label={t('Minimum selections')}
      rules={{ setValueAs: numberOrNull }}
    />
    <TextInput
      form={form}
      name="config.max"
      type="number"
      min={1}
      max={31}
      label={t('Maximum selections')}
      rules={{ setValueAs: numberOrNull }}
    />
  </div>
);

const Text = ({ form }: PartProps) => (
  <>
    <SelectInput form={form} name="config.input" label={t('Input type')}>
      <option value="text">{t('Any text')}</option>
      <option value="email">{t('Email address')}</option>
      <option value="url">{t('URL')}</option>
      <option value="number">{t('Number')}</option>
    </SelectInput>
    <div className={styles.pair}>
      <TextInput
        form={form}
        name="config.min_length"
        type="number"
        min={0}
        max={5000}
        label={t('Minimum length')}
        rules={{ valueAsNumber: true }}
      />
      <TextInput
        form={form}
        name="config.max_length"
        type="number"
        min={1}
        max={5000}
        label={t('Maximum length')}
        rules={{ valueAsNumber: true }}
      />
    </div>
  </>
);

/** Config fields of the selected question type. */
export function ConfigFields(props: PartProps) {
  switch (props.form.watch('type')) {
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
      return <TextInput {...props} name="config.url" type="url" label={t('Link')} placeholder="https://" />;
    default:
      return null;
  }
}
