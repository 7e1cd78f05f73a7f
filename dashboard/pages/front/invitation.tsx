import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useLocation } from 'wouter';
import { useAct, useApi } from '../../api/hooks.ts';
import type { OpenInvitation } from '../../api/names.ts';
import { ApiProblem } from '../../api/problem.ts';
import { Button, ButtonAnchor } from '../../components/button.tsx';
import { TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { NewPassword } from '../../components/fields/password-input.tsx';
import { Front } from '../../components/front.tsx';
import { Ready } from '../../components/page.tsx';
import { Note } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import { linkToken } from '../../link-token.ts';
import { BASE, pathTo } from '../../paths.ts';
import { useSessionChange } from '../../session.tsx';
import { roleName } from '../../words.ts';

interface Values {
  name: string;
  password: string;
  totp: string;
}

/** Sends an acceptance, and opens the dashboard. `needsCode` is whether the account requires a code as well. */
function useAccept(token: string, notMyAccount: boolean) {
  const [needsCode, setNeedsCode] = useState(false);
  const accept = useAct('POST /v1/invitations/{token}/accept');
  const changed = useSessionChange();
  const [, go] = useLocation();
  const send = async ({ name, password, totp }: Values) => {
    try {
      const body = {
        password,
        ...(name ? { name } : {}),
        ...(needsCode ? { totp: totp.trim() } : {}),
        ...(notMyAccount ? { not_my_account: true } : {}),
      };
      await accept.mutateAsync({ params: { token }, body });
      go(pathTo('start'), { replace: true });
      await changed();
    } catch (error) {
      if (!(error instanceof ApiProblem && error.code === 'totp-required')) throw error;
      setNeedsCode(true);
    }
  };
  return { send, needsCode };
}

/** Form for joining with a new account. It replaces an account that is not the person's, if there is one. */
function NewAccount({ token, replaces, back }: { token: string; replaces?: string; back?(): void }) {
  const form = useForm<Values>({ defaultValues: { name: '', password: '', totp: '' } });
  const { send } = useAccept(token, replaces !== undefined);
  return (
    <Form
      form={form}
      send={send}
      submitLabel={replaces === undefined ? t('Join') : t('Join with a new account')}
      actions={back && <Button onPress={back}>{t('Cancel')}</Button>}
    >
      {replaces !== undefined && (
        <Note tone="warn">
          <p role="alert">
            {t(
              'The existing account with {email} will be deleted: it is signed out everywhere and removed from all its tenants. This cannot be undone. You get a new account.',
              { email: replaces },
            )}
          </p>
        </Note>
      )}
      <TextInput
        form={form}
        name="name"
        label={t('Your name')}
        autoComplete="name"
        autoFocus={replaces !== undefined}
        rules={{ required: true }}
      />
      <NewPassword form={form} name="password" />
    </Form>
  );
}

/** Form for joining with the account that the address has. */
function ExistingAccount({ token }: { token: string }) {
  const form = useForm<Values>({ defaultValues: { name: '', password: '', totp: '' } });
  const { send, needsCode } = useAccept(token, false);
  return (
    <Form form={form} send={send} submitLabel={t('Join')}>
      <TextInput
        form={form}
        name="password"
        label={t('Your password')}
        hint={t('You already have an account. Enter its password.')}
        type="password"
        autoComplete="current-password"
        rules={{ required: true }}
      />
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

function Accept({ token, invitation }: { token: string; invitation: OpenInvitation }) {
  const { email, tenant_name: tenant, role, account_exists, not_my_account_allowed } = invitation;
  const [isForeign, setForeign] = useState(false);
  return (
    <>
      <p className="wrap-anywhere">
        {t('{email} will join {tenant} as {role}.', { email, tenant, role: roleName(role) })}
      </p>
      {!account_exists && <NewAccount token={token} />}
      {account_exists && isForeign && <NewAccount token={token} replaces={email} back={() => setForeign(false)} />}
      {account_exists && !isForeign && <ExistingAccount token={token} />}
      {not_my_account_allowed && !isForeign && (
        <>
          <p className="quiet small">{t('Did somebody else create this account with your email address?')}</p>
          <Button onPress={() => setForeign(true)}>{t('This is not my account')}</Button>
        </>
      )}
    </>
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
