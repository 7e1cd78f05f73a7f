import { useState } from 'react';
import { useAct, useList } from '../../api/hooks.ts';
import type { ApiKey, ApiKeyWithSecrets } from '../../api/names.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmButton, Dialog } from '../../components/dialog.tsx';
import { Empty, Ready } from '../../components/page.tsx';
import { Snippets } from '../../components/snippets/first-request.tsx';
import { More, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { formatTime, t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { KEY_TONE, keyStatus } from '../../words.ts';
import { CreateKeyForm, OriginsForm, RotateKeyForm } from './api-key-forms.tsx';
import { SettingsFrame } from './frame.tsx';
import { Secrets } from './secrets.tsx';
import { TokenInspector } from './token-inspector.tsx';

type Task = { kind: 'create' } | { kind: 'rotate' | 'origins'; apiKey: ApiKey };

function Actions({ apiKey, begin }: { apiKey: ApiKey; begin(task: Task): void }) {
  const revoke = useAct('DELETE /v1/api-keys/{id}');
  if (apiKey.status === 'revoked' || apiKey.status === 'expired') return null;
  return (
    <div className="row">
      {apiKey.kind === 'public' && (
        <Button small look="quiet" onPress={() => begin({ kind: 'origins', apiKey })}>
          {t('Origins')}
        </Button>
      )}
      {apiKey.status !== 'rotating' && (
        <Button small look="quiet" onPress={() => begin({ kind: 'rotate', apiKey })}>
          {t('Rotate')}
        </Button>
      )}
      <ConfirmButton
        small
        label={t('Revoke')}
        title={t('Revoke “{name}”?', { name: apiKey.name })}
        confirmLabel={t('Revoke')}
        act={async () => {
          await revoke.mutateAsync({ params: { id: apiKey.id } });
          toast(t('API key revoked.'));
        }}
      >
        {t('Tokens and requests that use this key are rejected within a second. This cannot be undone.')}
      </ConfirmButton>
    </div>
  );
}

const Name = ({ apiKey }: { apiKey: ApiKey }) => (
  <>
    <div className="row">
      <strong className="wrap-anywhere">{apiKey.name}</strong>
      {apiKey.kind === 'public' && (
        <Badge plain tone="info">
          {t('Public')}
        </Badge>
      )}
    </div>
    <code className="small quiet wrap-anywhere">{apiKey.id}</code>
    {apiKey.allowed_origins.length > 0 && (
      <p className="small quiet wrap-anywhere">{apiKey.allowed_origins.join(' · ')}</p>
    )}
    {apiKey.kind === 'server' && (
      <details className="small quiet">
        <summary>{t('{count, plural, one {# scope} other {# scopes}}', { count: apiKey.scopes.length })}</summary>
        {apiKey.scopes.join(' · ')}
      </details>
    )}
  </>
);

/** Settings, tab API keys. */
export function ApiKeys() {
  const list = useList('GET /v1/api-keys', {});
  const { may } = useSession();
  const [task, begin] = useState<Task>();
  const [made, setMade] = useState<ApiKeyWithSecrets>();
  const finish = (apiKey?: ApiKeyWithSecrets) => {
    begin(undefined);
    setMade(apiKey);
  };
  const create = may('api-keys:manage') && (
    <Button look="primary" onPress={() => begin({ kind: 'create' })}>
      {t('Create API key')}
    </Button>
  );
  return (
    <SettingsFrame title={t('API keys')} actions={create}>
      <Ready query={list}>
        {() =>
          list.items.length === 0 ? (
            <Empty title={t('No API keys yet')} action={create}>
              {t('Your backend uses an API key to sign tokens for your users and to call the API.')}
            </Empty>
          ) : (
            <>
              <Table
                caption={t('API keys')}
                rows={list.items}
                keyOf={({ id }) => id}
                columns={[
                  { label: t('Key'), cell: apiKey => <Name apiKey={apiKey} /> },
                  {
                    label: t('Status'),
                    cell: ({ status }) => <Badge tone={KEY_TONE[status]}>{keyStatus(status)}</Badge>,
                  },
                  { label: t('Created'), cell: ({ created_at }) => <Time at={created_at} /> },
                  {
                    label: t('Last used'),
                    cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} /> : t('Never')),
                  },
                  {
                    label: t('Expires'),
                    cell: ({ expires_at }) =>
                      expires_at ? formatTime(expires_at, { dateStyle: 'medium' }) : t('Never'),
                  },
                  { label: t('Actions'), actions: true, cell: apiKey => <Actions apiKey={apiKey} begin={begin} /> },
                ]}
              />
              <More list={list} />
            </>
          )
        }
      </Ready>
      <Snippets />
      {may('tokens:inspect') && <TokenInspector />}
      <Dialog title={t('Create API key')} isOpen={task?.kind === 'create'} close={() => begin(undefined)}>
        <CreateKeyForm done={finish} />
      </Dialog>
      <Dialog title={t('Rotate API key')} isOpen={task?.kind === 'rotate'} close={() => begin(undefined)}>
        {task?.kind === 'rotate' && <RotateKeyForm apiKey={task.apiKey} done={finish} />}
      </Dialog>
      <Dialog title={t('Allowed origins')} isOpen={task?.kind === 'origins'} close={() => begin(undefined)}>
        {task?.kind === 'origins' && <OriginsForm apiKey={task.apiKey} done={() => finish()} />}
      </Dialog>
      {made && <Secrets apiKey={made} close={() => setMade(undefined)} />}
    </SettingsFrame>
  );
}
