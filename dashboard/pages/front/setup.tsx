import { useForm } from 'react-hook-form';
import { useLocation } from 'wouter';
import { api, credentials } from '../../api/client.ts';
import { useAct } from '../../api/hooks.ts';
import { ApiProblem } from '../../api/problem.ts';
import { EmailInput } from '../../components/fields/email-input.tsx';
import { SelectInput, TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { NewPassword } from '../../components/fields/password-input.tsx';
import { Front } from '../../components/front.tsx';
import { Note } from '../../components/problem-note.tsx';
import { showProblem } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { linkToken } from '../../link-token.ts';
import { pathTo } from '../../paths.ts';
import { useSessionChange } from '../../session.tsx';
import { timeZones } from '../../time-zones.ts';

/** The browser's time zone. */
const zoneHere = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Sets the first tenant's time zone. The tenant exists by now, so a failure is only reported. */
async function setTimezone(tenantId: string | undefined, csrfToken: string, timezone: string): Promise<void> {
  credentials.csrfToken = csrfToken;
  try {
    await api('PATCH /v1/tenant', { body: { timezone } }, tenantId);
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    showProblem(error);
  }
}

/** Page behind the one-time setup link: creates the first tenant and its owner. */
export function Setup() {
  const form = useForm({ defaultValues: { tenant_name: '', timezone: zoneHere(), name: '', email: '', password: '' } });
  const setup = useAct('POST /v1/setup');
  const changed = useSessionChange();
  const [, go] = useLocation();
  const token = linkToken();
  if (!token) {
    return (
      <Front title={t('Set up Parley')}>
        <Note tone="warn">
          <p>{t('Open the complete setup link that Parley printed at startup. It can be used once.')}</p>
        </Note>
      </Front>
    );
  }
  return (
    <Front title={t('Set up Parley')} lead={t('You will be the owner of the first tenant.')}>
      <Form
        form={form}
        submitLabel={t('Complete setup')}
        send={async ({ timezone, ...values }) => {
          const { member, csrf_token } = await setup.mutateAsync({ body: { token, ...values } });
          await setTimezone(member.memberships[0]?.tenant.id, csrf_token, timezone);
          go(pathTo('start'), { replace: true });
          await changed();
        }}
      >
        <TextInput
          form={form}
          name="tenant_name"
          label={t('Company or product name')}
          autoComplete="organization"
          maxLength={120}
          rules={{ required: true }}
        />
        <SelectInput
          form={form}
          name="timezone"
          label={t('Time zone')}
          hint={t('For dates in mails and reports. You can change it later.')}
        >
          {timeZones(zoneHere()).map(zone => (
            <option key={zone}>{zone}</option>
          ))}
        </SelectInput>
        <TextInput form={form} name="name" label={t('Your name')} autoComplete="name" rules={{ required: true }} />
        <EmailInput form={form} name="email" />
        <NewPassword form={form} name="password" />
      </Form>
    </Front>
  );
}
