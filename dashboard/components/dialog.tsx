import { type ReactNode, useState } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { ApiProblem } from '../api/problem.ts';
import { t } from '../i18n.ts';
import { Button } from './button.tsx';
import styles from './dialog.module.css';
import { Icon } from './icon.tsx';
import { ProblemNote } from './problem-note.tsx';

interface DialogProps {
  title: string;
  isOpen: boolean;
  close(): void;
  /**
   * Whether Escape and a click outside close it; `by-key` for Escape only, where an accidental click would lose input.
   * Set to false for secrets that are shown once.
   */
  dismissable?: boolean | 'by-key';
  role?: 'dialog' | 'alertdialog';
  /** Whether the head has a button that closes the dialog. */
  hasClose?: boolean;
  children: ReactNode;
}

/** Modal dialog; traps the focus and restores it on close. */
export const Dialog = ({
  title,
  isOpen,
  close,
  dismissable = true,
  role = 'dialog',
  hasClose = role === 'dialog',
  children,
}: DialogProps) => (
  <ModalOverlay
    className={styles.overlay}
    isOpen={isOpen}
    onOpenChange={open => !open && close()}
    isDismissable={dismissable === true}
    isKeyboardDismissDisabled={!dismissable}
  >
    <Modal className={styles.modal}>
      <AriaDialog role={role} className={styles.dialog}>
        <div className={styles.head}>
          <Heading slot="title" level={2} className="wrap-anywhere">
            {title}
          </Heading>
          {hasClose && (
            <Button icon small look="quiet" aria-label={t('Close')} onPress={close}>
              <Icon name="close" size={16} />
            </Button>
          )}
        </div>
        {children}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
);

interface ConfirmationProps {
  title: string;
  isOpen: boolean;
  close(): void;
  /** The consequences, and whether they can be undone. */
  children: ReactNode;
  confirmLabel: string;
  act(): Promise<unknown>;
}

/** Runs the action of a dialog, which then closes. `problem` is the failure of the last attempt; the dialog stays open. */
export function useDialogAction(act: () => Promise<unknown>, close: () => void) {
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();
  const run = async () => {
    setPending(true);
    setProblem(undefined);
    try {
      await act();
      close();
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setProblem(error);
    } finally {
      setPending(false);
    }
  };
  return { run, isPending, problem };
}

/** Confirmation dialog for a destructive action; shows the problem if the action fails. */
export function Confirmation({ title, isOpen, close, children, confirmLabel, act }: ConfirmationProps) {
  const { run, isPending, problem } = useDialogAction(act, close);
  return (
    <Dialog title={title} isOpen={isOpen} close={close} role="alertdialog">
      <div>{children}</div>
      {problem && <ProblemNote problem={problem} />}
      <div className={styles.actions}>
        <Button autoFocus onPress={close}>
          {t('Cancel')}
        </Button>
        <Button look="danger" isPending={isPending} onPress={() => void run()}>
          {confirmLabel}
        </Button>
      </div>
    </Dialog>
  );
}

interface ConfirmButtonProps extends Omit<ConfirmationProps, 'isOpen' | 'close'> {
  /** Label of the button that opens the dialog. */
  label: ReactNode;
  look?: 'danger-quiet' | 'plain' | 'quiet' | 'danger';
  small?: boolean;
}

/** Button that asks for confirmation before it acts. */
export function ConfirmButton({ label, look = 'danger-quiet', small, ...question }: ConfirmButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button look={look} small={small} onPress={() => setOpen(true)}>
        {label}
      </Button>
      <Confirmation {...question} isOpen={isOpen} close={() => setOpen(false)} />
    </>
  );
}
