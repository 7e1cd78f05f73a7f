import { type UseFormReturn, useFieldArray } from 'react-hook-form';
import { Button } from '../../../components/button.tsx';
import { ComparisonFields } from '../../../components/comparison/comparison-fields.tsx';
import { NumberInput, SelectInput, TextInput } from '../../../components/fields/fields.tsx';
import { Icon } from '../../../components/icon.tsx';
import { t } from '../../../i18n.ts';
import editor from '../editor.module.css';
import type { QuestionValues } from '../form.ts';
import styles from '../steps/steps.module.css';
import { MAX_PROPERTIES, newProperty } from './trigger-values.ts';

type Form = UseFormReturn<QuestionValues>;

/** The conditions on the properties of an event. */
function Properties({ form }: { form: Form }) {
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'trigger.where', keyName: 'row' });
  return (
    <div className={styles.conditions}>
      {fields.map(({ row }, at) => (
        <fieldset key={row} className={styles.condition}>
          <legend className="hidden-text">{t('Property {number}', { number: at + 1 })}</legend>
          <TextInput
            form={form}
            name={`trigger.where.${at}.property`}
            label={t('Property of the event')}
            maxLength={64}
            rules={{ required: true }}
          />
          <ComparisonFields form={form} name={`trigger.where.${at}`} hasType />
          <div className={styles.removal}>
            <Button
              icon
              small
              look="quiet"
              aria-label={t('Remove property {number}', { number: at + 1 })}
              onPress={() => remove(at)}
            >
              <Icon name="close" size={15} />
            </Button>
          </div>
        </fieldset>
      ))}
      <div>
        <Button
          small
          isDisabled={fields.length >= MAX_PROPERTIES}
          onPress={() => append(newProperty(), { shouldFocus: false })}
        >
          <Icon name="plus" size={15} /> {t('Add property')}
        </Button>
      </div>
    </div>
  );
}

const urlOperators = (): [value: string, label: string][] => [
  ['contains', t('contains')],
  ['eq', t('is')],
  ['starts_with', t('starts with')],
  ['ends_with', t('ends with')],
];

/** The address of the page on which it has to happen. */
const Address = ({ form, isRequired }: { form: Form; isRequired: boolean }) => (
  <div className={editor.pair}>
    <SelectInput form={form} name="trigger.url.op" label={t('Address of the page')}>
      {urlOperators().map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </SelectInput>
    <TextInput
      form={form}
      name="trigger.url.value"
      label={isRequired ? t('Address') : t('Address (optional)')}
      placeholder="/checkout/done"
      maxLength={2000}
      rules={{ validate: text => !isRequired || text !== '' || t('Required') }}
    />
  </div>
);

/** Number of times it has to happen, delay and cancellation. */
const Counts = ({ form }: { form: Form }) => (
  <>
    <div className={editor.pair}>
      <NumberInput form={form} name="trigger.count" min={1} max={100} label={t('Times it has to happen')} />
      <NumberInput form={form} name="trigger.delay_s" min={0} max={600} label={t('Seconds until the card appears')} />
    </div>
    <TextInput
      form={form}
      name="trigger.cancel_on"
      label={t('Events that cancel it')}
      hint={t('Names separated by commas. During the delay, they keep the card from appearing.')}
    />
  </>
);

/** The trigger in the app that makes the card appear. */
export function TriggerFields({ form }: { form: Form }) {
  const kind = form.watch('trigger.kind');
  return (
    <>
      <SelectInput
        form={form}
        name="trigger.kind"
        label={t('Show the card')}
        hint={t('The app decides on the device, from what happens from then on. Events are never sent to Parley.')}
        rules={{ onChange: () => form.clearErrors('trigger') }}
      >
        <option value="none">{t('As soon as it is due')}</option>
        <option value="event">{t('After an event of the app')}</option>
        <option value="click">{t('After a click on an element')}</option>
        <option value="view">{t('When a page is opened')}</option>
      </SelectInput>
      {kind === 'event' && (
        <>
          <TextInput
            form={form}
            name="trigger.event"
            label={t('Name of the event')}
            placeholder="order_completed"
            maxLength={100}
            rules={{ validate: text => text !== '' || t('Required') }}
          />
          <Properties form={form} />
        </>
      )}
      {kind === 'click' && (
        <TextInput
          form={form}
          name="trigger.click"
          label={t('CSS selector of the element')}
          placeholder="#checkout .done"
          maxLength={500}
          rules={{ validate: text => text !== '' || t('Required') }}
        />
      )}
      {kind !== 'none' && (
        <>
          <Address key={kind} form={form} isRequired={kind === 'view'} />
          <Counts form={form} />
        </>
      )}
    </>
  );
}
