import { useState } from 'react';
import { useAct, useList } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { Badge } from '../../components/badge.tsx';
import { Search } from '../../components/fields/fields.tsx';
import { TagEditor } from '../../components/fields/tag-editor.tsx';
import { IdentityLink } from '../../components/identity-link.tsx';
import { Empty, Panel, Ready } from '../../components/page.tsx';
import { More } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { valueTone } from '../../score.ts';
import { useSession } from '../../session.tsx';
import { type QuestionType, valueText } from '../../words.ts';
import styles from './comments.module.css';

type Answer = Schemas['Answer'];

/** Poll interval, equal to that of the results: a stored answer must appear within 5 s. */
const EVERY_MS = 2500;

/** The comment or, for text questions, the answer itself. */
const textOf = ({ comment, values }: Answer): string => comment ?? valueText(values.main);

function Comment({ answer, type }: { answer: Answer; type: QuestionType }) {
  const { may } = useSession();
  const patch = useAct('PATCH /v1/answers/{id}');
  const change = (tags: string[]) =>
    patch.mutate(
      { params: { id: answer.id }, body: { tags } },
      { onError: problem => toast(`${problem.title}: ${problem.message}`) },
    );
  return (
    <li className={styles.comment}>
      <div className="spread">
        <span className="row">
          {answer.comment !== null && answer.values.main !== undefined && (
            <Badge plain tone={valueTone(type, answer.values.main)}>
              {valueText(answer.values.main)}
            </Badge>
          )}
          <IdentityLink identity={answer.identity} verified={answer.identity_verified} />
        </span>
        <span className="small quiet">
          <Time at={answer.received_at} />
        </span>
      </div>
      <p className={styles.text}>{textOf(answer)}</p>
      <TagEditor tags={answer.tags} change={may('answers:write') ? change : undefined} />
    </li>
  );
}

/** Comments on a question, with search and tags. */
export function Comments({ question: { id, type } }: { question: Schemas['Question'] }) {
  const [search, setSearch] = useState('');
  const [tag, setTag] = useState('');
  const query = {
    question_id: id,
    written: true as const,
    q: search.trim() || undefined,
    tag: tag.trim() || undefined,
  };
  const list = useList('GET /v1/answers', { query }, { everyMs: EVERY_MS, limit: 25 });
  return (
    <Panel title={t('Comments')}>
      <div className={styles.filters}>
        <Search label={t('Search comments')} value={search} onChange={event => setSearch(event.target.value)} />
        <Search label={t('Filter by tag')} value={tag} onChange={event => setTag(event.target.value)} />
      </div>
      <Ready query={list}>
        {() =>
          list.items.length === 0 && !list.hasNextPage ? (
            <Empty title={t('No comments')}>{t('Comments that match your filters appear here.')}</Empty>
          ) : (
            <>
              <ul className={styles.list}>
                {list.items.map(answer => (
                  <Comment key={answer.id} answer={answer} type={type} />
                ))}
              </ul>
              <More list={list} />
            </>
          )
        }
      </Ready>
    </Panel>
  );
}
