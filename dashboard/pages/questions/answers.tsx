import { useState } from 'react';
import { useParams } from 'wouter';
import { useApi, useList } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Filter } from '../../components/fields/fields.tsx';
import { GivenValues } from '../../components/given-values.tsx';
import { IdentityLink } from '../../components/identity-link.tsx';
import { Empty, Ready } from '../../components/page.tsx';
import { More, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { formatTime, t } from '../../i18n.ts';
import { useQueryState } from '../../query-state.ts';
import { answerState, type Labeled, valueText } from '../../words.ts';
import styles from './answers.module.css';
import { QuestionFrame } from './frame.tsx';
import { ShownCard } from './shown-card.tsx';

type Answer = Schemas['Answer'];
type Question = Schemas['Question'];

const EVERY_MS = 5000;
const STATES: Answer['state'][] = ['completed', 'partial', 'dismissed', 'seen'];
const FILTERS = { step: '', value: '', state: '', from: '', to: '', version: '' };

/** A step of the question with its options; undefined for one that was removed. */
const stepOf = (key: string, question: Question) =>
  key === '' || key === 'main' ? question : question.follow_ups.find(step => step.key === key);

/** Text of a filtered value: the label of an option, `other` as such. */
function valueName(value: string, step: Labeled | undefined): string {
  if (value === 'true' || value === 'false') return valueText(value === 'true');
  if (value === 'other') return t('Other');
  return valueText({ option_id: value }, step);
}

const columns = (question: Question, open: (answer: Answer) => void) => [
  {
    label: t('Answer'),
    cell: (answer: Answer) => (
      <>
        <strong className="wrap-anywhere" dir="auto">
          {valueText(answer.values.main, question) || '–'}
        </strong>
        {answer.comment && (
          <p className={styles.comment} dir="auto">
            {answer.comment}
          </p>
        )}
        <GivenValues answer={answer} question={question} />
      </>
    ),
  },
  {
    label: t('Person'),
    cell: ({ identity, identity_verified }: Answer) => (
      <IdentityLink identity={identity} verified={identity_verified} />
    ),
  },
  {
    label: t('Status'),
    cell: ({ state, counted }: Answer) => (
      <span className="row">
        <span>{answerState(state)}</span>
        {!counted && (state === 'completed' || state === 'partial') && <Badge plain>{t('not counted')}</Badge>}
      </span>
    ),
  },
  { label: t('Time'), cell: ({ received_at }: Answer) => <Time at={received_at} /> },
  {
    label: t('Actions'),
    actions: true,
    cell: (answer: Answer) => (
      <Button
        small
        look="quiet"
        aria-label={t('View answer of {name}', { name: answer.identity })}
        onPress={() => open(answer)}
      >
        {t('View')}
      </Button>
    ),
  },
];

function Answers({ question }: { question: Question }) {
  const [filters, change] = useQueryState(FILTERS);
  const { step, value, state, from, to, version } = filters;
  const [opened, open] = useState<Answer>();
  const query = {
    question_id: question.id,
    step: step || undefined,
    value: value || undefined,
    counted: value || step ? true : undefined, // the bars show counted answers
    state: (state || undefined) as Answer['state'] | undefined,
    from: from || undefined,
    to: to || undefined,
    version: /^\d+$/.test(version) ? Number(version) : undefined,
  };
  const list = useList('GET /v1/answers', { query }, { everyMs: EVERY_MS });
  const isFiltered = [step, value, state, from, to, version].some(Boolean);
  return (
    <>
      <div className="row">
        <Filter small label={t('Status')} value={state} onChange={event => change({ state: event.target.value })}>
          <option value="">{t('All statuses')}</option>
          {STATES.map(name => (
            <option key={name} value={name}>
              {answerState(name)}
            </option>
          ))}
        </Filter>
        {step && <Badge plain>{t('Step: {step}', { step: stepOf(step, question)?.title ?? step })}</Badge>}
        {value && <Badge plain>{t('Value: {value}', { value: valueName(value, stepOf(step, question)) })}</Badge>}
        {version && <Badge plain>{t('Version {version}', { version })}</Badge>}
        {from && (
          <Badge plain>{t('since {date}', { date: formatTime(from, { dateStyle: 'medium', timeZone: 'UTC' }) })}</Badge>
        )}
        {isFiltered && (
          <Button small look="quiet" onPress={() => change(FILTERS)}>
            {t('Clear filters')}
          </Button>
        )}
      </div>
      <Ready query={list}>
        {() =>
          list.items.length === 0 && !list.hasNextPage ? (
            <Empty title={isFiltered ? t('No matching answers') : t('No answers')}>
              {t('New answers appear here automatically.')}
            </Empty>
          ) : (
            <>
              <Table
                caption={t('Answers')}
                columns={columns(question, open)}
                rows={list.items}
                keyOf={({ id }) => id}
              />
              <More list={list} />
            </>
          )
        }
      </Ready>
      <Dialog title={t('Answer')} isOpen={opened !== undefined} close={() => open(undefined)}>
        {opened && <ShownCard answer={opened} question={question} />}
      </Dialog>
    </>
  );
}

/** Answers of a question as rows; a row opens the card as it was shown. */
export function QuestionAnswers() {
  const { id = '' } = useParams();
  const question = useApi('GET /v1/questions/{id}', { params: { id } });
  return (
    <QuestionFrame id={id} question={question.data}>
      <Ready query={question}>{read => <Answers question={read} />}</Ready>
    </QuestionFrame>
  );
}
