import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useAct } from '../../../api/hooks.ts';
import type { EventType, NewWebhook, Webhook, WebhookWithSecret } from '../../../api/names.ts';
import { EVENT_TYPES } from '../../../api/schema.ts';
import styles from '../../../components/fields/fields.module.css';
import { CheckInput, Choices, TextInput } from '../../../components/fields/fields.tsx';
import { Form } from '../../../components/fields/form.tsx';
import { toast } from '../../../components/toast.tsx';
import { t } from '../../../i18n.ts';

interface Values {
  url: string;
  description: string;
  wants: 'all' | 'some';
  event_types: EventType[];
  payload: Webhook['payload'];
  ordered: boolean;
}

const NEW: Values = { url: '', description: '', wants: 'all', event_types: [], payload: 'full', ordered: false };

const valuesOf = ({ url, description, event_types, payload, ordered }: Webhook): Values => ({
  url,
  description,
  wants: event_types.length === EVENT_TYPES.length ? 'all' : 'some',
  event_types,
  payload,
  ordered,
});

const bodyOf = ({ url, description, wants, event_types, payload, ordered }: Values): NewWebhook => ({
  url: url.trim(),
  description: description.trim(),
  event_types: wants === 'all' ? [...EVENT_TYPES] : event_types,
  payload,
  ordered,
});

type WebhookForm = ReturnType<typeof useForm<Values>>;

/** Choice of all events or of some types. */
function Types({ form }: { form: WebhookForm }) {
  const isSome = form.watch('wants') === 'some';
  const error = form.formState.errors.event_types;
  return (
    <>
      <Choices
        form={form}
        name="wants"
        label={t('Events')}
        choices={[
          { value: 'all', label: t('All events') },
          { value: 'some', label: t('Selected events') },
        ]}
      />
      {isSome && (
        <fieldset className={styles.field} aria-describedby={error ? 'event-types-error' : undefined}>
          <legend className="hidden-text">{t('Selected events')}</legend>
          <div className={styles.choices}>
            {EVENT_TYPES.map(type => (
              <label key={type}>
                <input
                  type="checkbox"
                  value={type}
                  {...form.register('event_types', {
                    validate: (chosen, { wants }) =>
                      wants === 'all' || chosen.length > 0 || t('Select at least one event.'),
                  })}
                />{' '}
                <code>{type}</code>
              </label>
            ))}
          </div>
          {error && (
            <p id="event-types-error" className={styles.error} role="alert">
              {error.message}
            </p>
          )}
        </fieldset>
      )}
    </>
  );
}

const Fields = ({ form }: { form: WebhookForm }) => (
  <>
    <TextInput
      form={form}
      name="url"
      autoFocus
      type="url"
      placeholder="https://"
      label={t('URL')}
      hint={t('Parley sends a POST request to this address for each event.')}
      rules={{ required: true }}
    />
    <TextInput form={form} name="description" label={t('Description')} hint={t('Such as “CRM, staging”.')} />
    <Types form={form} />
    <Choices
      form={form}
      name="payload"
      label={t('Content')}
      choices={[
        { value: 'full', label: t('With the object'), hint: t('As it is at the time of the delivery') },
        { value: 'thin', label: t('Link only'), hint: t('The receiver fetches the object itself') },
      ]}
    />
    <CheckInput
      form={form}
      name="ordered"
      label={t('In strict order')}
      hint={t('Each event waits until the previous one was delivered. One failure holds up all that follow.')}
    />
  </>
);

/** Form for a new webhook. */
export function CreateWebhookForm({ done }: { done(webhook: WebhookWithSecret): void }) {
  const form = useForm<Values>({ defaultValues: NEW });
  const create = useAct('POST /v1/webhooks');
  return (
    <Form
      form={form}
      submitLabel={t('Create')}
      send={async values => done(await create.mutateAsync({ body: bodyOf(values) }))}
    >
      <Fields form={form} />
    </Form>
  );
}

interface EditProps {
  webhook: Webhook;
  etag: string | undefined;
  done(): void;
}

/** Form that changes a webhook. Changes that somebody else has made since are not overwritten. */
export function EditWebhookForm({ webhook, etag, done }: EditProps) {
  const [ifMatch] = useState(etag); // of the values that the form started with
  const form = useForm<Values>({ defaultValues: valuesOf(webhook) });
  const patch = useAct('PATCH /v1/webhooks/{id}');
  return (
    <Form
      form={form}
      submitLabel={t('Save changes')}
      send={async values => {
        await patch.mutateAsync({ params: { id: webhook.id }, body: bodyOf(values), ...(ifMatch ? { ifMatch } : {}) });
        toast(t('Saved'));
        done();
      }}
    >
      <Fields form={form} />
    </Form>
  );
}
