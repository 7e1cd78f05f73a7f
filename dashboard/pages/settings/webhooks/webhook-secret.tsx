import type { WebhookWithSecret } from '../../../api/names.ts';
import { t } from '../../../i18n.ts';
import { ShownOnce, ShownValue } from '../shown-once.tsx';

/** Shows the secret of a new webhook, or its new secret, once. */
export const WebhookSecret = ({
  webhook: { secret, url },
  close,
}: {
  webhook: WebhookWithSecret & { secret: string };
  close(): void;
}) => (
  <ShownOnce
    title={t('Secret of the webhook')}
    close={close}
    copy={{
      text: secret,
      label: t('Copy secret'),
      what: t('Secret'),
      warning: t('You have not copied the secret. It cannot be shown again.'),
    }}
    after={<p className="quiet">{t('Your receiver uses it to verify that a request comes from Parley.')}</p>}
  >
    <div>
      <dt className="small quiet">{t('URL')}</dt>
      <dd className="wrap-anywhere">{url}</dd>
    </div>
    <ShownValue label={t('Secret')} value={secret} what={t('Secret')} />
  </ShownOnce>
);
