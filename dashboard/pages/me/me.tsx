import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useAct, useApi } from '../../api/hooks.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { CopyButton, CopyValue } from '../../components/copy.tsx';
import { ConfirmButton } from '../../components/dialog.tsx';
import { TextInput } from '../../components/fields/fields.tsx';
import { Form } from '../../components/fields/form.tsx';
import { NewPassword } from '../../components/fields/password-input.tsx';
import { useStoredForm } from '../../components/fields/use-stored-form.ts';
import { Page, Panel, Ready } from '../../components/page.tsx';
import { LanguageSelect, ThemeSelect } from '../../components/preferences.tsx';
import { Note } from '../../components/problem-note.tsx';
import { QrCode } from '../../components/qr-code.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { deviceName } from '../../device.ts';
import { t } from '../../i18n.ts';
import { useSession, useSessionChange } from '../../session.tsx';
import { shortcutsAreOn, switchShortcuts } from '../../shortcuts.ts';
import styles from './me.module.css';

function PersonName() {
  const { account } = useSession();
  const form = useStoredForm({ name: account.name });
  const patch = useAct('PATCH /v1/me');
  return (
    <Panel title={t('You')} lead={account.email}>
      <Form
        form={form}
        submitLabel={t('Save changes')}
        send={async body => {
          await patch.mutateAsync({ body });
          toast(t('Saved'));
        }}
      >
        <TextInput form={form} name="name" label={t('Your name')} autoComplete="name" rules={{ required: true }} />
      </Form>
    </Panel>
  );
}

/** Language, theme and single-key shortcuts of this browser. */
function Preferences() {
  const [isOn, setOn] = useState(shortcutsAreOn);
  const change = (on: boolean) => {
    switchShortcuts(on);
    setOn(on);
  };
  return (
    <Panel title={t('Preferences')} lead={t('For this browser.')}>
      <div className="row">
        <LanguageSelect />
        <ThemeSelect />
      </div>
      <label className="row">
        <input type="checkbox" checked={isOn} onChange={event => change(event.target.checked)} />
        {t('Single-key shortcuts are on')}
      </label>
    </Panel>
  );
}

function Password() {
  const form = useForm({ defaultValues: { current_password: '', new_password: '' } });
  const change = useAct('PUT /v1/me/password');
  return (
    <Panel title={t('Password')} lead={t('Changing your password signs you out on all other devices.')}>
      <Form
        form={form}
        submitLabel={t('Change password')}
        send={async body => {
          await change.mutateAsync({ body });
          form.reset();
          toast(t('Password changed.'));
        }}
      >
        <TextInput
          form={form}
          name="current_password"
          type="password"
          autoComplete="current-password"
          label={t('Current password')}
          rules={{ required: true }}
        />
        <NewPassword form={form} name="new_password" label={t('New password')} />
      </Form>
    </Panel>
  );
}

type Enrolment = { secret: string; uri: string };

/** Form that confirms the password before a change of the second factor. */
function AskPassword({ submitLabel, send }: { submitLabel: string; send(password: string): Promise<unknown> }) {
  const form = useForm({ defaultValues: { password: '' } });
  return (
    <Form form={form} submitLabel={submitLabel} send={({ password }) => send(password)}>
      <TextInput
        form={form}
        name="password"
        type="password"
        autoComplete="current-password"
        label={t('Password')}
        rules={{ required: true }}
      />
    </Form>
  );
}

function Confirm({ enrolment, done }: { enrolment: Enrolment; done(codes: string[]): void }) {
  const form = useForm({ defaultValues: { totp: '' } });
  const confirm = useAct('POST /v1/me/totp/confirm');
  return (
    <>
      <p>
        {t(
          'Scan this code with your authenticator app, open the link on the device where the app is installed, or enter the secret.',
        )}
      </p>
      <QrCode text={enrolment.uri} label={t('QR code for your authenticator app')} />
      <CopyValue value={enrolment.secret} what={t('Authenticator secret')} />
      <p>
        <a href={enrolment.uri}>{t('Open in authenticator app')}</a>
      </p>
      <Form
        form={form}
        submitLabel={t('Turn on')}
        send={async ({ totp }) => done((await confirm.mutateAsync({ body: { totp: totp.trim() } })).recovery_codes)}
      >
        <TextInput
          form={form}
          name="totp"
          label={t('Authentication code')}
          inputMode="numeric"
          autoComplete="one-time-code"
          rules={{ required: true }}
        />
      </Form>
    </>
  );
}

const RecoveryCodes = ({ codes, close }: { codes: string[]; close(): void }) => (
  <>
    <Note tone="warn">
      <p>
        {t(
          'Store these codes where you can reach them without your device. Each code works once. They cannot be shown again.',
        )}
      </p>
    </Note>
    <ul className="row">
      {codes.map(code => (
        <li key={code}>
          <code>{code}</code>
        </li>
      ))}
    </ul>
    <div className="row">
      <CopyButton text={codes.join('\n')} what={t('Recovery codes')} />
      <Button onPress={close}>{t('Done')}</Button>
    </div>
  </>
);

function SecondFactor() {
  const { account } = useSession();
  const begin = useAct('POST /v1/me/totp');
  const remove = useAct('POST /v1/me/totp/remove');
  const [enrolment, setEnrolment] = useState<Enrolment>();
  const [codes, setCodes] = useState<string[]>();
  const turnOn = async (password: string) => setEnrolment(await begin.mutateAsync({ body: { password } }));
  const turnOff = async (password: string) => {
    await remove.mutateAsync({ body: { password } });
    toast(t('Two-factor authentication is off.'));
  };
  const finish = (made: string[]) => {
    setEnrolment(undefined);
    setCodes(made);
  };
  return (
    <Panel
      title={
        <span className="row">
          {t('Two-factor authentication')}{' '}
          <Badge tone={account.totp_enabled ? 'good' : 'neutral'}>{account.totp_enabled ? t('On') : t('Off')}</Badge>
        </span>
      }
      lead={t('Sign in with your password and a code from an authenticator app.')}
    >
      {codes ? (
        <RecoveryCodes codes={codes} close={() => setCodes(undefined)} />
      ) : enrolment ? (
        <Confirm enrolment={enrolment} done={finish} />
      ) : account.totp_enabled ? (
        <AskPassword submitLabel={t('Turn off')} send={turnOff} />
      ) : (
        <AskPassword submitLabel={t('Set up')} send={turnOn} />
      )}
    </Panel>
  );
}

function EndSession({ id }: { id: string }) {
  const end = useAct('DELETE /v1/sessions/{id}');
  return (
    <Button small look="danger-quiet" isPending={end.isPending} onPress={() => end.mutate({ params: { id } })}>
      {t('Sign out')}
    </Button>
  );
}

function Sessions() {
  const sessions = useApi('GET /v1/sessions', {});
  const endAll = useAct('DELETE /v1/sessions');
  const changed = useSessionChange();
  return (
    <Panel title={t('Sessions')} lead={t('Devices where you are signed in.')}>
      <Ready query={sessions}>
        {({ data }) => (
          <Table
            caption={t('Sessions')}
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              {
                label: t('Device'),
                cell: ({ user_agent, ip, current }) => (
                  <>
                    <span className="wrap-anywhere" title={user_agent ?? undefined}>
                      {user_agent ? deviceName(user_agent) : t('Unknown')}
                    </span>{' '}
                    {current && (
                      <Badge plain tone="info">
                        {t('This device')}
                      </Badge>
                    )}
                    {ip && <p className="small quiet">{ip}</p>}
                  </>
                ),
              },
              { label: t('Last seen'), cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
              { label: t('Signed in'), cell: ({ created_at }) => <Time at={created_at} /> },
              {
                label: t('Actions'),
                actions: true,
                cell: ({ id, current }) => (current ? null : <EndSession id={id} />),
              },
            ]}
          />
        )}
      </Ready>
      <div>
        <ConfirmButton
          look="plain"
          label={t('Sign out everywhere')}
          title={t('Sign out everywhere?')}
          confirmLabel={t('Sign out everywhere')}
          act={async () => {
            await endAll.mutateAsync({});
            await changed();
          }}
        >
          {t('You will be signed out on all devices, including this one.')}
        </ConfirmButton>
      </div>
    </Panel>
  );
}

/** Own account: name, password, second factor, sessions and preferences. */
export const Me = () => (
  <Page title={t('Your account')}>
    <div className={styles.me}>
      <PersonName />
      <Preferences />
      <Password />
      <SecondFactor />
      <Sessions />
    </div>
  </Page>
);
