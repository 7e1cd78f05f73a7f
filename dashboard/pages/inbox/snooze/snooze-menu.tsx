import { useState } from 'react';
import { MenuButton } from '../../../components/menu.tsx';
import { t } from '../../../i18n.ts';
import { useTimeZone } from '../use-time-zone.ts';
import { SnoozeDialog } from './snooze-dialog.tsx';
import { snoozeTimes } from './snooze-times.ts';

const WAKE = 'wake';
const OTHER_TIME = 'other';

interface SnoozeMenuProps {
  /** Snoozes until a time, an ISO string. */
  snooze(until: string): void;
  /** Present while the conversation is snoozed: ends the snooze. */
  wake?: (() => void) | undefined;
  large?: boolean;
  /** For a shortcut that opens the menu. */
  isOpen?: boolean;
  setOpen?(isOpen: boolean): void;
}

/** Menu with times by the clock of the tenant, and a dialog for any other time. */
export function SnoozeMenu({ snooze, wake, ...menu }: SnoozeMenuProps) {
  const timeZone = useTimeZone();
  const [isAsking, setAsking] = useState(false);
  if (!timeZone) return null;
  const times = snoozeTimes(new Date(), timeZone);
  const choose = (id: string) => {
    const until = times.find(time => time.id === id)?.until;
    if (until) snooze(until);
    else if (id === WAKE) wake?.();
    else setAsking(true);
  };
  return (
    <>
      <MenuButton
        {...menu}
        label={t('Snooze')}
        choices={[
          ...(wake ? [{ id: WAKE, label: t('End the snooze') }] : []),
          ...times,
          { id: OTHER_TIME, label: t('Choose a time …') },
        ]}
        choose={choose}
      />
      <SnoozeDialog
        timeZone={timeZone}
        isOpen={isAsking}
        close={() => setAsking(false)}
        snooze={until => {
          setAsking(false);
          snooze(until);
        }}
      />
    </>
  );
}
