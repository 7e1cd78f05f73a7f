import { useState } from 'react';
import { Link } from 'wouter';
import { useList } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Filter } from '../../components/fields/fields.tsx';
import { GivenValues } from '../../components/given-values.tsx';
import { Empty, Panel, Ready } from '../../components/page.tsx';
import { QuestionLink, useQuestion } from '../../components/question-link.tsx';
import { More } from '../../components/table.tsx';
import { t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { useQueryState } from '../../query-state.ts';
import { answerState, CONVERSATION_TONE, conversationStatus, valueText } from '../../words.ts';
import { ShownCard } from '../questions/shown-card.tsx';
import { EntryLine } from './entry.tsx';
import { ProfileEntry } from './profile-entry.tsx';
import styles from './timeline.module.css';
import { type Entry, mergeSources } from './timeline-entries.ts';

/** Entries per page of each source. */
const PAGE = 20;
/** More changes of a profile are not kept, so one page has all. */
const ALL_CHANGES = 50;

const FILTERS = { show: '' };

/** An answer with the labels of its question's options; a button opens the card as it was shown. */
function AnswerEntry({ answer }: { answer: Schemas['Answer'] }) {
  const { question_id, values, comment, state, received_at } = answer;
  const question = useQuestion(question_id);
  const [isOpen, setOpen] = useState(false);
  return (
    <EntryLine icon="question" at={received_at}>
      <QuestionLink id={question_id} />
      <p className="row">
        <strong className="wrap-anywhere" dir="auto">
          {valueText(values.main, question) || '–'}
        </strong>
        {state !== 'completed' && <Badge plain>{answerState(state)}</Badge>}
      </p>
      {comment && (
        <p className="wrap-anywhere" dir="auto">
          {comment}
        </p>
      )}
      <GivenValues answer={answer} question={question} />
      {question && (
        <div className={styles.view}>
          <Button small look="quiet" onPress={() => setOpen(true)}>
            {t('View card')}
            <span className="hidden-text">{` ${question.name}`}</span>
          </Button>
          <Dialog title={t('Answer')} isOpen={isOpen} close={() => setOpen(false)}>
            <ShownCard answer={answer} question={question} />
          </Dialog>
        </div>
      )}
    </EntryLine>
  );
}

const ConversationEntry = ({ conversation }: { conversation: Schemas['Conversation'] }) => {
  const { id, subject, last_message, status, last_activity_at } = conversation;
  return (
    <EntryLine icon="inbox" at={last_activity_at}>
      <Link href={pathTo('conversation', { id })} className="wrap-anywhere">
        {subject || last_message.preview}
      </Link>
      {subject && (
        <p className="wrap-anywhere" dir="auto">
          {last_message.preview}
        </p>
      )}
      <p>
        <Badge tone={CONVERSATION_TONE[status]}>{conversationStatus(status)}</Badge>
      </p>
    </EntryLine>
  );
};

function EntryRow({ entry }: { entry: Entry }) {
  switch (entry.kind) {
    case 'answer':
      return <AnswerEntry answer={entry.answer} />;
    case 'conversation':
      return <ConversationEntry conversation={entry.conversation} />;
    case 'profile':
      return <ProfileEntry change={entry.change} />;
    case 'first-seen':
      return (
        <EntryLine icon="person" at={entry.at}>
          {t('First seen')}
        </EntryLine>
      );
  }
}

const keyOf = (entry: Entry): string => {
  if (entry.kind === 'answer') return entry.answer.id;
  if (entry.kind === 'profile') return `${entry.kind} ${entry.change.number}`;
  return entry.kind === 'conversation' ? entry.conversation.id : entry.kind;
};

interface Who {
  identity: string;
  verified: boolean;
}

/**
 * The entries of a person that are known without gaps, and how to fetch older ones.
 *
 * Each list is fetched page by page, and further only to show older entries. A write fetches one page again.
 */
function useTimeline(who: Who, show: string, firstSeenAt: string | null | undefined) {
  const answers = useList('GET /v1/answers', { query: { ...who } }, { limit: PAGE });
  const conversations = useList('GET /v1/conversations', { query: { ...who } }, { limit: PAGE });
  const { identity, verified } = who;
  const changes = useList(
    'GET /v1/identities/{identity}/changes',
    { params: { identity }, query: { verified } },
    { limit: ALL_CHANGES },
  );
  const lists = [
    {
      ...answers,
      name: 'answers',
      entries: answers.items.map((answer): Entry => ({ kind: 'answer', at: answer.received_at, answer })),
    },
    {
      ...conversations,
      name: 'conversations',
      entries: conversations.items.map(
        (conversation): Entry => ({ kind: 'conversation', at: conversation.last_activity_at, conversation }),
      ),
    },
    {
      ...changes,
      name: 'profile',
      entries: changes.items.map((change): Entry => ({ kind: 'profile', at: change.at, change })),
    },
  ].filter(({ name }) => !show || show === name);
  const seen: Entry[] = firstSeenAt && !show ? [{ kind: 'first-seen', at: firstSeenAt }] : [];
  const { entries, bounding } = mergeSources([
    ...lists.map(({ entries: known, hasNextPage, searchedTo }) => ({
      entries: known,
      hasMore: hasNextPage,
      searchedTo,
    })),
    { entries: seen, hasMore: false },
  ]);
  const further = lists.filter((_, position) => bounding.includes(position));
  return {
    entries,
    error: lists.find(({ error }) => error)?.error ?? null,
    data: lists.every(({ data }) => data) || undefined,
    refetch: () => Promise.all(lists.map(({ refetch }) => refetch())),
    hasNextPage: further.length > 0,
    isFetchingNextPage: further.some(list => list.isFetchingNextPage),
    searchedTo: further.find(list => list.searchedTo)?.searchedTo,
    furtherError: further.find(list => list.furtherError)?.furtherError,
    fetchNextPage: () => Promise.all(further.map(list => list.fetchNextPage())),
  };
}

/** Answers, conversations and profile changes of a person in one list, newest first. */
export function Timeline({ who, firstSeenAt }: { who: Who; firstSeenAt: string | null | undefined }) {
  const [{ show }, change] = useQueryState(FILTERS);
  const timeline = useTimeline(who, show, firstSeenAt);
  return (
    <Panel title={t('Timeline')}>
      <div className="row">
        <Filter small label={t('Entries')} value={show} onChange={event => change({ show: event.target.value })}>
          <option value="">{t('All entries')}</option>
          <option value="answers">{t('Answers')}</option>
          <option value="conversations">{t('Conversations')}</option>
          <option value="profile">{t('Profile changes')}</option>
        </Filter>
      </div>
      <Ready query={timeline}>
        {() =>
          timeline.entries.length === 0 && !timeline.hasNextPage ? (
            <Empty title={t('No entries')} />
          ) : (
            <>
              <ol className={styles.entries}>
                {timeline.entries.map(entry => (
                  <EntryRow key={keyOf(entry)} entry={entry} />
                ))}
              </ol>
              <More list={timeline} />
            </>
          )
        }
      </Ready>
    </Panel>
  );
}
