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

/** Failures worth retrying: no response, rate limit, unavailable store. */
const isTransient = (error: unknown): boolean =>
  error instanceof ApiProblem && (error.status === 0 || error.status === 429 || error.status === 503);

const isSignedOut = (error: unknown): boolean => error instanceof ApiProblem && error.status === 401;

/**
 * Query client of all pages. A 401 refetches the session at once, which shows the sign-in page (`session.tsx`).
 *
 * ETags are keyed by response object, so structural sharing is off.
 */
export function createQueries(): QueryClient {
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => {
        if (isSignedOut(error) && queryKey[0] !== ME) void queries.invalidateQueries({ queryKey: [ME] });
      },
    }),
    defaultOptions: {
      // A browser that is offline can still reach Parley in the local network, so requests are always sent.
      queries: {
        networkMode: 'always',
        structuralSharing: false,
        staleTime: 2000,
        retry: (failures, error) => isTransient(error) && failures < 2,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
  return queries;
}

interface Reading {
  /** Poll interval in milliseconds. */
  everyMs?: number | false;
  /** Whether to poll while the page is hidden. */
  inBackground?: boolean;
  enabled?: boolean;
}

/** Fetches a GET operation; components with the same request share one cached response. */
export function useApi<K extends OperationKey & `GET ${string}`>(
  operation: K,
  request: RequestOf<K>,
  { everyMs = false, inBackground = false, enabled = true }: Reading = {},
) {
  return useQuery<ReplyOf<K>, ApiProblem>({
    queryKey: [operation, request],
    queryFn: () => api(operation, request),
    refetchInterval: everyMs,
    refetchIntervalInBackground: inBackground,
    enabled,
  });
}

interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
  /** Set in a page that ends early: the time back to which the list was searched. */
  searched_to?: string;
}
type ListKey = { [K in OperationKey]: ReplyOf<K> extends Page<unknown> ? K : never }[OperationKey];
export type ItemOf<K extends ListKey> = ReplyOf<K> extends Page<infer Item> ? Item : never;

/** Maximum number of sparse pages fetched automatically; after that the user has to request more. */
const MAX_AUTO_PAGES = 5;

/**
 * Fetches a list page by page; `items` has the rows fetched so far.
 *
 * Pages may be short or empty because the API scans a limited number of rows. The next pages are then fetched
 * automatically, and `searchedTo` is the time back to which the list was searched.
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
  const fetchesMore = searchedTo !== undefined && items.length < limit && pages.length < MAX_AUTO_PAGES;
  useEffect(() => {
    if (fetchesMore && !isFetching && !isError) void fetchNextPage();
  }, [fetchesMore, isFetching, isError, fetchNextPage]);
  return { ...list, items, searchedTo };
}

/** Mutation; refetches all data on the screen after success. */
export function useAct<K extends OperationKey>(operation: K) {
  const queries = useQueryClient();
  return useMutation<ReplyOf<K>, ApiProblem, RequestOf<K>>({
    mutationFn: request => api(operation, request),
    onSuccess: () => void queries.invalidateQueries(),
  });
}
