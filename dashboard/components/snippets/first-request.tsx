import { useApi } from '../../api/hooks.ts';
import { t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { CopyValue, Snippet } from '../copy.tsx';
import { Panel } from '../page.tsx';
import { Tabs } from '../tabs.tsx';
import { SNIPPETS } from './snippets.ts';

/** The first request in several languages, with the ids of the tenant and of a usable key. */
export function Snippets() {
  const { membership, may } = useSession();
  const keys = useApi('GET /v1/api-keys', { query: { limit: 100 } }, { enabled: may('api-keys:manage') });
  const usable = keys.data?.data.filter(({ status }) => status === 'active' || status === 'rotating') ?? [];
  const key = usable.find(({ kind }) => kind === 'server') ?? usable[0];
  const ids = { baseUrl: location.origin, tenantId: membership.tenant.id, keyId: key?.id ?? 'key_…' };
  return (
    <Panel
      title={t('Your first request')}
      lead={t('The snippets contain your tenant ID and key ID. The secret was shown when the key was created.')}
    >
      <CopyValue value={membership.tenant.id} what={t('Tenant ID')} />
      <Tabs
        label={t('Snippet language')}
        tabs={SNIPPETS.map(({ id, title, code }) => ({
          id,
          title,
          content: <Snippet what={title} code={code(ids)} />,
        }))}
      />
    </Panel>
  );
}
