import { type SyntheticEvent, useState } from 'react';
import { Link } from 'wouter';
import type { EventType, FeedEvent } from '../../../api/names.ts';
import { EVENT_TYPES } from '../../../api/schema.ts';
import { Button } from '../../../components/button.tsx';
import styles from '../../../components/fields/fields.module.css';
import { Filter } from '../../../components/fields/fields.tsx';
import { identityPath } from '../../../components/identity-link.tsx';
import { Empty, Ready } from '../../../components/page.tsx';
import { More, Table } from '../../../components/table.tsx';
import { formatNumber, formatTime, t } from '../../../i18n.ts';
import { pathTo } from '../../../paths.ts';
import { useQueryState } from '../../../query-state.ts';
import { SettingsFrame } from '../frame.tsx';
import { EventJson } from './event-json.tsx';
import { useFeed } from './use-feed.ts';

const FILTERS = { type: '' as EventType | '', from: '' };

const actorText = (actor: FeedEvent['data']['by']): string =>
  actor
    ? { member: t('Member'), api_key: t('API key'), user: t('User'), system: t('Parley') }[actor.type]
    : t('Parley');

/** The page of the object, where the dashboard has one. */
function objectPath({ object: { type, id, verified, conversation_id } }: FeedEvent): string | undefined {
  if (conversation_id) return pathTo('conversation', { id: conversation_id });
  if (id === null) return undefined;
  if (type === 'conversation') return pathTo('conversation', { id });
  if (type === 'question') return pathTo('questionResults', { id });
  if (type === 'webhook') return pathTo('webhook', { id });
  return type === 'identity' ? identityPath(id, verified ?? true) : undefined;
}

function ObjectLink({ event }: { event: FeedEvent }) {
  const path = objectPath(event);
  const { id, type } = event.object;
  if (id === null) return <span className="quiet">{t('Erased')}</span>;
  if (type === 'tenant') return null;
  return path ? (
    <Link href={path} className="small wrap-anywhere">
      <bdi>{id}</bdi>
    </Link>
  ) : (
    <code className="small wrap-anywhere">{id}</code>
  );
}

/** What the event itself says: the change and the number of objects. */
function changeText({ data: { from, to, count } }: FeedEvent): string {
  if (count !== undefined) return t('{count, plural, one {# object} other {# objects}}', { count });
  return from === undefined && to === undefined ? '' : `${from ?? '–'} → ${to ?? '–'}`;
}

/** The event as JSON, with its object, on demand. */
function Expanded({ sequence }: { sequence: number }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className="small"
      onToggle={(event: SyntheticEvent<HTMLDetailsElement>) => setOpen(event.currentTarget.open)}
    >
      <summary>{t('Show content')}</summary>
      {isOpen && <EventJson sequence={sequence} what={t('Event')} />}
    </details>
  );
}

const columns = () => [
  { label: t('No.'), cell: ({ sequence }: FeedEvent) => formatNumber(sequence) },
  {
    label: t('Time'),
    cell: ({ timestamp }: FeedEvent) => (
      <time dateTime={timestamp}>{formatTime(timestamp, { dateStyle: 'medium', timeStyle: 'medium' })}</time>
    ),
  },
  {
    label: t('Event'),
    cell: (event: FeedEvent) => (
      <>
        <code className="wrap-anywhere">{event.type}</code>
        <p className="small quiet wrap-anywhere">{changeText(event)}</p>
        <Expanded sequence={event.sequence} />
      </>
    ),
  },
  { label: t('Object'), cell: (event: FeedEvent) => <ObjectLink event={event} /> },
  { label: t('Actor'), cell: ({ data: { by } }: FeedEvent) => actorText(by) },
];

const numberOf = (text: string): number | undefined => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined);

/** Settings, tab Events: the feed, the newest first or from a number on. */
export function Events() {
  const [{ type, from }, change] = useQueryState(FILTERS);
  const feed = useFeed({ type, from: numberOf(from) });
  return (
    <SettingsFrame title={t('Events')} actions={<Button onPress={() => void feed.refetch()}>{t('Refresh')}</Button>}>
      <p className="quiet">
        {t(
          'Everything that happens, in order and without gaps, for 30 days. Webhooks send these events; the API returns them.',
        )}
      </p>
      <div className="row">
        <Filter
          small
          label={t('Event')}
          value={type}
          onChange={event => change({ type: event.target.value as typeof type })}
        >
          <option value="">{t('All events')}</option>
          {EVENT_TYPES.map(each => (
            <option key={each}>{each}</option>
          ))}
        </Filter>
        <label className="row small">
          {t('From no.')}
          <input
            className={`${styles.input} ${styles.small} ${styles.narrow}`}
            inputMode="numeric"
            placeholder={t('newest first')}
            value={from}
            onChange={event => change({ from: event.target.value.replaceAll(/\D/g, '') })}
          />
        </label>
      </div>
      <Ready query={feed}>
        {() =>
          feed.items.length === 0 && !feed.hasNextPage ? (
            <Empty title={type || from ? t('No matching events') : t('No events yet')}>
              {t('Answers, messages and changes appear here seconds after they happen.')}
            </Empty>
          ) : (
            <>
              <Table caption={t('Events')} columns={columns()} rows={feed.items} keyOf={({ id }) => id} />
              <More list={feed} />
            </>
          )
        }
      </Ready>
    </SettingsFrame>
  );
}
