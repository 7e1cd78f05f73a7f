import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { t } from '../../i18n.ts';
import { shortcutsAreOn, switchShortcuts } from '../../shortcuts.ts';
import styles from './inbox.module.css';

const KEYS = () => [
  ['j', t('Next conversation')],
  ['k', t('Previous conversation')],
  ['r', t('Write a reply')],
  ['n', t('Write an internal note')],
  ['a', t('Assign to me')],
  ['e', t('Resolve or reopen')],
  ['s', t('Snooze')],
  ['x', t('Select or deselect')],
  ['X', t('Select up to here')],
  ['/', t('Search')],
  ['?', t('Show keyboard shortcuts')],
];

/** Dialog with the keyboard shortcuts of the inbox. */
export function ShortcutsHelp({ isOpen, close }: { isOpen: boolean; close(): void }) {
  const [isOn, setOn] = useState(shortcutsAreOn);
  const change = (on: boolean) => {
    switchShortcuts(on);
    setOn(on);
  };
  return (
    <Dialog title={t('Keyboard shortcuts')} isOpen={isOpen} close={close}>
      <dl className={styles.keys}>
        {KEYS().map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </dt>
          <dd>{t('Send')}</dd>
        </div>
      </dl>
      <label className={styles.check}>
        <input type="checkbox" checked={isOn} onChange={event => change(event.target.checked)} />
        {t('Single-key shortcuts are on')}
      </label>
      <div>
        <Button onPress={close}>{t('Close')}</Button>
      </div>
    </Dialog>
  );
}
