import type { QueryOf } from '../../api/client.ts';
import type { Schemas } from '../../api/schema.ts';

/** The views that every inbox has. */
export const BUILT_IN = ['mine', 'unassigned', 'all', 'mentions'] as const;
type BuiltIn = (typeof BUILT_IN)[number];

/** A view of the inbox, the first segment of its address: built in, or the id of a saved one. */
export type View = BuiltIn | `view_${string}`;

export const isBuiltIn = (text: string | undefined): text is BuiltIn => BUILT_IN.some(view => view === text);

export const isView = (text: string | undefined): text is View =>
  isBuiltIn(text) || (text?.startsWith('view_') ?? false);

export type SavedView = Schemas['View'];
type ListQuery = QueryOf<'GET /v1/conversations'>;
export type Sort = NonNullable<ListQuery['sort']>;

export const SORTS: readonly Sort[] = [
  '-last_activity_at',
  'last_activity_at',
  'waiting_since',
  'reply_due_at',
  '-created_at',
  'created_at',
];

/** Whether conversations need to have a quality, or must not have it; empty for both. */
type Either = '' | 'true' | 'false';

/** Filters in the query string of the inbox. An empty text is no filter. A status, priority or source can be several, separated by commas. */
export type Filters = {
  /** `any` is no filter. */
  status: string;
  /** A member's id or `none`; in the views `mine` and `unassigned` of no effect. */
  assignee: string;
  tag: string;
  priority: string;
  source: string;
  unread: Either;
  overdue: Either;
  mentioned: Either;
  /** User of the conversation, and whether they are verified. */
  identity: string;
  verified: Either;
  q: string;
  sort: Sort;
};

export const NO_FILTERS: Filters = {
  status: 'open',
  assignee: '',
  tag: '',
  priority: '',
  source: '',
  unread: '',
  overdue: '',
  mentioned: '',
  identity: '',
  verified: '',
  q: '',
  sort: '-last_activity_at',
};

const eitherOf = (value: boolean | undefined): Either => (value === undefined ? '' : value ? 'true' : 'false');
const booleanOf = (value: Either): boolean | undefined => (value === '' ? undefined : value === 'true');

/** Returns the filters of a saved view. */
export function filtersOf({ filter, sort }: Pick<SavedView, 'filter' | 'sort'>): Filters {
  const { unread, overdue, mentioned, verified, status = 'any', ...rest } = filter;
  const eithers = {
    unread: eitherOf(unread),
    overdue: eitherOf(overdue),
    mentioned: eitherOf(mentioned),
    verified: eitherOf(verified),
  };
  return { ...NO_FILTERS, ...rest, ...eithers, status, sort };
}

/** Returns the value of the assignee filter: a member's id, `none`, or an empty text for all. */
export function assigneeOf(view: View, { assignee }: Filters, me: string): string {
  if (view === 'mine') return me;
  return view === 'unassigned' ? 'none' : assignee;
}

/** Returns the view and the query parameter for a value of the assignee filter. Other views keep theirs. */
export function viewOf(before: View, assignee: string, me: string): { view: View; assignee: string } {
  if (before !== 'all' && before !== 'mine' && before !== 'unassigned') return { view: before, assignee };
  if (assignee === me) return { view: 'mine', assignee: '' };
  return assignee === 'none' ? { view: 'unassigned', assignee: '' } : { view: 'all', assignee };
}

/** Returns the filter of the list of conversations, without empty parts. */
export function filterOf(view: View, filters: Filters, me: string): SavedView['filter'] {
  const { status, tag, priority, source, unread, overdue, mentioned, identity, verified, q } = filters;
  const all = {
    status: status === 'any' ? undefined : status,
    assignee: assigneeOf(view, filters, me) || undefined,
    tag: tag.trim() || undefined,
    priority: priority || undefined,
    source: source || undefined,
    unread: booleanOf(unread),
    overdue: booleanOf(overdue),
    mentioned: view === 'mentions' ? true : booleanOf(mentioned),
    identity: identity || undefined,
    verified: booleanOf(verified),
    q: q.trim() || undefined,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Returns the query for the list of conversations. */
export const queryOf = (view: View, filters: Filters, me: string): ListQuery => ({
  ...filterOf(view, filters, me),
  ...(filters.sort === NO_FILTERS.sort ? {} : { sort: filters.sort }),
});

/** Filters that are not always on the screen. */
const FURTHER = ['tag', 'priority', 'source', 'unread', 'overdue', 'mentioned', 'identity', 'verified'] as const;

/** Returns how many filters are set that may be folded away. */
export const countFurther = (filters: Filters): number => FURTHER.filter(name => filters[name] !== '').length;
