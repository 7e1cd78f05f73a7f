import { useState } from 'react';
import type { Delivery, Webhook } from '../../../api/names.ts';
import { Snippet } from '../../../components/copy.tsx';
import { t } from '../../../i18n.ts';
import { EventJson } from '../events/event-json.tsx';
import styles from './exchange.module.css';

/** The head of a request. The signature is not shown: it would be valid for five minutes. */
const headOf = ({ url }: Webhook, { event_id, at }: Delivery): string =>
  [
    `POST ${url}`,
    'content-type: application/json',
    `webhook-id: ${event_id}`,
    `webhook-timestamp: ${Math.floor(Date.parse(at) / 1000)}`,
  ].join('\n');

const Request = ({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) => (
  <>
    <h3>{t('Request')}</h3>
    <Snippet what={t('Headers of the request')} code={headOf(webhook, delivery)} />
    {delivery.sequence === null ? (
      <p className="small quiet">{t('A test has no object.')}</p>
    ) : (
      <>
        <p className="small quiet">{t('Requests are not stored. This is the event as it would be sent now.')}</p>
        <EventJson sequence={delivery.sequence} what={t('Event')} expand={webhook.payload === 'full'} />
        {webhook.payload === 'thin' && (
          <p className="small quiet">{t('The address of the object is added as data.href.')}</p>
        )}
      </>
    )}
  </>
);

const Response = ({ delivery: { response_status, response, error } }: { delivery: Delivery }) => (
  <>
    <h3>{t('Response')}</h3>
    {response_status === null ? (
      <p className="small">{error ?? t('No response yet.')}</p>
    ) : (
      <>
        <p className="small">{t('Status {status}', { status: response_status })}</p>
        {response ? (
          <Snippet what={t('Response')} code={response} />
        ) : (
          <p className="small quiet">{t('Without a text, or deleted with the object.')}</p>
        )}
      </>
    )}
  </>
);

/** Request and response of an attempt, on demand. */
export function Exchange({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="small" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{t('Request and response')}</summary>
      {isOpen && (
        <div className={styles.exchange}>
          <Request webhook={webhook} delivery={delivery} />
          <Response delivery={delivery} />
        </div>
      )}
    </details>
  );
}
