import { useAct, useApi, useList } from '../api/hooks.ts';
import type { Schemas } from '../api/schema.ts';
import { Button } from '../components/button.tsx';
import { Snippet } from '../components/copy.tsx';
import { ConfirmButton } from '../components/dialog.tsx';
import { type Figure, Figures } from '../components/figure.tsx';
import { Empty, Page, Panel, Ready } from '../components/page.tsx';
import { More, Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { toast } from '../components/toast.tsx';
import { formatNumber, t } from '../i18n.ts';
import { useSession } from '../session.tsx';

const EVERY_MS = 2000;

/** From which age on the oldest unstored answer deserves a look, and from which on it is trouble. */
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
    label: t('Oldest waiting'),
    value: ageText(ingestion.oldest_queued_age_ms),
    hint: ingestion.queued === 0 ? t('Nothing waits') : undefined,
    tone: toneOf(ingestion.oldest_queued_age_ms),
  },
  { label: t('In the queue'), value: formatNumber(ingestion.queued) },
  { label: t('Accepted'), value: formatNumber(ingestion.accepted), hint: t('On disk when it was confirmed') },
  { label: t('Stored'), value: formatNumber(ingestion.stored) },
  { label: t('Repeated'), value: formatNumber(ingestion.repeated), hint: t('Known already') },
  {
    label: t('Quarantined'),
    value: formatNumber(ingestion.quarantined),
    hint: t('In all'),
    tone: ingestion.quarantined > 0 ? 'warn' : undefined,
  },
  { label: t('Rejected'), value: formatNumber(ingestion.rejected), hint: t('Refused at once, never accepted') },
];

const reasonText = (reason: string): string =>
  ({
    'revision-conflict': t('It contradicts an answer of the same id'),
    unstorable: t('The database refuses its content'),
    unprocessable: t('Parley itself fails at it'),
    'key-revoked': t('Its API key had been revoked or had expired'),
  })[reason] ?? reason;

type Quarantined = Schemas['QuarantinedAnswer'];

function Actions({ entry }: { entry: Quarantined }) {
  const replay = useAct('POST /v1/quarantine/{id}/replay');
  const discard = useAct('DELETE /v1/quarantine/{id}');
  const again = () =>
    replay.mutate(
      { params: { id: entry.id } },
      {
        onSuccess: () => toast(t('The answer is in the queue again.')),
        onError: problem => toast(`${problem.title}: ${problem.message}`),
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
        title={t('Discard the answer?')}
        confirmLabel={t('Discard for good')}
        act={() => discard.mutateAsync({ params: { id: entry.id } })}
      >
        {t('It is lost for good: it was accepted, and will never be stored.')}
      </ConfirmButton>
    </div>
  );
}

const Reason = ({ entry }: { entry: Quarantined }) => (
  <>
    <strong>{reasonText(entry.reason)}</strong>
    <p className="small quiet wrap-anywhere">{entry.detail}</p>
    <details className="small">
      <summary>{t('The answer as it was accepted')}</summary>
      <Snippet what={t('The answer as it was accepted')} code={JSON.stringify(entry.payload, null, 2)} />
    </details>
  </>
);

function Quarantine() {
  const list = useList('GET /v1/quarantine', {}, { everyMs: EVERY_MS * 2 });
  return (
    <Panel
      title={t('Quarantine')}
      lead={t('Accepted answers that could not be stored. None is ever dropped in silence.')}
    >
      <Ready query={list}>
        {() =>
          list.items.length === 0 ? (
            <Empty title={t('The quarantine is empty')}>
              {t('Everything that was accepted is stored or on its way.')}
            </Empty>
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

/** Whether answers get through: what waits, what was stored, what could not be. */
export function Ingestion() {
  const ingestion = useApi('GET /v1/ingestion', {}, { everyMs: EVERY_MS });
  const { may } = useSession();
  return (
    <Page
      title={t('Ingestion')}
      lead={t('Where the answers are. At rest, accepted is stored, repeated, quarantined and queued together.')}
    >
      <Ready query={ingestion}>{data => <Figures figures={figuresOf(data)} />}</Ready>
      {may('answers:write') && <Quarantine />}
    </Page>
  );
}
