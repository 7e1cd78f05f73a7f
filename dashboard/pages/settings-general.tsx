import { useForm } from 'react-hook-form';
import { etagOf } from '../api/client.ts';
import { useAct, useApi } from '../api/hooks.ts';
import type { Tenant } from '../api/names.ts';
import { CopyValue } from '../components/copy.tsx';
import { Choices, SelectInput, TextInput } from '../components/fields.tsx';
import { Form } from '../components/form.tsx';
import { Panel, Ready } from '../components/page.tsx';
import { toast } from '../components/toast.tsx';
import { locale, t } from '../i18n.ts';
import { useSession } from '../session.tsx';
import { SettingsFrame } from './settings-frame.tsx';

/** Languages offered for what users see; any BCP 47 tag that is set already is kept in the list. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'pt', 'sv', 'da', 'cs', 'ja', 'zh'];

const languageName = (tag: string): string => new Intl.DisplayNames([locale()], { type: 'language' }).of(tag) ?? tag;

/** The browser's list of time zones leaves UTC out. */
const zones = (current: string): string[] => [...new Set([current, 'UTC', ...Intl.supportedValuesOf('timeZone')])];

function TenantForm({ tenant }: { tenant: Tenant }) {
  const { name, default_locale, timezone, cooldown_days, ip_mode } = tenant;
  const form = useForm({
    values: { name, default_locale, timezone, cooldown_days, ip_mode },
    resetOptions: { keepDirtyValues: true },
  });
  const patch = useAct('PATCH /v1/tenant');
  return (
    <Form
      form={form}
      submitLabel={t('Save')}
      send={async values => {
        await patch.mutateAsync({ body: values, ifMatch: etagOf(tenant) });
        toast(t('Saved'));
      }}
    >
      <TextInput form={form} name="name" label={t('Name')} maxLength={120} rules={{ required: true }} />
      <SelectInput
        form={form}
        name="default_locale"
        label={t('Language of your users')}
        hint={t('Where an app asks for no other.')}
      >
        {[...new Set([default_locale, ...LANGUAGES])].map(tag => (
          <option key={tag} value={tag}>
            {languageName(tag)}
          </option>
        ))}
      </SelectInput>
      <SelectInput form={form} name="timezone" label={t('Time zone')}>
        {zones(timezone).map(zone => (
          <option key={zone}>{zone}</option>
        ))}
      </SelectInput>
      <TextInput
        form={form}
        name="cooldown_days"
        type="number"
        min={0}
        max={365}
        label={t('Days between two questions')}
        hint={t('For one user, whatever the questions; a question can be made an exception.')}
        rules={{ required: true, valueAsNumber: true }}
      />
      <Choices
        form={form}
        name="ip_mode"
        label={t('Addresses of your users')}
        choices={[
          { value: 'none', label: t('Not kept'), hint: t('The default') },
          { value: 'truncated', label: t('Shortened'), hint: t('Without the last part') },
          { value: 'full', label: t('Kept whole'), hint: t('Say so in your privacy notice') },
        ]}
      />
    </Form>
  );
}

const Facts = ({ tenant }: { tenant: Tenant }) => (
  <dl className="stack">
    <div>
      <dt className="small quiet">{t('Time zone')}</dt>
      <dd>{tenant.timezone}</dd>
    </div>
    <div>
      <dt className="small quiet">{t('Days between two questions')}</dt>
      <dd>{tenant.cooldown_days}</dd>
    </div>
  </dl>
);

/** Settings, tab General: the tenant's id and what holds for all of it. */
export function General() {
  const tenant = useApi('GET /v1/tenant', {});
  const { membership, may } = useSession();
  return (
    <SettingsFrame title={t('Settings')}>
      <Panel
        title={t('Tenant ID')}
        lead={t('The “sub” of the tokens that you sign, and a part of the path for public ones.')}
      >
        <CopyValue value={membership.tenant.id} what={t('Tenant ID')} />
      </Panel>
      <Panel title={t('Tenant')}>
        <Ready query={tenant}>
          {data => (may('tenant:write') ? <TenantForm tenant={data} /> : <Facts tenant={data} />)}
        </Ready>
      </Panel>
    </SettingsFrame>
  );
}
