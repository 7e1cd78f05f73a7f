import { useAct, useApi } from '../../api/hooks.ts';
import type { Tenant } from '../../api/names.ts';
import { CopyValue } from '../../components/copy.tsx';
import { DemoData } from '../../components/demo-data.tsx';
import { SelectInput, TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { useStoredForm } from '../../components/fields/use-stored-form.ts';
import { Panel, Ready } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { locale, t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { timeZones } from '../../time-zones.ts';
import { SettingsFrame } from './frame.tsx';
import { PrivacyForm } from './privacy-form.tsx';
import { TokenInspector } from './token-inspector.tsx';

/** Selectable default languages; the tenant's current BCP 47 tag is added to the list. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'pt', 'sv', 'da', 'cs', 'ja', 'zh'];

const languageName = (tag: string): string => new Intl.DisplayNames([locale()], { type: 'language' }).of(tag) ?? tag;

function TenantForm({ tenant, etag }: { tenant: Tenant; etag: string | undefined }) {
  const { name, default_locale, timezone, cooldown_days } = tenant;
  const form = useStoredForm({ name, default_locale, timezone, cooldown_days });
  const patch = useAct('PATCH /v1/tenant');
  return (
    <Form
      form={form}
      submitLabel={t('Save changes')}
      send={async values => {
        await patch.mutateAsync({ body: values, ifMatch: etag });
        toast(t('Saved'));
      }}
    >
      <TextInput form={form} name="name" label={t('Name')} maxLength={120} rules={{ required: true }} />
      <SelectInput
        form={form}
        name="default_locale"
        label={t('Default language')}
        hint={t('Used when an app does not request another language.')}
      >
        {[...new Set([default_locale, ...LANGUAGES])].map(tag => (
          <option key={tag} value={tag}>
            {languageName(tag)}
          </option>
        ))}
      </SelectInput>
      <SelectInput form={form} name="timezone" label={t('Time zone')}>
        {timeZones(timezone).map(zone => (
          <option key={zone}>{zone}</option>
        ))}
      </SelectInput>
      <TextInput
        form={form}
        name="cooldown_days"
        type="number"
        min={0}
        max={365}
        label={t('Days between questions')}
        hint={t('Minimum time between any two questions to the same user. Individual questions can be exempt.')}
        rules={{ required: true, valueAsNumber: true }}
      />
    </Form>
  );
}

const daysText = (days: number | null): string =>
  days === null ? t('Forever') : t('{days, plural, one {# day} other {# days}}', { days });

function Facts({ tenant }: { tenant: Tenant }) {
  const facts: [term: string, fact: string | number][] = [
    [t('Time zone'), tenant.timezone],
    [t('Days between questions'), tenant.cooldown_days],
    [t('Answers are kept for'), daysText(tenant.retention.answers_days)],
    [t('Resolved conversations are kept for'), daysText(tenant.retention.conversations_days)],
  ];
  return (
    <dl className="stack">
      {facts.map(([term, fact]) => (
        <div key={term}>
          <dt className="small quiet">{term}</dt>
          <dd>{fact}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Settings, tab General: tenant ID, tenant settings, retention and privacy. */
export function General() {
  const tenant = useApi('GET /v1/tenant', {});
  const { membership, may } = useSession();
  return (
    <SettingsFrame title={t('Settings')}>
      <Panel
        title={t('Tenant ID')}
        lead={t('The “sub” claim of the tokens you sign, and part of the URL for public tokens.')}
      >
        <CopyValue value={membership.tenant.id} what={t('Tenant ID')} />
      </Panel>
      <Panel title={t('Tenant')}>
        <Ready query={tenant}>
          {data => (may('tenant:write') ? <TenantForm tenant={data} etag={tenant.etag} /> : <Facts tenant={data} />)}
        </Ready>
      </Panel>
      {may('tokens:inspect') && !may('api-keys:manage') && <TokenInspector />}
      {may('tenant:write') && (
        <Panel
          title={t('Retention and privacy')}
          lead={t('Which data about your users and team is stored, and for how long.')}
        >
          <Ready query={tenant}>{data => <PrivacyForm tenant={data} etag={tenant.etag} />}</Ready>
        </Panel>
      )}
      <DemoData />
    </SettingsFrame>
  );
}
