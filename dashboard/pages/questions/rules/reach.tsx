import { useEffect, useState } from 'react';
import type { UseFormReturn } from 'react-hook-form';
import { useApi } from '../../../api/hooks.ts';
import type { Schemas } from '../../../api/schema.ts';
import { Note } from '../../../components/problem-note.tsx';
import { formatNumber, t } from '../../../i18n.ts';
import { type Gate, gateName } from '../../../words.ts';
import type { QuestionValues } from '../form.ts';
import { audienceOf } from './audience-values.ts';

/** How long the rules have to stay unchanged before their reach is estimated. */
const SETTLED_MS = 600;

/** Returns a value once it has not changed for a while, compared as JSON. */
function useSettled<Value>(value: Value): Value {
  const text = JSON.stringify(value);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return JSON.parse(settled) as Value;
}

const Estimate = ({ reach }: { reach: Schemas['Reach'] }) => (
  <>
    <p>
      {reach.judged === 0
        ? t('There are no people yet who were shown a card.')
        : t(
            'Would be shown to {reached} of the last {judged, plural, one {# person who was} other {# people who were}} shown a card.',
            { reached: formatNumber(reach.reached), judged: reach.judged },
          )}
    </p>
    {Object.keys(reach.withheld).length > 0 && (
      <ul className="small">
        {Object.entries(reach.withheld)
          .toSorted(([, one], [, other]) => other - one)
          .map(([gate, people]) => (
            <li key={gate}>{`${gateName(gate as Gate)}: ${formatNumber(people)}`}</li>
          ))}
      </ul>
    )}
  </>
);

/** The parts of the rules that an estimate takes from the saved question. */
const SAVED = ['schedule', 'frequency', 'response_limit', 'allow_public', 'priority'] as const;

/** How many people the audience and the share in the form would reach now, and which conditions keep the others. */
export function Reach({ form, question }: { form: UseFormReturn<QuestionValues>; question: Schemas['Question'] }) {
  const { audience, sampling_percent } = form.watch();
  const { dirtyFields } = form.formState;
  const body = useSettled({ audience: audienceOf(audience), sampling_percent });
  const { data, error } = useApi('POST /v1/questions/{id}/reach', {
    ...{ params: { id: question.id }, body: body as Schemas['ReachRequest'] },
  });
  const [known, setKnown] = useState(data);
  useEffect(() => {
    if (data) setKnown(data);
  }, [data]);
  const isIncomplete = error?.status === 422;
  const reach = error ? undefined : (data ?? known);
  return (
    <Note>
      <div role="status" aria-label={t('Reach')}>
        {reach && <Estimate reach={reach} />}
        {!reach && !error && <p>{t('Estimating whom the question would reach…')}</p>}
        {isIncomplete && <p>{t('Complete the conditions to see how many people they apply to.')}</p>}
        {error && !isIncomplete && <p>{t('The reach could not be estimated.')}</p>}
        {reach && SAVED.some(name => dirtyFields[name]) && (
          <p className="small">{t('With schedule, frequency, limit and priority as they were last saved.')}</p>
        )}
      </div>
    </Note>
  );
}
