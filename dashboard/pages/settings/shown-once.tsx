import { type ReactNode, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { CopyButton, CopyValue } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Note } from '../../components/problem-note.tsx';
import { toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { useLeaveGuard } from '../../leaving.ts';

export const ShownValue = ({ label, value, what }: { label: string; value: string; what: string }) => (
  <div>
    <dt className="small quiet">{label}</dt>
    <dd>
      <CopyValue value={value} what={what} />
    </dd>
  </div>
);

/** The text that the button copies, and the warning on closing without a copy. */
interface Copied {
  text: string;
  label: string;
  what: string;
  warning: string;
}

/** The buttons below the values; without a copy, closing asks once more. */
function Closing({ copy: { text, label, what, warning }, close }: { copy: Copied; close(): void }) {
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      {isAsking && !isCopied && <p role="alert">{warning}</p>}
      <div className="row">
        <CopyButton text={text} label={label} what={what} copied={() => setCopied(true)} />
        {isAsking && !isCopied ? (
          <Button look="danger" onPress={close}>
            {t('Close anyway')}
          </Button>
        ) : (
          <Button look="primary" onPress={() => (isCopied ? close() : setAsking(true))}>
            {t('Done')}
          </Button>
        )}
      </div>
    </>
  );
}

interface ShownOnceProps {
  title: string;
  /** Absent if the values are no secrets; the dialog then only closes. */
  copy?: Copied | undefined;
  close(): void;
  /** `ShownValue`s. */
  children: ReactNode;
  /** Text below the values. */
  after?: ReactNode;
}

/** Shows secrets once, in a dialog that does not close by accident: not by Escape, a click or Back. */
export function ShownOnce({ title, copy, close, children, after }: ShownOnceProps) {
  useLeaveGuard(copy !== undefined, () => toast(t('Copy the values first, then choose Done.')));
  return (
    <Dialog title={title} isOpen close={close} dismissable={false} hasClose={false}>
      {copy && (
        <Note tone="warn">
          <p>{t('Copy these values now. They cannot be shown again.')}</p>
        </Note>
      )}
      <dl className="stack">{children}</dl>
      {after}
      {copy ? (
        <Closing copy={copy} close={close} />
      ) : (
        <div>
          <Button look="primary" onPress={close}>
            {t('Done')}
          </Button>
        </div>
      )}
    </Dialog>
  );
}
