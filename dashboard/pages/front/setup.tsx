import { useForm } from 'react-hook-form';
import { useLocation } from 'wouter';
import { useAct } from '../../api/hooks.ts';
import { EmailInput } from '../../components/fields/email-input.tsx';
import { TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { NewPassword } from '../../components/fields/password-input.tsx';
import { Front } from '../../components/front.tsx';
import { Note } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import { linkToken } from '../../link-token.ts';
import { PATHS } from '../../paths.ts';
import { useSessionChange } from '../../session.tsx';

/** Page behind the one-time setup link: creates the first tenant and its owner. */
export function Setup() {
  const form = useForm({ defaultValues: { tenant_name: '', name: '', email: '', password: '' } });
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
        send={async values => {
          await setup.mutateAsync({ body: { token, ...values } });
          go(PATHS.home, { replace: true });
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
        <TextInput form={form} name="name" label={t('Your name')} autoComplete="name" rules={{ required: true }} />
        <EmailInput form={form} name="email" />
        <NewPassword form={form} name="password" />
      </Form>
    </Front>
  );
}
