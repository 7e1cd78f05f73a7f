import { useForm } from 'react-hook-form';
import { useLocation } from 'wouter';
import { useAct } from '../../api/hooks.ts';
import { Form } from '../../components/fields/form.tsx';
import { NewPassword } from '../../components/fields/password-input.tsx';
import { Front } from '../../components/front.tsx';
import { toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { linkToken } from '../../link-token.ts';
import { pathTo } from '../../paths.ts';

/** Page behind a reset link. A new password ends all sessions of the account. */
export function Reset() {
  const form = useForm({ defaultValues: { password: '' } });
  const reset = useAct('POST /v1/password-resets/{token}');
  const [, go] = useLocation();
  return (
    <Front
      title={t('Choose a new password')}
      lead={t('You will be signed out on all devices and can then sign in with the new password.')}
    >
      <Form
        form={form}
        submitLabel={t('Change password')}
        send={async body => {
          await reset.mutateAsync({ params: { token: linkToken() }, body });
          toast(t('Password changed. Sign in with your new password.'));
          go(pathTo('login'), { replace: true });
        }}
      >
        <NewPassword form={form} name="password" label={t('New password')} />
      </Form>
    </Front>
  );
}
