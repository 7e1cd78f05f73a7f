import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { pathTo } from '../../paths.ts';
import { useQueryState } from '../../query-state.ts';
import { writeQuery } from '../../query-string.ts';
import { useSession } from '../../session.tsx';
import {
  assigneeOf,
  type Filters,
  filterOf,
  filtersOf,
  NO_FILTERS,
  queryOf,
  type SavedView,
  type View,
  viewOf,
} from './filters.ts';

/** Whether filters differ from those of a view; a search does not count. */
const differ = (filters: Filters, base: Filters): boolean =>
  Object.entries(base).some(([name, value]) => name !== 'q' && filters[name as keyof Filters] !== value);

/**
 * The view, the filters and the open conversation, all of which are in the address. Filters start from those of the saved
 * view; the query string has those that differ.
 */
export function useAddress(view: View, saved: SavedView | undefined, id: string | undefined) {
  const [, go] = useLocation();
  const { member_id: me } = useSession().membership;
  const base = useMemo(() => (saved ? filtersOf(saved) : NO_FILTERS), [saved]);
  const [filters, change] = useQueryState(base);
  const addressOf = (conversation: string | undefined, search = location.search, of = view) =>
    `${conversation ? pathTo('conversation', { view: of, id: conversation }) : pathTo('inbox', { view: of })}${search}`;
  const chooseAssignee = (value: string) => {
    const { view: next, assignee } = viewOf(view, value, me);
    go(addressOf(id, writeQuery(location.search, base, { assignee }), next), { replace: true });
  };
  return {
    filters,
    change,
    query: queryOf(view, filters, me),
    /** The filters, as a view keeps them. */
    present: { filter: filterOf(view, filters, me), sort: filters.sort },
    isChanged: differ(filters, base),
    assignee: assigneeOf(view, filters, me),
    chooseAssignee,
    addressOf,
    open: (conversation: string | undefined) => conversation && go(addressOf(conversation)),
    /** Returns to the filters of the view. */
    reset: () => go(addressOf(id, ''), { replace: true }),
  };
}
