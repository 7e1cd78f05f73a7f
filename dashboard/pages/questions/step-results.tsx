import type { Results } from '../../api/names.ts';
import { Panel } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { formatNumber, formatShare, t } from '../../i18n.ts';
import { scoreText } from '../../score.ts';
import { typeName } from '../../words.ts';
import styles from './step-results.module.css';

type Step = Results['steps'][number];

/** The text of the step that the results are about. */
export const stepTitle = ({ steps, step }: Results): string => steps.find(({ key }) => key === step)?.title ?? step;

interface StepResultsProps {
  results: Results;
  /** Shows the results of a step. */
  select(step: string): void;
}

/** The name of a step, which selects its results. */
const Name = ({
  step,
  number,
  isSelected,
  select,
}: {
  step: Step;
  number: number;
  isSelected: boolean;
  select(): void;
}) => (
  <>
    <button type="button" className={styles.name} aria-pressed={isSelected} onClick={select} dir="auto">
      {`${number}. ${step.title}`}
    </button>
    <p className="small quiet">{typeName(step.type)}</p>
  </>
);

/** A count with its share of the answers that showed the step. */
const share = (count: number, { shown }: Step): string =>
  shown === 0 ? '–' : t('{count} ({share})', { count: formatNumber(count), share: formatShare(count / shown) });

/** The way through the steps: how many were shown each, answered or skipped it, and ended there. */
export const StepResults = ({ results, select }: StepResultsProps) => (
  <Panel title={t('Steps')} lead={t('Select a step to see its results below.')}>
    <Table
      compact
      caption={t('Steps')}
      rows={results.steps}
      keyOf={({ key }) => key}
      columns={[
        {
          label: t('Step'),
          cell: step => (
            <Name
              step={step}
              number={results.steps.indexOf(step) + 1}
              isSelected={step.key === results.step}
              select={() => select(step.key)}
            />
          ),
        },
        { label: t('Shown'), right: true, cell: ({ shown }) => formatNumber(shown) },
        { label: t('Answered'), right: true, cell: step => share(step.answered, step) },
        { label: t('Skipped'), right: true, cell: step => share(step.skipped, step) },
        { label: t('Ended here'), right: true, cell: step => share(step.left, step) },
        { label: t('Score'), right: true, cell: ({ score }) => scoreText(score) },
      ]}
    />
  </Panel>
);
