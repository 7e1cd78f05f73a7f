import { Link, useSearch } from 'wouter';
import { useApi, useList } from '../api/hooks.ts';
import type { Identity } from '../api/names.ts';
import type { Schemas } from '../api/schema.ts';
import { Badge } from '../components/badge.tsx';
import { Empty, Page, Panel, Ready } from '../components/page.tsx';
import { More, Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { formatTime, t } from '../i18n.ts';
import { BASE, pathTo } from '../paths.ts';
import { answerState, CONVERSATION_TONE, conversationStatus, valueText } from '../words.ts';
import styles from './identity.module.css';

interface Who {
  identity: string;
  verified: boolean;
}

/** The profile as name-value pairs; empty fields are omitted. */
function factsOf({
  attributes,
  locale,
  platform,
  app_version,
  first_seen_at,
  last_seen_at,
}: Identity): [string, string][] {
  const facts: [string, string | null][] = [
    [t('Platform'), platform],
    [t('App version'), app_version],
    [t('Language'), locale],
    ...Object.entries(attributes).map(([name, value]): [string, string] => [name, String(value)]),
    [t('First seen'), first_seen_at && formatTime(first_seen_at)],
    [t('Last seen'), last_seen_at && formatTime(last_seen_at)],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}

const Attributes = ({ identity }: { identity: Identity }) => (
  <dl className={styles.facts}>
    {factsOf(identity).map(([name, value]) => (
      <div key={name}>
        <dt className="small quiet wrap-anywhere">{name}</dt>
        <dd className="wrap-anywhere">{value}</dd>
      </div>
    ))}
  </dl>
);

/** Profile of an identity; empty without one (404). */
function Profile({ who }: { who: Who }) {
  const query = useApi('GET /v1/identities/{identity}', {
    params: { identity: who.identity },
    query: { verified: who.verified },
  });
  if (query.error?.status === 404) return null;
  return (
    <Panel title={t('User details')}>
      <Ready query={query} lines={1}>
        {identity => <Attributes identity={identity} />}
      </Ready>
    </Panel>
  );
}

const QuestionName = ({ id }: { id: string }) => {
  const { data } = useApi('GET /v1/questions/{id}', { params: { id } });
  return <Link href={pathTo('questionResults', { id })}>{data?.name ?? t('Question')}</Link>;
};

const answerColumns = () => [
  { label: t('Question'), cell: ({ question_id }: Schemas['Answer']) => <QuestionName id={question_id} /> },
  {
    label: t('Answer'),
    cell: ({ values, comment }: Schemas['Answer']) => (
      <>
        <strong className="wrap-anywhere">{valueText(values.main) || '–'}</strong>
        {comment && <p className="wrap-anywhere">{comment}</p>}
      </>
    ),
  },
  { label: t('Status'), cell: ({ state }: Schemas['Answer']) => answerState(state) },
  { label: t('Time'), cell: ({ received_at }: Schemas['Answer']) => <Time at={received_at} /> },
];

function Answers({ who }: { who: Who }) {
  const list = useList('GET /v1/answers', { query: { ...who } }, { limit: 20 });
  return (
    <Panel title={t('Answers')}>
      <Ready query={list}>
        {() =>
          list.items.length === 0 && !list.hasNextPage ? (
            <Empty title={t('No answers')} />
          ) : (
            <>
              <Table caption={t('Answers')} rows={list.items} keyOf={({ id }) => id} columns={answerColumns()} />
              <More list={list} />
            </>
          )
        }
      </Ready>
    </Panel>
  );
}

const conversationColumns = () => [
  {
    label: t('Conversation'),
    cell: ({ id, subject, last_message }: Schemas['Conversation']) => (
      <Link href={pathTo('conversation', { id })} className="wrap-anywhere">
        {subject || last_message.preview}
      </Link>
    ),
  },
  {
    label: t('Status'),
    cell: ({ status }: Schemas['Conversation']) => (
      <Badge tone={CONVERSATION_TONE[status]}>{conversationStatus(status)}</Badge>
    ),
  },
  { label: t('Last message'), cell: ({ last_activity_at }: Schemas['Conversation']) => <Time at={last_activity_at} /> },
];

function Conversations({ who }: { who: Who }) {
  const list = useList('GET /v1/conversations', { query: { ...who } }, { limit: 20 });
  return (
    <Panel title={t('Conversations')}>
      <Ready query={list}>
        {() =>
          list.items.length === 0 && !list.hasNextPage ? (
            <Empty title={t('No conversations')} />
          ) : (
            <>
              <Table
                caption={t('Conversations')}
                rows={list.items}
                keyOf={({ id }) => id}
                columns={conversationColumns()}
              />
              <More list={list} />
            </>
          )
        }
      </Ready>
    </Panel>
  );
}

/** The identity in the URL. Not read from the router, which decodes doubly encoded paths incorrectly. */
const identityHere = (): string => decodeURIComponent(location.pathname.slice(BASE.length + pathTo('identity').length));

/** All data of one identity. A verified and an unverified identity of the same name are distinct. */
export function IdentityPage() {
  const isClaimed = useSearch() === 'claimed';
  const who: Who = { identity: identityHere(), verified: !isClaimed };
  return (
    <Page
      title={who.identity}
      lead={
        isClaimed ? (
          <Badge tone="warn">{t('Unverified (signed in with a public key)')}</Badge>
        ) : (
          <Badge tone="good">{t('Verified by your backend')}</Badge>
        )
      }
    >
      <div className={styles.person}>
        <Profile who={who} />
        <div className={styles.left}>
          <Answers who={who} />
          <Conversations who={who} />
        </div>
      </div>
    </Page>
  );
}
