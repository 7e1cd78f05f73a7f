import { useMemo, useState } from 'react';
import { api } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { Schemas } from '../../api/schema.ts';
import { PhoneCard } from '../../components/card/card.tsx';
import { type CardText, localCard, stepsOf, testedCard, unshuffled } from '../../components/card/card-source.ts';
import { drawnAppearance, onScreen } from '../../components/card/drawn-appearance.ts';
import { type CardPlace, createCardPlace } from '../../components/card/place.ts';
import { translateCard } from '../../components/card/translate.ts';
import { Filter } from '../../components/fields/fields.tsx';
import { Panel } from '../../components/page.tsx';
import { Note, ProblemNote } from '../../components/problem-note.tsx';
import { LOCALES, type Locale, locale, t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { useTenantId } from '../../tenant.ts';
import { Distribution } from './distribution.tsx';
import { languageName } from './languages/names.ts';
import styles from './preview.module.css';

type Question = Schemas['Question'];

/** Issues a test token; each opened preview uses its own. */
function useTestToken(questionId: string) {
  const tenantId = useTenantId();
  return async () => (await api('POST /v1/questions/{id}/test-token', { params: { id: questionId } }, tenantId)).body;
}

/** The test answers of the last day. */
function TestResults({ results }: { results: Schemas['Results'] }) {
  const lead = t(
    '{count, plural, =0 {Answer the card to see the results here.} one {# test answer in the last 24 hours} other {# test answers in the last 24 hours}}',
    { count: results.answered },
  );
  if (results.answered === 0 || results.values.length < 2)
    return (
      <Panel title={t('Test answers')}>
        <p className="quiet">{lead}</p>
      </Panel>
    );
  return <Distribution type={results.type} values={results.values} title={t('Test answers')} lead={lead} />;
}

/** The reason why an answer was not sent: of the API if it has one. */
function Failure({ cause }: { cause: unknown }) {
  const problem = cause instanceof Error && cause.cause instanceof ApiProblem ? cause.cause : undefined;
  if (problem) return <ProblemNote problem={problem} />;
  return (
    <Note tone="bad">
      <p role="alert">{t('The test answer was not stored. Try again.')}</p>
    </Note>
  );
}

interface ShownProps {
  language: string;
  /** Where the viewer stands in the card. */
  place: CardPlace;
}

/**
 * A saved question, answered with a test token, next to the chart of the test answers. It starts at the first step: a view that
 * continues would record an answer that was not given.
 */
function TestedPreview({ question, language, place }: ShownProps & { question: Question }) {
  const { id, updated_at } = question;
  const issueToken = useTestToken(id);
  const results = useApi('GET /v1/questions/{id}/results', { params: { id }, query: { test: true } });
  const [failure, setFailure] = useState<unknown>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new card after a change of the question
  const source = useMemo(
    () =>
      testedCard({
        issueToken,
        drawn: onScreen,
        onSent: cause => {
          setFailure(cause);
          void results.refetch();
        },
      }),
    [id, updated_at],
  );
  return (
    <>
      <PhoneCard
        {...{ source, language }}
        label={t('Preview')}
        place={{ ...place, resume: () => undefined }}
        onError={setFailure}
      />
      {failure !== undefined && <Failure cause={failure} />}
      {results.data && <TestResults results={results.data} />}
    </>
  );
}

/** A card that is answered without requests. Edits of the question leave the viewer at the same step, and its options in their order. */
function LocalPreview({ text, language, place }: ShownProps & { text: CardText }) {
  const { data: tenant } = useApi('GET /v1/tenant', {});
  const translated = translateCard(text, text.translations?.[language]);
  const steps = stepsOf(translated).map(unshuffled);
  const thanks = translated.thanks;
  const appearance = tenant && onScreen(drawnAppearance(tenant.appearance));
  const content = JSON.stringify([steps, thanks, appearance]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the content stands for the steps
  const source = useMemo(() => localCard(steps, { thanks, appearance }), [content]);
  return <PhoneCard {...{ source, language, place }} label={t('Preview')} />;
}

/** The languages of the question, and those of the client's own texts. */
const languagesOf = ({ locale: own, translations = {} }: CardText): string[] => [
  ...new Set([...Object.keys(LOCALES), ...(own ? [own] : []), ...Object.keys(translations)]),
];

/**
 * The question on a phone, as the JavaScript client shows it, in each of its languages and of the client's.
 *
 * With `edited`, the unsaved content of the form; otherwise the saved question, with which members who may change it
 * give test answers.
 */
export function Preview({ question, edited }: { question?: Question; edited?: CardText }) {
  const { may } = useSession();
  const [language, setLanguage] = useState(locale());
  const [place] = useState(createCardPlace);
  const text = (edited ?? question) as CardText;
  const isTested = question && !edited && question.status !== 'archived' && may('questions:write');
  return (
    <aside className={styles.preview} aria-label={t('Preview')}>
      <div className="spread">
        <h2>{t('Preview')}</h2>
        <Filter
          small
          label={t('Language of the preview')}
          value={language}
          onChange={event => setLanguage(event.target.value)}
        >
          {languagesOf(text).map(tag => (
            <option key={tag} value={tag}>
              {LOCALES[tag as Locale] ?? languageName(tag)}
            </option>
          ))}
        </Filter>
      </div>
      {isTested ? (
        <TestedPreview {...{ question, language, place }} />
      ) : (
        <LocalPreview {...{ text, language, place }} />
      )}
      {edited && <p className="small quiet">{t('Save the question to record test answers.')}</p>}
    </aside>
  );
}
