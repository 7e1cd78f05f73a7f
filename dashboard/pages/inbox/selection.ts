import { useCallback, useMemo, useRef, useState } from 'react';

/** Returns the ids from one to another in the order of the list. Without a start in the list, only the second. */
export function rangeOf(ids: readonly string[], from: string | undefined, to: string): string[] {
  const end = ids.indexOf(to);
  const start = from === undefined ? -1 : ids.indexOf(from);
  if (start < 0 || end < 0) return [to];
  return ids.slice(Math.min(start, end), Math.max(start, end) + 1);
}

/** Selects or deselects an item; with a range, everything from the anchor to it is selected. */
export function toggled(
  selected: ReadonlySet<string>,
  ids: readonly string[],
  { id, anchor }: { id: string; anchor: string | undefined },
): ReadonlySet<string> {
  const next = new Set(selected);
  if (anchor !== undefined) for (const one of rangeOf(ids, anchor, id)) next.add(one);
  else if (!next.delete(id)) next.add(id);
  return next;
}

const NONE: ReadonlySet<string> = new Set();

/** Selected ids, or everything that matches the filters, loaded or not. */
type Selected = ReadonlySet<string> | 'matching';

/** Returns the selected items of the list. Those that left the list do not count. */
const presentOf = (selected: Selected, ids: readonly string[]): ReadonlySet<string> =>
  new Set(selected === 'matching' ? ids : ids.filter(id => selected.has(id)));

/** Selection of a list. */
export interface Selection {
  /** The selected items of the list, so that a change affects only items on the screen. */
  selected: ReadonlySet<string>;
  /** Whether all matches are selected, loaded or not. */
  isAll: boolean;
  /** Selects or deselects an item; as a range, selects everything from the last one to it. */
  toggle(id: string, isRange: boolean): void;
  selectLoaded(): void;
  selectMatching(): void;
  clear(): void;
}

/** Keeps the selection of a list. It is empty again when `list`, the description of the list, changes. */
export function useSelection(ids: readonly string[], list: string): Selection {
  const [state, setState] = useState<{ list: string; chosen: Selected }>({ list, chosen: NONE });
  const anchor = useRef<string>(undefined);
  const present = useRef(ids);
  present.current = ids;
  const chosen = state.list === list ? state.chosen : NONE;
  const selected = useMemo(() => (chosen === NONE ? NONE : presentOf(chosen, ids)), [ids, chosen]);
  const set = useCallback((next: Selected) => setState({ list, chosen: next }), [list]);
  const toggle = useCallback(
    (id: string, isRange: boolean) => {
      const from = isRange ? anchor.current : undefined;
      anchor.current = id;
      setState(before => {
        const selected = presentOf(before.list === list ? before.chosen : NONE, present.current);
        return { list, chosen: toggled(selected, present.current, { id, anchor: from }) };
      });
    },
    [list],
  );
  return {
    selected,
    isAll: chosen === 'matching',
    toggle,
    selectLoaded: () => set(new Set(present.current)),
    selectMatching: () => set('matching'),
    clear: () => set(NONE),
  };
}
