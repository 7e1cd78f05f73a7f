import { useAct, useList } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { t } from '../../i18n.ts';
import { valueTone } from '../../score.ts';
import { useSession } from '../../session.tsx';
import { mainText, valueText } from '../../words.ts';
import { Badge } from '../badge.tsx';
import { Search } from '../fields/search.tsx';
import { TagEditor } from '../fields/tag-editor.tsx';
import { GivenValues } from '../given-values.tsx';
import { IdentityLink } from '../identity-link.tsx';
import { Empty, Ready } from '../page.tsx';
import { QuestionLink, useQuestion } from '../question-link.tsx';
import { More } from '../table.tsx';
import { Time } from '../time.tsx';
import { showProblem } from '../toast.tsx';
import styles from './comments.module.css';

type Answer = Schemas['Answer'];

/** Filters of comments in the address. */
export const COMMENT_FILTERS = { q: '', tag: '' };
type Filters = typeof COMMENT_FILTERS;

/** Poll interval, equal to that of the results: a stored answer must appear within 5 s. */
const EVERY_MS = 2500;

function Comment({ answer, hasQuestion }: { answer: Answer; hasQuestion: boolean }) {
  const { may } = useSession();
  const question = useQuestion(answer.question_id);
  const text = mainText(answer);
  const value = valueText(answer.values.main, question);
  const patch = useAct('PATCH /v1/answers/{id}');
  const change = (tags: string[]) =>
    patch.mutate({ params: { id: answer.id }, body: { tags } }, { onError: showProblem });
  return (
    <li className={styles.comment}>
      <div className="spread">
        <span className="row">
          {value && value !== text && question && (
            <Badge plain tone={valueTone(question.type, answer.values.main)}>
              {value}
            </Badge>
          )}
          <IdentityLink identity={answer.identity} verified={answer.identity_verified} />
        </span>
        <span className="small quiet">
          {hasQuestion && (
            <>
              <QuestionLink id={answer.question_id} /> ·{' '}
            </>
          )}
          <Time at={answer.received_at} />
        </span>
      </div>
      {text !== undefined && (
        <p className={styles.text} dir="auto">
          {text}
        </p>
      )}
      <GivenValues answer={answer} question={question} />
      <TagEditor tags={answer.tags} change={may('answers:write') ? change : undefined} />
    </li>
  );
}

interface CommentsProps {
  /** Limits the comments to a question; otherwise each names its question. */
  questionId?: string;
  filters: Filters;
  change(filters: Partial<Filters>): void;
}

/** Comments with search and tags, the newest first. */
export function Comments({ questionId, filters: { q, tag }, change }: CommentsProps) {
  const query = {
    question_id: questionId,
    written: true as const,
    q: q.trim() || undefined,
    tag: tag.trim() || undefined,
  };
  const list = useList('GET /v1/answers', { query }, { everyMs: EVERY_MS, limit: 25 });
  return (
    <>
      <div className={styles.filters}>
        <Search label={t('Search comments')} value={q} change={text => change({ q: text })} />
        <Search label={t('Filter by tag')} value={tag} change={text => change({ tag: text })} />
      </div>
      <Ready query={list}>
        {() =>
          list.items.length === 0 && !list.hasNextPage ? (
            <Empty title={t('No comments')}>
              {query.q || query.tag
                ? t('Comments that match your filters appear here.')
                : t('What people write in their answers appears here.')}
            </Empty>
          ) : (
            <>
              <ul className={styles.list}>
                {list.items.map(answer => (
                  <Comment key={answer.id} answer={answer} hasQuestion={questionId === undefined} />
                ))}
              </ul>
              <More list={list} />
            </>
          )
        }
      </Ready>
    </>
  );
}
