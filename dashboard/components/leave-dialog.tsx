import { useState } from 'react';
import { t } from '../i18n.ts';
import { type Proceed, stopGuarding, useLeaveGuard } from '../leaving.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** Asks before edits are left behind. */
export function useLeaving(isDirty: boolean, drop: () => void) {
  const [proceed, setProceed] = useState<Proceed>();
  useLeaveGuard(isDirty, next => setProceed(() => next));
  return {
    isOpen: proceed !== undefined,
    stay: () => setProceed(undefined),
    leave: () => {
      drop();
      stopGuarding();
      setProceed(undefined);
      proceed?.();
    },
  };
}

interface LeaveProps {
  isOpen: boolean;
  stay(): void;
  leave(): void;
}

/** Asks before an edited form is left. */
export const LeaveDialog = ({ isOpen, stay, leave }: LeaveProps) => (
  <Dialog title={t('Leave without saving?')} isOpen={isOpen} close={stay} role="alertdialog">
    <p>{t('Your edits are not saved. If you leave, they are discarded.')}</p>
    <div className="row">
      <Button autoFocus look="primary" onPress={stay}>
        {t('Keep editing')}
      </Button>
      <Button look="danger-quiet" onPress={leave}>
        {t('Discard and leave')}
      </Button>
    </div>
  </Dialog>
);
