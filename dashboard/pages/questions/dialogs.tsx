import { useEffect } from 'react';
import { Button } from '../../components/button.tsx';
import { ChangeList } from '../../components/change-list.tsx';
import { Dialog, useDialogAction } from '../../components/dialog.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import type { Change } from './changes.ts';

interface PublishProps {
  isOpen: boolean;
  close(): void;
  /** Called when the dialog is no longer displayed. */
  closed(): void;
  isFirst: boolean;
  changes: Change[];
  act(): Promise<unknown>;
}

function PublishContent({ close, closed, isFirst, changes, act }: Omit<PublishProps, 'isOpen'>) {
  const { run, isPending, problem } = useDialogAction(act, close);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, at the end
  useEffect(() => closed, []);
  return (
    <>
      {changes.length > 0 ? (
        <>
          <p>{isFirst ? t('Your users will see:') : t('This changes for your users:')}</p>
          <ChangeList changes={changes} />
        </>
      ) : (
        <p>{t('No visible changes for your users.')}</p>
      )}
      {problem && <ProblemNote problem={problem} />}
      <div className="row">
        <Button onPress={close}>{t('Cancel')}</Button>
        <Button look="primary" isPending={isPending} onPress={() => void run()}>
          {isFirst ? t('Publish now') : t('Publish changes')}
        </Button>
      </div>
    </>
  );
}

/** Asks before publishing, with the changes that users will see. */
export const PublishDialog = ({ isOpen, ...content }: PublishProps) => (
  <Dialog
    title={content.isFirst ? t('Publish this question?') : t('Publish the changes?')}
    isOpen={isOpen}
    close={content.close}
  >
    <PublishContent {...content} />
  </Dialog>
);
