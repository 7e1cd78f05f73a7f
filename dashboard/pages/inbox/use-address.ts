import { useLocation } from 'wouter';
import { pathTo } from '../../paths.ts';
import { useQueryState } from '../../query-state.ts';
import { writeQuery } from '../../query-string.ts';
import { useSession } from '../../session.tsx';
import { assigneeOf, NO_FILTERS, queryOf, type View, viewOf } from './filters.ts';

/** The view, the filters and the open conversation, all of which are in the address. */
export function useAddress(view: View, id: string | undefined) {
  const [, go] = useLocation();
  const { member_id: me } = useSession().membership;
  const [filters, change] = useQueryState(NO_FILTERS);
  const addressOf = (conversation: string | undefined, search = location.search, of = view) =>
    `${conversation ? pathTo('conversation', { view: of, id: conversation }) : pathTo('inbox', { view: of })}${search}`;
  const chooseAssignee = (value: string) => {
    const { view: next, assignee } = viewOf(value, me);
    go(addressOf(id, writeQuery(location.search, NO_FILTERS, { assignee }), next), { replace: true });
  };
  const open = (conversation: string | undefined) => conversation && go(addressOf(conversation));
  const assignee = assigneeOf(view, filters, me);
  return { filters, change, query: queryOf(view, filters, me), assignee, chooseAssignee, addressOf, open };
}
