import { useMemo } from 'react';
import { useList } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { Badge } from '../../components/badge.tsx';
import { Card } from '../../components/card/card.tsx';
import { type CardText, localCard, stepsOf, unshuffled } from '../../components/card/card-source.ts';
import { fillCard } from '../../components/card/fill.ts';
import { type ShownStep, shownSteps } from '../../components/card/shown-steps.ts';
import { translateCard } from '../../components/card/translate.ts';
import { IdentityLink } from '../../components/identity-link.tsx';
import { Ready } from '../../components/page.tsx';
import { formatNumber, formatTime, locale, t } from '../../i18n.ts';
import { answerState } from '../../words.ts';
import styles from './answers.module.css';

type Answer = Schemas['Answer'];

const seconds = (ms: number): string => formatNumber(Math.round(ms / 100) / 10, { style: 'unit', unit: 'second' });

/** Details of an answer, as name-value pairs; empty ones are omitted. */
function factsOf({ state, received_at, duration_ms, question_version, metadata }: Answer): [string, string][] {
  return [
    [t('Status'), answerState(state)],
    [t('Time'), formatTime(received_at)],
    ...(duration_ms === null ? [] : [[t('Duration'), seconds(duration_ms)] as [string, string]]),
    [t('Version'), String(question_version)],
    ...Object.entries(metadata).map(([name, value]): [string, string] => [name, String(value)]),
  ];
}

interface AnsweredStepProps {
  label: string;
  step: ShownStep['step'];
  answer: Answer;
}

/** The client's card with the answer to one step. */
function AnsweredStep({ label, step, answer }: AnsweredStepProps) {
  const shown = { ...unshuffled(step), show_if: null };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the content stands for the step
  const source = useMemo(() => localCard([shown]), [JSON.stringify(shown)]);
  const given = { value: answer.values[step.key], comment: step.key === 'main' ? answer.comment : null };
  return (
    <Card label={label} source={source} language={locale()} isPlain onCard={card => fillCard(card, step, given)} />
  );
}

const outcomeName = (outcome: ShownStep['outcome']): string =>
  ({ answered: t('Answered'), skipped: t('Skipped'), left: t('Not answered') })[outcome];

/** The card with a stored answer: every step that was shown, below each other. */
function AnsweredCard({ text, answer }: { text: CardText; answer: Answer }) {
  const steps = shownSteps(stepsOf(text), answer);
  const [first] = steps;
  if (steps.length === 1 && first) return <AnsweredStep label={t('Card')} step={first.step} answer={answer} />;
  return (
    <ol className={styles.steps} aria-label={t('Card')}>
      {steps.map(({ step, outcome }, at) => (
        <li key={step.key}>
          <p className="row small quiet">
            {t('Step {number}', { number: at + 1 })}
            {outcome !== 'answered' && <Badge plain>{outcomeName(outcome)}</Badge>}
          </p>
          <AnsweredStep label={t('Step {number}', { number: at + 1 })} step={step} answer={answer} />
        </li>
      ))}
    </ol>
  );
}

/** An answer on the card as it was shown: with the texts of its version, in the language of the card. */
export function ShownCard({ answer, question }: { answer: Answer; question: Schemas['Question'] }) {
  const list = useList('GET /v1/questions/{id}/versions', { params: { id: question.id } }, { limit: 100 });
  return (
    <div className="stack">
      <Ready query={list}>
        {() => {
          const version = list.items.find(({ version: number }) => number === answer.question_version);
          const text: CardText = version ?? question;
          const translation = text.translations?.[String(answer.metadata.card_locale)];
          return <AnsweredCard text={translateCard(text, translation)} answer={answer} />;
        }}
      </Ready>
      <IdentityLink identity={answer.identity} verified={answer.identity_verified} />
      <dl className={styles.facts}>
        {factsOf(answer).map(([name, value]) => (
          <div key={name}>
            <dt className="small quiet wrap-anywhere">{name}</dt>
            <dd className="wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
