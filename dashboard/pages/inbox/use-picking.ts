import { useMemo } from 'react';
import { useSession } from '../../session.tsx';
import type { Conversation } from './conversation-changes.ts';
import { useSelection } from './selection.ts';
import { usePointed } from './use-pointed.ts';

/** Selection of conversations for a bulk change, with its keys. Without write permission there is no selection. */
export function usePicking(items: readonly Conversation[], list: string, open: string | undefined) {
  const ids = useMemo(() => items.map(({ id }) => id), [items]);
  const selection = useSelection(ids, list);
  const pointed = usePointed(open);
  const mayWrite = useSession().may('conversations:write');
  const pick = (isRange: boolean) => {
    const picked = pointed.current ?? ids[0];
    if (mayWrite && picked) selection.toggle(picked, isRange);
  };
  const keys = {
    x: () => pick(false),
    X: () => pick(true),
    ...(selection.selected.size > 0 ? { Escape: selection.clear } : {}),
  };
  return { selection, keys, toggle: mayWrite ? selection.toggle : undefined };
}
