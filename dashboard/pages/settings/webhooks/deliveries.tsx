import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useAct, useList } from '../../../api/hooks.ts';
import type { Delivery, EventType, Webhook } from '../../../api/names.ts';
import { EVENT_TYPES } from '../../../api/schema.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Filter, SelectInput, TextInput } from '../../../components/fields/fields.tsx';
import { Form } from '../../../components/fields/form.tsx';
import { Empty, Panel, Ready } from '../../../components/page.tsx';
import { More, Table } from '../../../components/table.tsx';
import { showProblem, toast } from '../../../components/toast.tsx';
import { formatNumber, formatTime, t } from '../../../i18n.ts';
import { useQueryState } from '../../../query-state.ts';
import { Exchange } from './exchange.tsx';
import { DELIVERY_TONE, deliveryStatus } from './states.ts';

const EVERY_MS = 5000;
const FILTERS = { status: '' as Delivery['status'] | '' };
const STATUSES: Delivery['status'][] = ['delivered', 'failed', 'waiting'];

const durationText = (ms: number): string => formatNumber(ms, { style: 'unit', unit: 'millisecond' });

/** The outcome of an attempt: what the receiver replied, or why it did not. */
const Outcome = ({ delivery: { status, response_status, error, duration_ms } }: { delivery: Delivery }) => (
  <>
    <Badge tone={DELIVERY_TONE[status]}>{deliveryStatus(status)}</Badge>
    <p className="small quiet wrap-anywhere">
      {[response_status, error, duration_ms !== null && durationText(duration_ms)].filter(Boolean).join(' · ')}
    </p>
  </>
);

const Subject = ({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) => (
  <>
    <code className="wrap-anywhere">{delivery.type}</code>
    <p className="small quiet">
      {[
        delivery.sequence !== null && t('No. {number}', { number: formatNumber(delivery.sequence) }),
        t('Attempt {number}', { number: delivery.attempt }),
      ]
        .filter(Boolean)
        .join(' · ')}
    </p>
    <Exchange webhook={webhook} delivery={delivery} />
  </>
);

function ReplayButton({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const replay = useAct('POST /v1/webhooks/{id}/deliveries/{delivery_id}/replay');
  const again = () =>
    replay.mutate(
      { params: { id: webhook.id, delivery_id: delivery.id } },
      {
        onSuccess: () => toast(t('The event is sent again.')),
        onError: showProblem,
      },
    );
  return (
    <Button small look="quiet" isPending={replay.isPending} onPress={again}>
      {t('Send again')}
    </Button>
  );
}

interface Range {
  from: string;
  to: string;
  type: EventType | '';
}

/** Form that sends the events of a time range again, under their ids. */
function ReplayRangeForm({ webhook, done }: { webhook: Webhook; done(): void }) {
  const form = useForm<Range>({ defaultValues: { from: '', to: '', type: '' } });
  const replay = useAct('POST /v1/webhooks/{id}/replay');
  const send = async ({ from, to, type }: Range) => {
    const { count } = await replay.mutateAsync({
      params: { id: webhook.id },
      body: {
        from: new Date(from).toISOString(),
        ...(to ? { to: new Date(to).toISOString() } : {}),
        ...(type ? { types: [type] } : {}),
      },
    });
    toast(t('{count, plural, one {# event is sent again.} other {# events are sent again.}}', { count }));
    done();
  };
  return (
    <Form form={form} submitLabel={t('Send again')} send={send}>
      <p>
        {t(
          'The events are sent again with the same IDs, up to 30 days back. Your receiver recognizes those that it has.',
        )}
      </p>
      <TextInput form={form} name="from" autoFocus type="datetime-local" label={t('From')} rules={{ required: true }} />
      <TextInput form={form} name="to" type="datetime-local" label={t('Until')} hint={t('Empty: until now.')} />
      <SelectInput form={form} name="type" label={t('Event')}>
        <option value="">{t('All events')}</option>
        {EVENT_TYPES.map(type => (
          <option key={type}>{type}</option>
        ))}
      </SelectInput>
    </Form>
  );
}

/** The attempts to send events to a webhook, newest first. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const [{ status }, change] = useQueryState(FILTERS);
  const [isReplaying, setReplaying] = useState(false);
  const list = useList(
    'GET /v1/webhooks/{id}/deliveries',
    { params: { id: webhook.id }, query: { status: status || undefined } },
    { everyMs: EVERY_MS },
  );
  return (
    <Panel title={t('Deliveries')} lead={t('Every attempt of the last 30 days.')}>
      <div className="row">
        <Filter
          small
          label={t('Status')}
          value={status}
          onChange={event => change({ status: event.target.value as typeof status })}
        >
          <option value="">{t('All deliveries')}</option>
          {STATUSES.map(each => (
            <option key={each} value={each}>
              {deliveryStatus(each)}
            </option>
          ))}
        </Filter>
        {webhook.status === 'enabled' && (
          <Button small onPress={() => setReplaying(true)}>
            {t('Replay a period')}
          </Button>
        )}
      </div>
      <Ready query={list}>
        {() =>
          list.items.length === 0 ? (
            <Empty title={status ? t('No matching deliveries') : t('No deliveries yet')}>
              {t('Send a test to see whether your receiver replies.')}
            </Empty>
          ) : (
            <>
              <Table
                caption={t('Deliveries')}
                rows={list.items}
                keyOf={({ id }) => id}
                columns={[
                  {
                    label: t('Time'),
                    cell: ({ at }) => (
                      <time dateTime={at}>{formatTime(at, { dateStyle: 'medium', timeStyle: 'medium' })}</time>
                    ),
                  },
                  { label: t('Status'), cell: delivery => <Outcome delivery={delivery} /> },
                  { label: t('Event'), cell: delivery => <Subject webhook={webhook} delivery={delivery} /> },
                  {
                    label: t('Actions'),
                    actions: true,
                    cell: delivery =>
                      delivery.status !== 'waiting' &&
                      webhook.status === 'enabled' && <ReplayButton webhook={webhook} delivery={delivery} />,
                  },
                ]}
              />
              <More list={list} />
            </>
          )
        }
      </Ready>
      <Dialog title={t('Replay a period')} isOpen={isReplaying} close={() => setReplaying(false)}>
        <ReplayRangeForm webhook={webhook} done={() => setReplaying(false)} />
      </Dialog>
    </Panel>
  );
}
