import { Link } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { Empty, Panel, Ready } from '../../components/page.tsx';
import { formatDuration, formatRelative, t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { useSession } from '../../session.tsx';
import styles from './home.module.css';

type Conversation = Schemas['Conversation'];

const EVERY_MS = 10_000;
const SHOWN = 5;

interface RowsProps {
  conversations: Conversation[];
  /** Text for a waiting time. */
  textOf(time: string): string;
}

const Rows = ({ conversations, textOf }: RowsProps) => (
  <ul className={styles.rows}>
    {conversations.map(({ id, identity, subject, last_message, waiting_since, last_activity_at }) => (
      <li key={id}>
        <span className={styles.spread}>
          <Link href={pathTo('conversation', { id })} className={styles.one}>
            <bdi>{subject || identity}</bdi>
          </Link>
          <span className="small quiet nowrap">
            {waiting_since ? textOf(formatDuration(waiting_since)) : formatRelative(last_activity_at)}
          </span>
        </span>
        <span className={`small quiet ${styles.one}`} dir="auto">
          {last_message.preview}
        </span>
      </li>
    ))}
  </ul>
);

/** Conversations whose user has waited longest for a reply. */
export function WaitingLongest() {
  const query = useApi(
    'GET /v1/conversations',
    { query: { sort: 'waiting_since', limit: SHOWN } },
    { everyMs: EVERY_MS },
  );
  return (
    <Panel title={t('Waiting longest')}>
      <Ready query={query} lines={2}>
        {({ data }) =>
          data.length > 0 ? (
            <Rows conversations={data} textOf={time => time} />
          ) : (
            <Empty title={t('No user is waiting for a reply')}>{t('Messages from users appear here.')}</Empty>
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
            <Rows conversations={data} textOf={time => t('Waiting {time}', { time })} />
          ) : (
            <p className="quiet">{t('No open conversation is assigned to you.')}</p>
          )
        }
      </Ready>
    </Panel>
  );
}
