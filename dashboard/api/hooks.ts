import {
  QueryCache,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, type OperationKey, type ReplyOf, type RequestOf } from './client.ts';
import { ApiProblem } from './problem.ts';

const ME: OperationKey = 'GET /v1/me';

/** Failures that may pass by themselves: no reply, too many requests, a store that is away. */
const isPassing = (error: unknown): boolean =>
  error instanceof ApiProblem && (error.status === 0 || error.status === 429 || error.status === 503);

const isSignedOut = (error: unknown): boolean => error instanceof ApiProblem && error.status === 401;

/**
 * What was read, for all pages. Whoever turns out to be signed out is asked for at once (`session.tsx`).
 *
 * Entity tags hang on the very object that came, so replies are never merged into older ones.
 */
export function createQueries(): QueryClient {
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => {
        if (isSignedOut(error) && queryKey[0] !== ME) void queries.invalidateQueries({ queryKey: [ME] });
      },
    }),
    defaultOptions: {
      // What a browser takes for offline says nothing of a Parley in the same house: it is asked, and fails aloud.
      queries: {
        networkMode: 'always',
        structuralSharing: false,
        staleTime: 2000,
        retry: (failures, error) => isPassing(error) && failures < 2,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
  return queries;
}

interface Reading {
  /** Asks again after so many milliseconds, for what changes by itself. */
  everyMs?: number | false;
  /** Also while nobody looks at the page. */
  unseen?: boolean;
  enabled?: boolean;
}

/** What a GET gives, kept and shared among all who ask for the same. */
export function useApi<K extends OperationKey & `GET ${string}`>(
  operation: K,
  request: RequestOf<K>,
  { everyMs = false, unseen = false, enabled = true }: Reading = {},
) {
  return useQuery<ReplyOf<K>, ApiProblem>({
    queryKey: [operation, request],
    queryFn: () => api(operation, request),
    refetchInterval: everyMs,
    refetchIntervalInBackground: unseen,
    enabled,
  });
}

interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
  /** Set in a page that ends early: the time up to which the list was searched. */
  searched_to?: string;
}
type ListKey = { [K in OperationKey]: ReplyOf<K> extends Page<unknown> ? K : never }[OperationKey];
export type ItemOf<K extends ListKey> = ReplyOf<K> extends Page<infer Item> ? Item : never;

/** How many pages are fetched in a row while few rows pass the filters; then the person decides whether to go on. */
const PAGES_IN_A_ROW = 5;

/**
 * A list of the API page by page; `items` is what was fetched so far.
 *
 * A page may be short, or empty, because the API looks at a limited number of rows. Then the next ones are fetched at
 * once, and `searchedTo` is the time up to which the list was searched.
 */
export function useList<K extends ListKey>(
  operation: K,
  request: RequestOf<K>,
  reading: Reading & { limit?: number } = {},
) {
  const { everyMs = false, enabled = true, limit = 50 } = reading;
  const list = useInfiniteQuery<Page<ItemOf<K>>, ApiProblem, { pages: Page<ItemOf<K>>[] }, unknown[], string | null>({
    queryKey: [operation, request, limit],
    initialPageParam: null,
    queryFn: ({ pageParam }) => {
      const query = { ...(request as { query?: object }).query, limit, ...(pageParam ? { cursor: pageParam } : {}) };
      return api(operation, { ...request, query } as RequestOf<K>) as Promise<unknown> as Promise<Page<ItemOf<K>>>;
    },
    getNextPageParam: page => page.next_cursor,
    refetchInterval: everyMs,
    enabled,
  });
  const pages = list.data?.pages ?? [];
  const items = pages.flatMap(page => page.data);
  const searchedTo = list.hasNextPage ? pages.at(-1)?.searched_to : undefined;
  const { isFetching, isError, fetchNextPage } = list;
  const goesOn = searchedTo !== undefined && items.length < limit && pages.length < PAGES_IN_A_ROW;
  useEffect(() => {
    if (goesOn && !isFetching && !isError) void fetchNextPage();
  }, [goesOn, isFetching, isError, fetchNextPage]);
  return { ...list, items, searchedTo };
}

/** A write. Whatever is on the screen is read again after it, so that no page shows what was before. */
export function useAct<K extends OperationKey>(operation: K) {
  const queries = useQueryClient();
  return useMutation<ReplyOf<K>, ApiProblem, RequestOf<K>>({
    mutationFn: request => api(operation, request),
    onSuccess: () => void queries.invalidateQueries(),
  });
}
