import { Link } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { GivenValues } from '../../components/given-values.tsx';
import { identityPath } from '../../components/identity-link.tsx';
import { QuestionLink, useQuestion } from '../../components/question-link.tsx';
import { Time } from '../../components/time.tsx';
import { formatTime, t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { answerState, conversationStatus, valueText } from '../../words.ts';
import type { Conversation } from './conversation-changes.ts';
import { CustomFields } from './custom-fields.tsx';
import styles from './person-panel.module.css';
import { useIsWide } from './use-is-wide.ts';

const SHOWN = 5;

interface Who {
  identity: string;
  verified: boolean;
}

function Profile({ who }: { who: Who }) {
  const { data } = useApi('GET /v1/identities/{identity}', {
    params: { identity: who.identity },
    query: { verified: who.verified },
  });
  if (!data) return null;
  const facts: [string, string | null][] = [
    ...Object.entries(data.attributes).map(([name, value]): [string, string] => [name, String(value)]),
    [t('Platform'), data.platform],
    [t('App version'), data.app_version],
    [t('Language'), data.locale],
    [t('First seen'), data.first_seen_at && formatTime(data.first_seen_at, { dateStyle: 'medium' })],
  ];
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) =>
        value === null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="wrap-anywhere" dir="auto">
              {value}
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** An answer with its question; the value has the labels of the options. */
function AnswerItem({ answer }: { answer: Schemas['Answer'] }) {
  const { question_id: id, values, comment, state, received_at } = answer;
  const question = useQuestion(id);
  return (
    <li>
      <QuestionLink id={id} />
      <span className="wrap-anywhere" dir="auto">
        <strong>{valueText(values.main, question) || answerState(state)}</strong>
        {comment && <span>{` ${comment}`}</span>}
      </span>
      <GivenValues answer={answer} question={question} />
      <Time at={received_at} />
    </li>
  );
}

function Answers({ who }: { who: Who }) {
  const { data } = useApi('GET /v1/answers', { query: { ...who, limit: SHOWN } });
  return (
    <section aria-labelledby="panel-answers">
      <h3 id="panel-answers">{t('Answers')}</h3>
      {data?.data.length === 0 && <p className="quiet">{t('No answers')}</p>}
      <ul className={styles.items}>
        {data?.data.map(answer => (
          <AnswerItem key={answer.id} answer={answer} />
        ))}
      </ul>
    </section>
  );
}

function OtherConversations({ who, here }: { who: Who; here: string }) {
  const { data } = useApi('GET /v1/conversations', { query: { ...who, limit: SHOWN + 1 } });
  const others = data?.data.filter(({ id }) => id !== here).slice(0, SHOWN) ?? [];
  if (others.length === 0) return null;
  return (
    <section aria-labelledby="panel-conversations">
      <h3 id="panel-conversations">{t('Other conversations')}</h3>
      <ul className={styles.items}>
        {others.map(({ id, subject, last_message, status, last_activity_at }) => (
          <li key={id}>
            <Link href={pathTo('conversation', { id })} className="wrap-anywhere" dir="auto">
              {subject || last_message.preview}
            </Link>
            <span>{conversationStatus(status)}</span>
            <Time at={last_activity_at} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Panel({ conversationId, listed }: { conversationId: string; listed: Conversation | undefined }) {
  const { data } = useApi('GET /v1/conversations/{id}', { params: { id: conversationId } });
  const conversation = data ?? listed;
  if (!conversation) return <aside className={styles.panel} aria-label={t('User')} />;
  const who = { identity: conversation.identity, verified: conversation.identity_verified };
  return (
    <aside className={styles.panel} aria-label={t('User')}>
      <h2 className="wrap-anywhere" dir="auto">
        {who.identity}
      </h2>
      <Profile who={who} />
      <CustomFields conversation={conversation} />
      <Answers who={who} />
      <OtherConversations who={who} here={conversationId} />
      <Link href={identityPath(who.identity, who.verified)}>{t('All about this user')}</Link>
    </aside>
  );
}

/** The user of the open conversation: profile, answers and other conversations. Only on wide screens. */
export const PersonPanel = (props: Parameters<typeof Panel>[0]) => (useIsWide() ? <Panel {...props} /> : null);
