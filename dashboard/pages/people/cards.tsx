import { Link } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { Badge } from '../../components/badge.tsx';
import { Panel, Ready } from '../../components/page.tsx';
import { formatTime, t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';
import { gateName } from '../../words.ts';
import styles from './cards.module.css';
import { passesAt } from './passes-at.ts';

type Decision = Schemas['CardDecision'];

/** The conditions that fail, each with the time from which it would be met. */
const Reasons = ({ gates }: Pick<Decision, 'gates'>) => (
  <ul className={styles.reasons}>
    {gates
      .filter(({ passed }) => !passed)
      .map(({ gate, passes_at }) => (
        <li key={gate}>
          {gateName(gate)}
          {passes_at && <span className="quiet">{` · ${t('until {time}', { time: formatTime(passes_at) })}`}</span>}
        </li>
      ))}
  </ul>
);

function Row({ decision }: { decision: Decision }) {
  const { question_id, name, shown, gates } = decision;
  const from = shown ? null : passesAt(gates);
  return (
    <li className={styles.row}>
      <Link href={pathTo('question', { id: question_id })} className="wrap-anywhere" dir="auto">
        {name}
      </Link>
      {shown && <Badge tone="good">{t('Shown')}</Badge>}
      {from && <Badge>{t('From {time}', { time: formatTime(from) })}</Badge>}
      {!shown && <Reasons gates={gates} />}
    </li>
  );
}

const Rows = ({ decisions }: { decisions: Decision[] }) => (
  <ul className={styles.rows}>
    {decisions.map(decision => (
      <Row key={decision.question_id} decision={decision} />
    ))}
  </ul>
);

function Decisions({ decisions }: { decisions: Decision[] }) {
  const shown = decisions.filter(decision => decision.shown);
  const others = decisions.filter(decision => !decision.shown);
  return (
    <>
      {shown.length > 0 ? <Rows decisions={shown} /> : <p className="quiet">{t('No card is shown now.')}</p>}
      {others.length > 0 && (
        <details className={styles.others}>
          <summary>
            {t('{count, plural, one {# question is not shown} other {# questions are not shown}}', {
              count: others.length,
            })}
          </summary>
          <Rows decisions={others} />
        </details>
      )}
    </>
  );
}

/** The questions whose cards a person sees now, and why not the others. */
export function Cards({ who }: { who: { identity: string; verified: boolean } }) {
  const { identity, verified } = who;
  const query = useApi('GET /v1/identities/{identity}/card-decisions', { params: { identity }, query: { verified } });
  return (
    <Panel title={t('Cards')} lead={t('With the platform, app version and language of the profile.')}>
      <Ready query={query} lines={1}>
        {({ data }) => <Decisions decisions={data} />}
      </Ready>
    </Panel>
  );
}
