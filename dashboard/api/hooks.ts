import {
  MutationCache,
  type Query,
  QueryCache,
  QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { useTenantId } from '../tenant.ts';
import { applyReply, type Cache, createCache, keyOf, resourceOf, staleResources } from './cache.ts';
import { api, credentials, type OperationKey, type Reply, type ReplyOf, type RequestOf } from './client.ts';
import { noteOutcome } from './connection.ts';
import { mergeFirstPage, type Page } from './pages.ts';
import { ApiProblem, isOutdated, isSignedOut, isTransient } from './problem.ts';

/** The operation that returns the session. */
export const ME = 'GET /v1/me' satisfies OperationKey;
const MAX_RETRIES = 2;
const MAX_DELAY_MS = 30_000;

/** Time until the next attempt: as the server requests, else one, two, four seconds. */
const retryDelay = (failures: number, error: unknown): number =>
  Math.min(MAX_DELAY_MS, ((error instanceof ApiProblem && error.retryAfterSeconds) || 2 ** failures) * 1000);

/** Query client of all pages. A 401 refetches the session at once, which shows the sign-in page (`session.tsx`). */
export function createQueries(): QueryClient {
  const onError = (error: unknown) => {
    noteOutcome(error);
    // During a login, which has no session, the check is left out.
    if (isSignedOut(error) && credentials.csrfToken) void queries.invalidateQueries({ queryKey: [ME] });
  };
  const queries: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onSuccess: () => noteOutcome(),
      onError: (error, { queryKey, meta }) => {
        if (meta?.isExtra) return;
        if (queryKey[0] === ME) noteOutcome(error);
        else onError(error);
      },
    }),
    mutationCache: new MutationCache({ onSuccess: () => noteOutcome(), onError }),
    defaultOptions: {
      // A browser that is offline can still reach Parley in the local network, so requests are always sent.
      queries: {
        networkMode: 'always',
        refetchOnReconnect: true,
        staleTime: 2000,
        retry: (failures, error) => isTransient(error) && failures < MAX_RETRIES,
        retryDelay,
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
  /** For data that no page depends on: it is fetched once, and a failure has no consequences. */
  isExtra?: boolean;
}

/** The poll interval, or the time that the server requests after a failure if that is longer. Without a session it stops. */
const intervalOf =
  (everyMs: number | false) =>
  ({ state }: { state: { error: ApiProblem | null } }) =>
    !isSignedOut(state.error) && everyMs && Math.max(everyMs, (state.error?.retryAfterSeconds ?? 0) * 1000);

/** Operations that only read: a GET, or a POST whose question is too large for a query. */
type ReadKey = OperationKey & (`GET ${string}` | 'POST /v1/questions/{id}/reach');

/**
 * Fetches a reading operation of the tenant in the address; components with the same request share one cached response.
 *
 * `etag` is the response's entity tag, for `ifMatch`. A response equal to the last one keeps its identity.
 */
export function useApi<K extends ReadKey>(
  operation: K,
  request: RequestOf<K>,
  { everyMs = false, inBackground = false, enabled = true, isExtra = false }: Reading = {},
) {
  const tenantId = useTenantId();
  const query = useQuery<Reply<ReplyOf<K>>, ApiProblem>({
    queryKey: keyOf(operation, request, tenantId),
    queryFn: () => api(operation, request, tenantId),
    refetchInterval: intervalOf(everyMs),
    refetchIntervalInBackground: inBackground,
    enabled,
    ...(isExtra ? { staleTime: Number.POSITIVE_INFINITY, retry: false, meta: { isExtra } } : {}),
  });
  const { data, error, refetch } = query;
  return { data: data?.body, etag: data?.etag, error, refetch };
}

type ListKey = { [K in OperationKey]: ReplyOf<K> extends Page<unknown> ? K : never }[OperationKey];
export type ItemOf<K extends ListKey> = ReplyOf<K> extends Page<infer Item> ? Item : never;

/** Maximum number of sparse pages fetched automatically; after that the user has to request more. */
const MAX_AUTO_PAGES = 5;

interface ListReading extends Reading {
  limit?: number;
  /** Which page is fetched again on a poll or after a write; `last` for lists that grow at their end. */
  refresh?: 'first' | 'last';
}

interface Pages<Item> {
  pages: (Page<Item> & { cursor?: string })[];
}

/**
 * Fetches a list page by page; `items` has the rows fetched so far.
 *
 * A poll or a write fetches one page again, however many are shown. Pages may be short or empty because the API scans a
 * limited number of rows. The next pages are then fetched automatically, and `searchedTo` is the time back to which the
 * list was searched.
 */
export function useList<K extends ListKey>(operation: K, request: RequestOf<K>, reading: ListReading = {}) {
  type Item = ItemOf<K>;
  const { everyMs = false, enabled = true, limit = 50, refresh = 'first' } = reading;
  const tenantId = useTenantId();
  const queries = useQueryClient();
  const queryKey = [...keyOf(operation, request, tenantId), limit];
  const cached = () => queries.getQueryData<Pages<Item>>(queryKey)?.pages ?? [];
  const fetchPage = async (cursor?: string) => {
    const query = { ...(request as { query?: object }).query, limit, ...(cursor ? { cursor } : {}) };
    const { body } = await api(operation, { ...request, query } as RequestOf<K>, tenantId);
    return { ...(body as unknown as Page<Item>), cursor };
  };
  const list = useQuery<Pages<Item>, ApiProblem>({
    queryKey,
    queryFn: async () => {
      const page = await fetchPage(refresh === 'last' ? cached().at(-1)?.cursor : undefined);
      const pages = cached(); // read after the request: another page may have been added
      if (refresh === 'first') return { pages: mergeFirstPage(pages, page) };
      const at = pages.findLastIndex(({ cursor }) => cursor === page.cursor);
      return { pages: at < 0 ? [page] : pages.with(at, page) };
    },
    refetchInterval: intervalOf(everyMs),
    enabled,
  });
  const { data, error, refetch } = list;
  const pages = data?.pages ?? [];
  const [further, setFurther] = useState<{ isPending: boolean; error?: ApiProblem }>({ isPending: false });
  const nextCursor = pages.at(-1)?.next_cursor ?? undefined;
  const fetchNextPage = async () => {
    if (nextCursor === undefined || further.isPending) return;
    setFurther({ isPending: true });
    try {
      const page = await fetchPage(nextCursor);
      queries.setQueryData<Pages<Item>>(queryKey, known => known && { pages: [...known.pages, page] });
      setFurther({ isPending: false });
    } catch (failure) {
      if (!(failure instanceof ApiProblem)) throw failure;
      setFurther({ isPending: false, error: failure });
    }
  };
  const items = useMemo(() => data?.pages.flatMap(page => page.data) ?? [], [data]);
  const searchedTo = nextCursor === undefined ? undefined : pages.at(-1)?.searched_to;
  const fetchesMore =
    searchedTo !== undefined && items.length < limit && pages.length < MAX_AUTO_PAGES && !further.error;
  // biome-ignore lint/correctness/useExhaustiveDependencies: fetchNextPage is new on each render
  useEffect(() => {
    if (fetchesMore && !further.isPending) void fetchNextPage();
  }, [fetchesMore, further.isPending, nextCursor]);
  return {
    data,
    error,
    refetch,
    items,
    searchedTo,
    hasNextPage: nextCursor !== undefined,
    isFetchingNextPage: further.isPending,
    /** The problem of the last attempt to fetch the next page. */
    furtherError: further.error,
    fetchNextPage,
  };
}

interface Acting<K extends OperationKey> {
  /**
   * Applies the response to the cache and returns whether that suffices. Otherwise, and by default, the data of the
   * affected resources on the screen is fetched again.
   */
  wrote?(cache: Cache, reply: ReplyOf<K>, request: RequestOf<K>): boolean;
}

/**
 * Mutation in the tenant of the address. Its response replaces cached data; other data of the same resource on the
 * screen is fetched again.
 */
export function useAct<K extends OperationKey>(operation: K, { wrote }: Acting<K> = {}) {
  const tenantId = useTenantId();
  const queries = useQueryClient();
  return useMutation<ReplyOf<K>, ApiProblem, RequestOf<K>>({
    mutationFn: async request => {
      const stale = staleResources(operation);
      const isAffected = ({ queryKey: [key, , tenant] }: Query) =>
        stale.includes(resourceOf(String(key))) && (tenant === '' || tenant === (tenantId ?? ''));
      const reply = await api(operation, request, tenantId).catch(error => {
        // The write was based on old data. Once the current data is loaded, the form can send what was typed again.
        if (isOutdated(error)) void queries.invalidateQueries({ predicate: isAffected });
        throw error;
      });
      // A poll that is under way would bring the data from before the write.
      await queries.cancelQueries({ predicate: query => isAffected(query) && query.state.data !== undefined });
      const cache = createCache(queries, tenantId);
      const isCurrent = applyReply(cache, operation, request, reply);
      if (wrote?.(cache, reply.body, request)) return reply.body;
      const own = (request as { params?: { id?: string } }).params?.id;
      const isOwn = ({ queryKey: [key, asked] }: Query) =>
        String(key).endsWith('/{id}') && (asked as { params?: { id?: string } }).params?.id === own;
      void queries.invalidateQueries({ predicate: query => isAffected(query) && !(isCurrent && isOwn(query)) });
      return reply.body;
    },
  });
}
