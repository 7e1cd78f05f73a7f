import { useParams } from 'wouter';
import { useAct, useApi } from '../../../api/hooks.ts';
import type { Webhook } from '../../../api/names.ts';
import { Button } from '../../../components/button.tsx';
import { type Figure, Figures } from '../../../components/figure.tsx';
import { Page, Ready } from '../../../components/page.tsx';
import { Note } from '../../../components/problem-note.tsx';
import { showProblem, toast } from '../../../components/toast.tsx';
import { formatTime, t } from '../../../i18n.ts';
import { pathTo } from '../../../paths.ts';
import { Deliveries } from './deliveries.tsx';
import { disabledReason, secondsText, stateOf } from './states.ts';
import { WebhookActions } from './webhook-actions.tsx';

const EVERY_MS = 5000;

function figuresOf(webhook: Webhook): Figure[] {
  const [state, tone] = stateOf(webhook);
  const late = tone === 'warn' || tone === 'bad' ? tone : undefined;
  return [
    { label: t('Status'), value: state, tone: late },
    {
      label: t('Backlog'),
      value: t('{count, plural, one {# event} other {# events}}', { count: webhook.lag.events }),
      tone: late,
    },
    {
      label: t('Oldest event in it'),
      value: webhook.lag.events === 0 ? '–' : secondsText(webhook.lag.seconds),
      tone: late,
    },
    { label: t('Content'), value: webhook.payload === 'full' ? t('With the object') : t('Link only') },
  ];
}

const Notes = ({ webhook: { disabled_reason, previous_secret_until } }: { webhook: Webhook }) => (
  <>
    {disabled_reason && (
      <Note tone="warn">
        <p>{disabledReason(disabled_reason)}</p>
      </Note>
    )}
    {previous_secret_until && (
      <Note>
        <p>
          {t('Requests are also signed with the previous secret until {time}.', {
            time: formatTime(previous_secret_until),
          })}
        </p>
      </Note>
    )}
  </>
);

/** Button that sends a test event. */
function TestButton({ webhook: { id } }: { webhook: Webhook }) {
  const test = useAct('POST /v1/webhooks/{id}/test');
  const send = () =>
    test.mutate(
      { params: { id } },
      { onSuccess: () => toast(t('The test is sent. Its outcome appears below.')), onError: showProblem },
    );
  return (
    <Button isPending={test.isPending} onPress={send}>
      {t('Send test')}
    </Button>
  );
}

/** A webhook with its state and its deliveries. */
export function WebhookPage() {
  const { id = '' } = useParams();
  const query = useApi('GET /v1/webhooks/{id}', { params: { id } }, { everyMs: EVERY_MS });
  const back = { href: pathTo('webhooks'), label: t('Webhooks') };
  const webhook = query.data;
  return (
    <Page
      title={webhook?.url ?? t('Webhook')}
      lead={webhook?.description}
      back={back}
      actions={webhook?.status === 'enabled' && <TestButton webhook={webhook} />}
    >
      <Ready query={query}>
        {found => (
          <>
            <WebhookActions webhook={found} etag={query.etag} />
            <Notes webhook={found} />
            <Figures figures={figuresOf(found)} />
            <Deliveries webhook={found} />
          </>
        )}
      </Ready>
    </Page>
  );
}
