import { useAct, useApi, useList } from '../../api/hooks.ts';
import type { Schemas } from '../../api/schema.ts';
import { Button } from '../../components/button.tsx';
import { Snippet } from '../../components/copy.tsx';
import { ConfirmButton } from '../../components/dialog.tsx';
import { type Figure, Figures } from '../../components/figure.tsx';
import { Empty, Page, Panel, Ready } from '../../components/page.tsx';
import { More, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { showProblem, toast } from '../../components/toast.tsx';
import { formatNumber, t } from '../../i18n.ts';
import { useSession } from '../../session.tsx';

const EVERY_MS = 2000;

/** Age of the oldest queued answer from which it is shown as a warning and as an error. */
const SLOW_MS = 10_000;
const STUCK_MS = 300_000;

function ageText(ms: number | null): string {
  if (ms === null) return '–';
  if (ms < 1000) return t('under 1 s');
  if (ms < 120_000) return formatNumber(Math.round(ms / 1000), { style: 'unit', unit: 'second' });
  return formatNumber(Math.round(ms / 60_000), { style: 'unit', unit: 'minute' });
}

const toneOf = (ms: number | null): Figure['tone'] => {
  if (ms === null || ms < SLOW_MS) return undefined;
  return ms < STUCK_MS ? 'warn' : 'bad';
};

const figuresOf = (ingestion: Schemas['Ingestion']): Figure[] => [
  {
    label: t('Oldest queued'),
    value: ageText(ingestion.oldest_queued_age_ms),
    hint: ingestion.queued === 0 ? t('Queue empty') : undefined,
    tone: toneOf(ingestion.oldest_queued_age_ms),
  },
  { label: t('Queued'), value: formatNumber(ingestion.queued) },
  { label: t('Accepted'), value: formatNumber(ingestion.accepted), hint: t('Durably queued') },
  { label: t('Stored'), value: formatNumber(ingestion.stored) },
  { label: t('Duplicates'), value: formatNumber(ingestion.repeated), hint: t('Already stored') },
  {
    label: t('Quarantined'),
    value: formatNumber(ingestion.quarantined),
    hint: t('Total'),
    tone: ingestion.quarantined > 0 ? 'warn' : undefined,
  },
  { label: t('Rejected'), value: formatNumber(ingestion.rejected), hint: t('Not accepted') },
];

const reasonText = (reason: string): string =>
  ({
    'revision-conflict': t('Conflicts with a stored answer with the same ID'),
    unstorable: t('Rejected by the database'),
    unprocessable: t('Processing failed repeatedly'),
    'key-revoked': t('API key revoked or expired'),
  })[reason] ?? reason;

type Quarantined = Schemas['QuarantinedAnswer'];

function Actions({ entry }: { entry: Quarantined }) {
  const replay = useAct('POST /v1/quarantine/{id}/replay');
  const discard = useAct('DELETE /v1/quarantine/{id}');
  const again = () =>
    replay.mutate(
      { params: { id: entry.id } },
      {
        onSuccess: () => toast(t('The answer was queued again.')),
        onError: showProblem,
      },
    );
  return (
    <div className="row">
      <Button small isPending={replay.isPending} onPress={again}>
        {t('Replay')}
      </Button>
      <ConfirmButton
        small
        label={t('Discard')}
        title={t('Discard this answer?')}
        confirmLabel={t('Discard answer')}
        act={() => discard.mutateAsync({ params: { id: entry.id } })}
      >
        {t('The answer was accepted but will never be stored. This cannot be undone.')}
      </ConfirmButton>
    </div>
  );
}

const Reason = ({ entry }: { entry: Quarantined }) => (
  <>
    <strong>{reasonText(entry.reason)}</strong>
    <p className="small quiet wrap-anywhere">{entry.detail}</p>
    <details className="small">
      <summary>{t('Answer as received')}</summary>
      <Snippet what={t('Answer as received')} code={JSON.stringify(entry.payload, null, 2)} />
    </details>
  </>
);

function Quarantine() {
  const list = useList('GET /v1/quarantine', {}, { everyMs: EVERY_MS * 2 });
  return (
    <Panel
      title={t('Quarantine')}
      lead={t('Accepted answers that could not be stored. You can replay or discard them.')}
    >
      <Ready query={list}>
        {() =>
          list.items.length === 0 ? (
            <Empty title={t('No quarantined answers')}>{t('All accepted answers are stored or queued.')}</Empty>
          ) : (
            <>
              <Table
                caption={t('Quarantine')}
                rows={list.items}
                keyOf={({ id }) => id}
                columns={[
                  { label: t('Reason'), cell: entry => <Reason entry={entry} /> },
                  {
                    label: t('Answer'),
                    cell: ({ answer_id }) => <code className="small wrap-anywhere">{answer_id}</code>,
                  },
                  { label: t('Since'), cell: ({ quarantined_at }) => <Time at={quarantined_at} /> },
                  { label: t('Actions'), actions: true, cell: entry => <Actions entry={entry} /> },
                ]}
              />
              <More list={list} />
            </>
          )
        }
      </Ready>
    </Panel>
  );
}

/** Ingestion counters and quarantined answers. */
export function Data() {
  const ingestion = useApi('GET /v1/ingestion', {}, { everyMs: EVERY_MS });
  const { may } = useSession();
  return (
    <Page title={t('Data')} lead={t('Every accepted answer is stored, a duplicate, quarantined or queued.')}>
      <Ready query={ingestion}>{data => <Figures figures={figuresOf(data)} />}</Ready>
      {may('answers:write') && <Quarantine />}
    </Page>
  );
}
