import { useForm } from 'react-hook-form';
import { useAct } from '../../api/hooks.ts';
import type { ApiKey, ApiKeyWithSecrets, NewApiKey } from '../../api/names.ts';
import { SCOPES, USED_SCOPES } from '../../api/schema.ts';
import styles from '../../components/fields/fields.module.css';
import { CheckInput, TextArea, TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { GracePeriodInput } from './grace-period.tsx';

/** Scopes of features that do not exist yet are not offered. */
const OFFERED = SCOPES.filter(scope => (USED_SCOPES as readonly string[]).includes(scope));

/** New keys may do everything except erase identities. */
const isDefault = (scope: string): boolean => scope !== 'identities:erase';

/** Splits at white space and drops empty parts. */
const linesOf = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** Returns the last millisecond of the day in the browser's time zone. */
const endOfDay = (day: string): string => new Date(`${day}T23:59:59.999`).toISOString();

interface Values {
  name: string;
  isPublic: boolean;
  scopes: NonNullable<NewApiKey['scopes']>;
  expires_on: string;
  allowed_origins: string;
}

const bodyOf = ({ name, isPublic, scopes, expires_on, allowed_origins }: Values): NewApiKey => ({
  name,
  kind: isPublic ? 'public' : 'server',
  ...(isPublic ? { allowed_origins: linesOf(allowed_origins) } : { scopes }),
  ...(expires_on ? { expires_at: endOfDay(expires_on) } : {}),
});

/** Form for a new server key or, with the Public option, a key for apps without a backend. */
export function CreateKeyForm({ done }: { done(apiKey: ApiKeyWithSecrets): void }) {
  const form = useForm<Values>({
    defaultValues: {
      name: '',
      isPublic: false,
      scopes: OFFERED.filter(isDefault),
      expires_on: '',
      allowed_origins: '',
    },
  });
  const create = useAct('POST /v1/api-keys');
  const isPublic = form.watch('isPublic');
  return (
    <Form
      form={form}
      submitLabel={t('Create')}
      send={async values => done(await create.mutateAsync({ body: bodyOf(values) }))}
    >
      <TextInput
        form={form}
        name="name"
        autoFocus
        label={t('Name')}
        hint={t('Where the key is used, such as “backend”.')}
        rules={{ required: true }}
      />
      <CheckInput
        form={form}
        name="isPublic"
        label={t('Public')}
        hint={t(
          'For apps without a backend. There is no secret, tokens are restricted and users are not verified. Use a backend if you can.',
        )}
      />
      {isPublic ? (
        <TextArea
          form={form}
          name="allowed_origins"
          label={t('Allowed origins')}
          hint={t('One per line, such as https://app.example.com. Leave empty to allow any website.')}
        />
      ) : (
        <fieldset>
          <legend className={styles.title}>{t('Scopes')}</legend>
          <div className={styles.choices}>
            {OFFERED.map(scope => (
              <label key={scope}>
                <input type="checkbox" value={scope} {...form.register('scopes')} /> <code>{scope}</code>
              </label>
            ))}
          </div>
        </fieldset>
      )}
      <TextInput
        form={form}
        name="expires_on"
        type="date"
        label={t('Expiry date')}
        hint={t('Valid until the end of this day. Leave empty for no expiry.')}
      />
    </Form>
  );
}

/** Form that rotates a key. The old credentials stay valid for a grace period so that servers can switch one by one. */
export function RotateKeyForm({ apiKey, done }: { apiKey: ApiKey; done(apiKey: ApiKeyWithSecrets): void }) {
  const form = useForm({ defaultValues: { overlap_hours: 24 } });
  const rotate = useAct('POST /v1/api-keys/{id}/rotate');
  return (
    <Form
      form={form}
      submitLabel={t('Rotate')}
      send={async body => done(await rotate.mutateAsync({ params: { id: apiKey.id }, body }))}
    >
      <p>
        {t('New credentials are created for “{name}”. The old ones stay valid during the grace period.', {
          name: apiKey.name,
        })}
      </p>
      <GracePeriodInput form={form} />
    </Form>
  );
}

/** Form for the origins that may use a public key. */
export function OriginsForm({ apiKey, done }: { apiKey: ApiKey; done(): void }) {
  const form = useForm({ defaultValues: { allowed_origins: apiKey.allowed_origins.join('\n') } });
  const patch = useAct('PATCH /v1/api-keys/{id}');
  return (
    <Form
      form={form}
      submitLabel={t('Save changes')}
      send={async ({ allowed_origins }) => {
        await patch.mutateAsync({ params: { id: apiKey.id }, body: { allowed_origins: linesOf(allowed_origins) } });
        toast(t('Saved'));
        done();
      }}
    >
      <TextArea
        form={form}
        name="allowed_origins"
        autoFocus
        label={t('Allowed origins')}
        hint={t('One per line, such as https://app.example.com. Leave empty to allow any website.')}
      />
    </Form>
  );
}
