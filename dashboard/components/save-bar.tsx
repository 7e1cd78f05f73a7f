import type { ApiProblem } from '../api/problem.ts';
import { t } from '../i18n.ts';
import { Button } from './button.tsx';
import { ConfirmButton } from './dialog.tsx';
import { ProblemNote } from './problem-note.tsx';
import styles from './save-bar.module.css';

interface SaveBarProps {
  isDirty: boolean;
  /** Whether it is the editor of something new, which has never been saved. */
  isNew?: boolean;
  isPending: boolean;
  problem: ApiProblem | undefined;
  discard(): Promise<void>;
  /** Consequence of discarding. */
  discardText: string;
  /** Absent where edits cannot be stored without publishing them. */
  save?: () => void;
  saveLabel: string;
  /** Absent for paused questions, which users do not see. */
  publish?: () => void;
}

/** Bar at the lower edge of an editor, with its state and the ways out of it. */
export const SaveBar = ({
  isDirty,
  isNew,
  isPending,
  problem,
  discard,
  discardText,
  save,
  saveLabel,
  publish,
}: SaveBarProps) => (
  <section className={styles.bar} aria-label={t('Edits')}>
    {problem && <ProblemNote problem={problem} />}
    <div className="spread">
      <strong role="status">
        {isDirty ? t('Unsaved changes') : isNew ? t('Not saved yet') : t('All changes are saved')}
      </strong>
      <span className="row">
        {isDirty && (
          <ConfirmButton
            look="quiet"
            label={t('Discard')}
            title={t('Discard your changes?')}
            confirmLabel={t('Discard changes')}
            act={discard}
          >
            {discardText}
          </ConfirmButton>
        )}
        {save && isDirty && (
          <Button isPending={isPending} look={publish ? 'plain' : 'primary'} onPress={save}>
            {saveLabel}
          </Button>
        )}
        {publish && (
          <Button look="primary" isPending={isPending} onPress={publish}>
            {t('Publish')}
          </Button>
        )}
      </span>
    </div>
  </section>
);
