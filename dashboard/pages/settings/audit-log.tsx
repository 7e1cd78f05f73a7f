import { useList } from '../../api/hooks.ts';
import type { AuditEntry } from '../../api/names.ts';
import { ACTIONS } from '../../api/schema.ts';
import { Badge } from '../../components/badge.tsx';
import { Filter } from '../../components/fields/fields.tsx';
import { Empty, Ready } from '../../components/page.tsx';
import { More, Table } from '../../components/table.tsx';
import { formatTime, t } from '../../i18n.ts';
import { useQueryState } from '../../query-state.ts';
import { SettingsFrame } from './frame.tsx';

const actorKind = (type: AuditEntry['actor']['type']): string =>
  ({ member: t('Member'), api_key: t('API key'), system: t('Parley') })[type];

const columns = () => [
  {
    label: t('Time'),
    cell: ({ at }: AuditEntry) => (
      <time dateTime={at} className="nowrap">
        {formatTime(at, { dateStyle: 'medium', timeStyle: 'medium' })}
      </time>
    ),
  },
  {
    label: t('Actor'),
    cell: ({ actor }: AuditEntry) => (
      <>
        <span className="wrap-anywhere">{actor.name ?? actor.id ?? '–'}</span>{' '}
        <Badge plain>{actorKind(actor.type)}</Badge>
      </>
    ),
  },
  { label: t('Action'), cell: ({ action }: AuditEntry) => <code>{action}</code> },
  {
    label: t('Target'),
    cell: ({ target, fields }: AuditEntry) => (
      <>
        <span className="wrap-anywhere">{target.name ?? target.id ?? '–'}</span>
        {fields.length > 0 && <p className="small quiet wrap-anywhere">{fields.join(', ')}</p>}
      </>
    ),
  },
  {
    label: t('Request ID'),
    cell: ({ request_id, ip }: AuditEntry) => (
      <>
        <code className="small quiet wrap-anywhere">{request_id ?? '–'}</code>
        {ip && <p className="small quiet">{ip}</p>}
      </>
    ),
  },
];

const FILTERS = { action: '' as AuditEntry['action'] | '' };

/** Settings, tab Audit log: administrative actions, newest first. Entries are immutable. */
export function AuditLog() {
  const [{ action }, change] = useQueryState(FILTERS);
  const list = useList('GET /v1/audit-log', { query: { action: action || undefined } });
  return (
    <SettingsFrame title={t('Audit log')}>
      <div className="row">
        <Filter
          small
          label={t('Action')}
          value={action}
          onChange={event => change({ action: event.target.value as typeof action })}
        >
          <option value="">{t('All actions')}</option>
          {ACTIONS.map(name => (
            <option key={name}>{name}</option>
          ))}
        </Filter>
      </div>
      <Ready query={list}>
        {() =>
          list.items.length === 0 && !list.hasNextPage ? (
            <Empty title={t('No matching entries')}>{t('Administrative actions are listed here.')}</Empty>
          ) : (
            <>
              <Table caption={t('Audit log')} columns={columns()} rows={list.items} keyOf={({ id }) => id} />
              <More list={list} />
            </>
          )
        }
      </Ready>
    </SettingsFrame>
  );
}
