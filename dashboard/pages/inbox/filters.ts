import type { Schemas } from '../../api/schema.ts';

/** The views of the inbox, the first segment of its address. */
export const VIEWS = ['all', 'mine', 'unassigned'] as const;
export type View = (typeof VIEWS)[number];

export const isView = (text: string | undefined): text is View => VIEWS.some(view => view === text);

/** Filters in the query string of the inbox. */
export type Filters = {
  status: Schemas['Conversation']['status'] | 'any';
  /** A member's id, only in the view `all`. */
  assignee: string;
  tag: string;
  unread: boolean;
  q: string;
};

export const NO_FILTERS: Filters = { status: 'open', assignee: '', tag: '', unread: false, q: '' };

/** Returns the value of the assignee filter: a member's id, `none`, or an empty text for all. */
export function assigneeOf(view: View, { assignee }: Filters, me: string): string {
  if (view === 'mine') return me;
  return view === 'unassigned' ? 'none' : assignee;
}

/** Returns the view and the query parameter for a value of the assignee filter. */
export function viewOf(assignee: string, me: string): { view: View; assignee: string } {
  if (assignee === me) return { view: 'mine', assignee: '' };
  return assignee === 'none' ? { view: 'unassigned', assignee: '' } : { view: 'all', assignee };
}

/** Returns the query for the list of conversations. */
export const queryOf = (view: View, filters: Filters, me: string) => ({
  status: filters.status === 'any' ? undefined : filters.status,
  assignee: assigneeOf(view, filters, me) || undefined,
  tag: filters.tag.trim() || undefined,
  unread: filters.unread || undefined,
  q: filters.q.trim() || undefined,
});
