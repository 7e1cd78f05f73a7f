import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { formatNumber, t } from '../../../i18n.ts';
import { pathTo } from '../../../paths.ts';
import styles from './bulk.module.css';
import { type BulkResult, dealtWith, type Progress } from './bulk-run.ts';
import { type BulkState, dismissBulk, resumeBulk, stopBulk } from './bulk-store.ts';

/** Why a conversation was not changed. */
function reasonOf({ status, code }: BulkResult): string {
  if (status === 'not-found') return t('Not found. It was deleted.');
  if (code === 'too-many-tags') return t('It would have more than 20 tags.');
  if (code === 'custom-too-large') return t('Its fields would have more than 2 KB.');
  return t('The status cannot follow the present one.');
}

function resultsText({ changed, unchanged, conflict, missing }: Progress): string {
  const parts = [t('{count} changed', { count: changed })];
  if (unchanged > 0) parts.push(t('{count} unchanged', { count: unchanged }));
  if (conflict > 0) parts.push(t('{count, plural, one {# conflict} other {# conflicts}}', { count: conflict }));
  if (missing > 0) parts.push(t('{count} not found', { count: missing }));
  return parts.join(' · ');
}

/** Dialog with the conversations that were not changed. */
const Details = ({ progress, isOpen, close }: { progress: Progress; isOpen: boolean; close(): void }) => (
  <Dialog title={t('Not changed')} isOpen={isOpen} close={close}>
    <ul className={styles.listed}>
      {progress.listed.map(result => (
        <li key={result.id}>
          {result.status === 'not-found' ? (
            <code>{result.id}</code>
          ) : (
            <Link href={pathTo('conversation', { id: result.id })} onClick={close}>
              {result.id}
            </Link>
          )}
          <span className="small quiet">{reasonOf(result)}</span>
        </li>
      ))}
    </ul>
    {progress.conflict + progress.missing > progress.listed.length && (
      <p className="small quiet">{t('The first {count} are listed.', { count: progress.listed.length })}</p>
    )}
    <div>
      <Button onPress={close}>{t('Close')}</Button>
    </div>
  </Dialog>
);

const headOf = ({ phase, total, progress }: BulkState): string => {
  const done = formatNumber(dealtWith(progress));
  if (phase === 'stopping') return t('Stopping…');
  if (phase === 'stopped') return t('Stopped after {done}', { done });
  if (phase === 'failed') return t('Interrupted after {done}', { done });
  if (phase === 'done') return t('Done');
  return total === undefined
    ? t('{done} so far', { done })
    : t('{done} of {total}', { done, total: formatNumber(total) });
};

/** Progress and results of a run, with the ways to stop, continue and dismiss it. */
export function BulkProgress({ bulk }: { bulk: BulkState }) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { phase, total, progress, problem, what } = bulk;
  const isRunning = phase === 'running' || phase === 'stopping';
  const failed = progress.conflict + progress.missing;
  return (
    <section className={styles.bar} aria-label={t('Bulk change')}>
      <p className="small quiet wrap-anywhere">{what}</p>
      {isRunning && (
        <progress
          className={styles.progress}
          aria-label={t('Progress')}
          max={total}
          value={total === undefined ? undefined : dealtWith(progress)}
        />
      )}
      <p role="status">
        <strong>{headOf(bulk)}</strong> <span className="small quiet">{resultsText(progress)}</span>
      </p>
      {phase === 'failed' && problem && <ProblemNote problem={problem} />}
      <div className="row">
        {phase === 'running' && (
          <Button small onPress={stopBulk}>
            {t('Stop')}
          </Button>
        )}
        {(phase === 'failed' || phase === 'stopped') && (
          <Button small onPress={() => resumeBulk(queries)}>
            {t('Continue')}
          </Button>
        )}
        {failed > 0 && !isRunning && (
          <Button small onPress={() => setOpen(true)}>
            {t('Details')}
          </Button>
        )}
        {!isRunning && (
          <Button small look="quiet" onPress={dismissBulk}>
            {t('Dismiss')}
          </Button>
        )}
      </div>
      <Details progress={progress} isOpen={isOpen} close={() => setOpen(false)} />
    </section>
  );
}
