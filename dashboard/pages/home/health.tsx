import { Link } from 'wouter';
import type { Schemas } from '../../api/schema.ts';
import { Badge } from '../../components/badge.tsx';
import { Panel } from '../../components/page.tsx';
import { formatNumber, t } from '../../i18n.ts';
import { pathTo } from '../../paths.ts';

/** Age of the oldest queued answer from which the ingestion counts as slow. */
const SLOW_MS = 10_000;

/** State of the ingestion in a sentence, with a link to its figures. */
export function Health({ ingestion }: { ingestion: Schemas['Ingestion'] }) {
  const { queued, quarantined, oldest_queued_age_ms } = ingestion;
  const isSlow = (oldest_queued_age_ms ?? 0) >= SLOW_MS;
  return (
    <Panel title={t('Data')}>
      <p className="row">
        <Badge tone={quarantined > 0 || isSlow ? 'warn' : 'good'}>
          {quarantined > 0 || isSlow ? t('Needs attention') : t('All answers are stored')}
        </Badge>
        {queued > 0 && <span>{t('{count} queued', { count: formatNumber(queued) })}</span>}
        {quarantined > 0 && <span>{t('{count} quarantined', { count: formatNumber(quarantined) })}</span>}
      </p>
      <p>
        <Link href={pathTo('data')}>{t('Ingestion and quarantine')}</Link>
      </p>
    </Panel>
  );
}
