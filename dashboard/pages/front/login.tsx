import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { Link } from 'wouter';
import { useAct, useApi } from '../../api/hooks.ts';
import { ApiProblem } from '../../api/problem.ts';
import { ButtonAnchor } from '../../components/button.tsx';
import { Snippet } from '../../components/copy.tsx';
import { EmailInput } from '../../components/fields/email-input.tsx';
import { TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { Front } from '../../components/front.tsx';
import { Note } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import { BASE, PATHS, pathTo } from '../../paths.ts';
import { textOfCode } from '../../problem-texts.ts';
import { useSessionChange } from '../../session.tsx';

interface Values {
  email: string;
  password: string;
  totp: string;
}

/** Error code for an account that must sign in with its password to be linked to the identity provider. */
const LINK_REQUIRED = 'link-required';

/** Error code of a failed sign-in through the identity provider. */
const oidcError = (): string | null => new URLSearchParams(location.search).get('error');

/** Login URL of the identity provider that returns to the requested page. */
const returnTo = (loginUrl: string): string => {
  const { pathname, search } = location;
  const wanted = pathname === `${BASE}${PATHS.login}` ? `${BASE}/` : pathname + search;
  return `${loginUrl}?${new URLSearchParams({ return_to: wanted })}`;
};

/** Why a sign-in through the identity provider failed, with the code that the server log has. */
function Failure({ code }: { code: string }) {
  const text = textOfCode(code);
  return (
    <Note tone="bad">
      <p role="alert">
        <strong>{text?.title ?? t('Sign-in with the identity provider failed.')}</strong> <span>{text?.detail}</span>{' '}
        <code>{code}</code>
      </p>
    </Note>
  );
}

/** Shown until the installation has an owner. */
const FirstVisit = () => (
  <Front title={t('Set up Parley')}>
    <p>{t('This installation has no owner yet. Sign-in is not possible until it has one.')}</p>
    <p>{t('Open the setup link that Parley printed at its start. It begins with:')}</p>
    <Snippet what={t('Setup link')} code={`${location.origin}${BASE}${PATHS.setup}#token=…`} />
    <p>{t('This command prints a new link, valid for 24 hours:')}</p>
    <Snippet what={t('Command')} code="parley setup create" />
  </Front>
);

/** Sign-in with password, TOTP code if required, or the identity provider. */
export function Login() {
  const form = useForm<Values>({ defaultValues: { email: '', password: '', totp: '' } });
  const [needsCode, setNeedsCode] = useState(false);
  const { data: options } = useApi('GET /v1/login-options', {});
  const login = useAct('POST /v1/session');
  const changed = useSessionChange();
  const send = async ({ email, password, totp }: Values) => {
    try {
      await login.mutateAsync({ body: { email, password, ...(needsCode ? { totp: totp.trim() } : {}) } });
      await changed();
    } catch (error) {
      if (!(error instanceof ApiProblem && error.code === 'totp-required')) throw error;
      setNeedsCode(true);
    }
  };
  const failure = oidcError();
  if (options?.needs_owner) return <FirstVisit />;
  return (
    <Front title={t('Sign in')}>
      {failure === LINK_REQUIRED && (
        <Note>
          <p role="alert">
            {t('You already have an account. Sign in with your password once to link it to {provider}.', {
              provider: options?.oidc?.name ?? '',
            })}
          </p>
        </Note>
      )}
      {failure && failure !== LINK_REQUIRED && <Failure code={failure} />}
      {options?.oidc && (
        <>
          <ButtonAnchor href={returnTo(options.oidc.login_url)}>
            {t('Sign in with {provider}', { provider: options.oidc.name })}
          </ButtonAnchor>
          <p className="quiet small">{t('or with your password')}</p>
        </>
      )}
      <Form form={form} send={send} submitLabel={t('Sign in')}>
        <EmailInput form={form} name="email" />
        <TextInput
          form={form}
          name="password"
          label={t('Password')}
          type="password"
          autoComplete="current-password"
          rules={{ required: true }}
        />
        {needsCode && (
          <TextInput
            form={form}
            name="totp"
            label={t('Authentication code')}
            hint={t('Enter a six-digit code or one of your recovery codes.')}
            autoComplete="one-time-code"
            autoFocus
            rules={{ required: true }}
          />
        )}
      </Form>
      <p className="small">
        <Link href={pathTo('forgotten')}>{t('Forgot your password?')}</Link>
      </p>
    </Front>
  );
}
