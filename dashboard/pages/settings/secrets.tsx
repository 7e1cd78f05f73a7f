import { useState } from 'react';
import type { ApiKeyWithSecrets } from '../../api/names.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton, CopyValue } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Note } from '../../components/problem-note.tsx';
import { toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { useLeaveGuard } from '../../leaving.ts';
import { useSession } from '../../session.tsx';

/** The variables of a key for an `.env` file, with the names that the guides use. */
function envOf({ id, secret, api_key }: ApiKeyWithSecrets, tenantId: string): string {
  const variables: [name: string, value: string | undefined][] = [
    ['SERVICE_BASE_URL', location.origin],
    ['SERVICE_TENANT_ID', tenantId],
    ['SERVICE_API_KEY_ID', id],
    ['SERVICE_API_KEY_SECRET', secret],
    ['SERVICE_API_KEY', api_key],
  ];
  return variables.flatMap(([name, value]) => (value ? [`${name}=${value}\n`] : [])).join('');
}

const Value = ({ label, value, what }: { label: string; value: string; what: string }) => (
  <div>
    <dt className="small quiet">{label}</dt>
    <dd>
      <CopyValue value={value} what={what} />
    </dd>
  </div>
);

/** The buttons below the values; without a copy, closing asks once more. */
function Closing({ env, close }: { env: string; close(): void }) {
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      {isAsking && !isCopied && (
        <p role="alert">{t('You have not copied the .env file. The secrets cannot be shown again.')}</p>
      )}
      <div className="row">
        <CopyButton text={env} label={t('Copy .env')} what=".env" copied={() => setCopied(true)} />
        {isAsking && !isCopied ? (
          <Button look="danger" onPress={close}>
            {t('Close anyway')}
          </Button>
        ) : (
          <Button look="primary" onPress={() => (isCopied ? close() : setAsking(true))}>
            {t('Done')}
          </Button>
        )}
      </div>
    </>
  );
}

/** Shows a new key's credentials once, in a dialog that does not close by accident: not by Escape, a click or Back. */
export function Secrets({ apiKey, close }: { apiKey: ApiKeyWithSecrets; close(): void }) {
  const { membership } = useSession();
  useLeaveGuard(apiKey.secret !== undefined, () => toast(t('Copy the values first, then choose Done.')));
  return (
    <Dialog
      title={t('API key “{name}”', { name: apiKey.name })}
      isOpen
      close={close}
      dismissable={false}
      hasClose={false}
    >
      {apiKey.secret && (
        <Note tone="warn">
          <p>{t('Copy these values now. They cannot be shown again.')}</p>
        </Note>
      )}
      <dl className="stack">
        <Value label={t('API key ID')} value={apiKey.id} what={t('API key ID')} />
        {apiKey.secret && (
          <Value
            label={t('API key secret (signs tokens for your users; keep it on your backend)')}
            value={apiKey.secret}
            what={t('API key secret')}
          />
        )}
        {apiKey.api_key && (
          <Value label={t('API key (for requests from your servers)')} value={apiKey.api_key} what={t('API key')} />
        )}
      </dl>
      {apiKey.secret ? (
        <Closing env={envOf(apiKey, membership.tenant.id)} close={close} />
      ) : (
        <>
          <p>{t('Public keys have no secret. Your app needs only the key ID.')}</p>
          <div>
            <Button look="primary" onPress={close}>
              {t('Done')}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
