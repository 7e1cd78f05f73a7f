import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useLocation } from 'wouter';
import { useAct, useApi } from '../../api/hooks.ts';
import type { OpenInvitation } from '../../api/names.ts';
import { ApiProblem } from '../../api/problem.ts';
import { ButtonAnchor } from '../../components/button.tsx';
import { TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { NewPassword } from '../../components/fields/password-input.tsx';
import { Front } from '../../components/front.tsx';
import { Ready } from '../../components/page.tsx';
import { t } from '../../i18n.ts';
import { linkToken } from '../../link-token.ts';
import { BASE, pathTo } from '../../paths.ts';
import { useSessionChange } from '../../session.tsx';
import { roleName } from '../../words.ts';

function Accept({ token, invitation }: { token: string; invitation: OpenInvitation }) {
  const form = useForm({ defaultValues: { name: '', password: '', totp: '' } });
  const [needsCode, setNeedsCode] = useState(false);
  const accept = useAct('POST /v1/invitations/{token}/accept');
  const changed = useSessionChange();
  const [, go] = useLocation();
  const send = async ({ name, password, totp }: { name: string; password: string; totp: string }) => {
    try {
      const body = { name: name || invitation.email, password, ...(needsCode ? { totp: totp.trim() } : {}) };
      await accept.mutateAsync({ params: { token }, body });
      go(pathTo('start'), { replace: true });
      await changed();
    } catch (error) {
      if (!(error instanceof ApiProblem && error.code === 'totp-required')) throw error;
      setNeedsCode(true);
    }
  };
  return (
    <Form form={form} send={send} submitLabel={t('Join')}>
      <p>
        {t('{email} will join {tenant} as {role}.', {
          email: invitation.email,
          tenant: invitation.tenant_name,
          role: roleName(invitation.role),
        })}
      </p>
      {invitation.account_exists ? (
        <TextInput
          form={form}
          name="password"
          label={t('Your password')}
          hint={t('You already have an account. Enter its password.')}
          type="password"
          autoComplete="current-password"
          rules={{ required: true }}
        />
      ) : (
        <>
          <TextInput form={form} name="name" label={t('Your name')} autoComplete="name" rules={{ required: true }} />
          <NewPassword form={form} name="password" />
        </>
      )}
      {needsCode && (
        <TextInput
          form={form}
          name="totp"
          label={t('Authentication code')}
          autoComplete="one-time-code"
          autoFocus
          rules={{ required: true }}
        />
      )}
    </Form>
  );
}

/** Button to join through the identity provider, if one is configured. */
function ByProvider({ token }: { token: string }) {
  const { data: options } = useApi('GET /v1/login-options', {});
  if (!options?.oidc) return null;
  const { name, login_url } = options.oidc;
  return (
    <ButtonAnchor href={`${login_url}?${new URLSearchParams({ invitation: token, return_to: `${BASE}/` })}`}>
      {t('Join with {provider}', { provider: name })}
    </ButtonAnchor>
  );
}

/** Page for accepting an invitation to a tenant. */
export function Invitation() {
  const token = linkToken();
  const invitation = useApi('GET /v1/invitations/{token}', { params: { token } });
  return (
    <Front title={t('You have been invited')}>
      <Ready query={invitation} lines={2}>
        {data => (
          <>
            <Accept token={token} invitation={data} />
            <ByProvider token={token} />
          </>
        )}
      </Ready>
    </Front>
  );
}
