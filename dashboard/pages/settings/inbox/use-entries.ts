import { useState } from 'react';
import { useListFocus } from '../../../components/use-list-focus.ts';
import { t } from '../../../i18n.ts';

export interface Entries {
  move(from: number, to: number): void;
  remove(at: number): void;
}

/** Moves and removes entries of an ordered list, announces it, and keeps the focus within the list. */
export function useEntries({ move, remove }: Entries) {
  const { list, focus } = useListFocus();
  const [announcement, announce] = useState('');
  const shift = (at: number, by: 1 | -1) => {
    move(at, at + by);
    announce(t('Moved to position {number}.', { number: at + by + 1 }));
    focus(`ol > li:nth-child(${at + by + 1}) input`);
  };
  const drop = (at: number) => {
    remove(at);
    announce(t('Removed.'));
    focus('[data-add]');
  };
  return { list, announcement, shift, drop };
}
