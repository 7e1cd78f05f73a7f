import type { ApiKeyWithSecrets } from '../../api/names.ts';
import { t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { ShownOnce, ShownValue } from './shown-once.tsx';

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

/** Shows a new key's credentials once. */
export function Secrets({ apiKey, close }: { apiKey: ApiKeyWithSecrets; close(): void }) {
  const { membership } = useSession();
  const copy = apiKey.secret
    ? {
        text: envOf(apiKey, membership.tenant.id),
        label: t('Copy .env'),
        what: '.env',
        warning: t('You have not copied the .env file. The secrets cannot be shown again.'),
      }
    : undefined;
  return (
    <ShownOnce
      title={t('API key “{name}”', { name: apiKey.name })}
      copy={copy}
      close={close}
      after={!apiKey.secret && <p>{t('Public keys have no secret. Your app needs only the key ID.')}</p>}
    >
      <ShownValue label={t('API key ID')} value={apiKey.id} what={t('API key ID')} />
      {apiKey.secret && (
        <ShownValue
          label={t('API key secret (signs tokens for your users; keep it on your backend)')}
          value={apiKey.secret}
          what={t('API key secret')}
        />
      )}
      {apiKey.api_key && (
        <ShownValue label={t('API key (for requests from your servers)')} value={apiKey.api_key} what={t('API key')} />
      )}
    </ShownOnce>
  );
}
