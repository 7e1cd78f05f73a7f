import { useCallback, useMemo } from 'react';
import { navigate, useSearch } from 'wouter/use-browser-location';
import { type QueryState, readQuery, writeQuery } from './query-string.ts';

/**
 * State in the address, for filters: reload, Back and links keep it.
 *
 * `defaults` must be a constant. A change replaces the entry in the history.
 */
export function useQueryState<State extends QueryState>(defaults: State): [State, (changes: Partial<State>) => void] {
  const search = useSearch();
  const state = useMemo(() => readQuery(search, defaults), [search, defaults]);
  const change = useCallback(
    (changes: Partial<State>) => {
      const next = writeQuery(location.search, defaults, changes);
      navigate(`${location.pathname}${next}`, { replace: true });
    },
    [defaults],
  );
  return [state, change];
}
