import { Link } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { Empty, Panel, Ready } from '../../components/page.tsx';
import { formatDuration, t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { useSession } from '../../session.tsx';
import styles from './home.module.css';

type Conversation = Schemas['Conversation'];

const EVERY_MS = 10_000;
const SHOWN = 5;

const Rows = ({ conversations }: { conversations: Conversation[] }) => (
  <ul className={styles.rows}>
    {conversations.map(({ id, identity, subject, last_message, waiting_since, last_activity_at }) => (
      <li key={id}>
        <span className={styles.spread}>
          <Link href={pathTo('conversation', { id })} className={styles.one}>
            <bdi>{subject || identity}</bdi>
          </Link>
          <span className="small quiet nowrap">{formatDuration(waiting_since ?? last_activity_at)}</span>
        </span>
        <span className={`small quiet ${styles.one}`} dir="auto">
          {last_message.preview}
        </span>
      </li>
    ))}
  </ul>
);

/** Open conversations that have waited longest. */
export function WaitingLongest() {
  const query = useApi(
    'GET /v1/conversations',
    { query: { status: 'open', sort: 'last_activity_at', limit: SHOWN } },
    { everyMs: EVERY_MS },
  );
  return (
    <Panel title={t('Waiting longest')}>
      <Ready query={query} lines={2}>
        {({ data }) =>
          data.length > 0 ? (
            <Rows conversations={data} />
          ) : (
            <Empty title={t('No open conversations')}>{t('Messages from users appear here.')}</Empty>
          )
        }
      </Ready>
    </Panel>
  );
}

/** Open conversations that are assigned to the member. */
export function Mine() {
  const { membership } = useSession();
  const query = useApi(
    'GET /v1/conversations',
    { query: { status: 'open', assignee: membership.member_id, limit: SHOWN } },
    { everyMs: EVERY_MS },
  );
  return (
    <Panel title={t('Assigned to me')}>
      <Ready query={query} lines={2}>
        {({ data }) =>
          data.length > 0 ? (
            <Rows conversations={data} />
          ) : (
            <p className="quiet">{t('No open conversation is assigned to you.')}</p>
          )
        }
      </Ready>
    </Panel>
  );
}
