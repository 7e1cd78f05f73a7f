import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { Link } from 'wouter';
import { useAct, useApi } from '../../api/hooks.ts';
import { EmailInput } from '../../components/fields/email-input.tsx';
import { Form } from '../../components/fields/form.tsx';
import { Front } from '../../components/front.tsx';
import { Ready } from '../../components/page.tsx';
import { Note } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';

function ByMail() {
  const form = useForm({ defaultValues: { email: '' } });
  const [sent, setSent] = useState(false);
  const ask = useAct('POST /v1/password-resets');
  if (sent) {
    return (
      <Note tone="good">
        <p role="status">{t('If an account with this address exists, a reset link has been sent to it.')}</p>
      </Note>
    );
  }
  return (
    <Form
      form={form}
      submitLabel={t('Send reset link')}
      send={async body => {
        await ask.mutateAsync({ body });
        setSent(true);
      }}
    >
      <EmailInput form={form} name="email" />
    </Form>
  );
}

/** Requests a reset link by email or, without a mail server, refers to the administrator. */
export function Forgotten() {
  const options = useApi('GET /v1/login-options', {});
  return (
    <Front title={t('Reset your password')}>
      <Ready query={options} lines={1}>
        {({ password_reset_by_mail }) =>
          password_reset_by_mail ? (
            <ByMail />
          ) : (
            <p>
              {t(
                'This installation does not send email. Ask your administrator to create a reset link on the command line.',
              )}
            </p>
          )
        }
      </Ready>
      <p className="small">
        <Link href={pathTo('login')}>{t('Back to sign-in')}</Link>
      </p>
    </Front>
  );
}
