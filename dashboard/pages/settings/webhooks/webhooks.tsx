import { useState } from 'react';
import { Link } from 'wouter';
import { useList } from '../../../api/hooks.ts';
import type { Webhook, WebhookWithSecret } from '../../../api/names.ts';
import { EVENT_TYPES } from '../../../api/schema.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import styles from '../../../components/list-page.module.css';
import { Empty, Ready } from '../../../components/page.tsx';
import { More, Table } from '../../../components/table.tsx';
import { t } from '../../../i18n.ts';
import { pathTo } from '../../../paths.ts';
import { SettingsFrame } from '../frame.tsx';
import { disabledReason, lagText, stateOf } from './states.ts';
import { CreateWebhookForm } from './webhook-forms.tsx';
import { WebhookSecret } from './webhook-secret.tsx';

const EVERY_MS = 5000;

const Name = ({ webhook: { id, url, description } }: { webhook: Webhook }) => (
  <>
    <Link href={pathTo('webhook', { id })} className={styles.name}>
      {url}
    </Link>
    {description && <p className="small quiet wrap-anywhere">{description}</p>}
  </>
);

function Status({ webhook }: { webhook: Webhook }) {
  const [state, tone] = stateOf(webhook);
  return (
    <>
      <Badge tone={tone}>{state}</Badge>
      {webhook.disabled_reason && <p className="small quiet">{disabledReason(webhook.disabled_reason)}</p>}
    </>
  );
}

const typesText = (types: Webhook['event_types']): string =>
  types.length === EVENT_TYPES.length
    ? t('All events')
    : t('{count, plural, one {# type} other {# types}}', { count: types.length });

/** Settings, tab Webhooks. */
export function Webhooks() {
  const list = useList('GET /v1/webhooks', {}, { everyMs: EVERY_MS });
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<WebhookWithSecret>();
  const create = (
    <Button look="primary" onPress={() => setCreating(true)}>
      {t('Create webhook')}
    </Button>
  );
  return (
    <SettingsFrame title={t('Webhooks')} actions={create}>
      <Ready query={list}>
        {() =>
          list.items.length === 0 ? (
            <Empty title={t('No webhooks yet')} action={create}>
              {t('A webhook sends what happens, such as answers and messages, to your own systems at once.')}
            </Empty>
          ) : (
            <>
              <Table
                caption={t('Webhooks')}
                rows={list.items}
                keyOf={({ id }) => id}
                columns={[
                  { label: t('URL'), cell: webhook => <Name webhook={webhook} /> },
                  { label: t('Status'), cell: webhook => <Status webhook={webhook} /> },
                  { label: t('Backlog'), cell: ({ lag }) => lagText(lag) },
                  {
                    label: t('Events'),
                    cell: ({ event_types }) => <span className="nowrap">{typesText(event_types)}</span>,
                  },
                ]}
              />
              <More list={list} />
            </>
          )
        }
      </Ready>
      <Dialog title={t('Create webhook')} isOpen={isCreating} close={() => setCreating(false)} dismissable={false}>
        <CreateWebhookForm
          done={webhook => {
            setCreating(false);
            setMade(webhook);
          }}
        />
      </Dialog>
      {made?.secret && <WebhookSecret webhook={{ ...made, secret: made.secret }} close={() => setMade(undefined)} />}
    </SettingsFrame>
  );
}
