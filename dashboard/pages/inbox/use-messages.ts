import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { keyOf } from '../../api/cache.ts';
import { api } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { Schemas } from '../../api/schema.ts';
import { useTenantId } from '../../tenant.ts';
import { addNewest, addOlder, type KnownMessages, type NewestPage, reaches } from './message-pages.ts';

/** Messages requested at first and after each change, and those of each page before them. */
const NEWEST = 50;
const OLDER = 100;
/** Maximum number of pages that are fetched to close a gap, such as after an hour without a connection. */
const MAX_GAP_PAGES = 5;
const RETRY_MS = 5000;

const MESSAGES = 'GET /v1/conversations/{id}/messages';

/** Key of the cached messages of a conversation. */
const messagesKey = (id: string, tenantId: string | undefined) => [
  ...keyOf(MESSAGES, { params: { id } }, tenantId),
  'newest',
];

/** Returns a function that changes the cached messages of a conversation, if there are any. */
export function useMessageCache() {
  const tenantId = useTenantId();
  const queries = useQueryClient();
  return (id: string, change: (known: KnownMessages) => KnownMessages) =>
    queries.setQueryData<KnownMessages>(messagesKey(id, tenantId), known => known && change(known));
}

/**
 * The messages of a conversation, from the newest back as far as they were fetched.
 *
 * They are requested once, and again only after `updated_at` of the conversation has changed, so that an idle thread
 * costs no requests for messages, however long it is.
 */
export function useMessages({ id, updated_at }: Schemas['Conversation']) {
  const tenantId = useTenantId();
  const queries = useQueryClient();
  const queryKey = messagesKey(id, tenantId);
  const known = () => queries.getQueryData<KnownMessages>(queryKey);
  const fetchPage = async (limit: number, cursor?: string): Promise<NewestPage> => {
    const query = { order: 'desc' as const, limit, ...(cursor ? { cursor } : {}) };
    return (await api(MESSAGES, { params: { id }, query }, tenantId)).body;
  };
  const fetchNewest = async (): Promise<KnownMessages> => {
    let page = await fetchPage(NEWEST);
    for (let pages = 1; pages < MAX_GAP_PAGES && page.next_cursor && !reaches(known(), page); pages++) {
      const older = await fetchPage(OLDER, page.next_cursor);
      page = { data: [...page.data, ...older.data], next_cursor: older.next_cursor };
    }
    return addNewest(known(), page, updated_at); // known after the request: older pages may have been added
  };
  const query = useQuery<KnownMessages, ApiProblem>({
    queryKey,
    queryFn: fetchNewest,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => (state.error ? RETRY_MS : false),
  });
  const { data, error, refetch, isFetching } = query;
  const isBehind = data !== undefined && data.asOf !== updated_at;
  useEffect(() => {
    if (isBehind && !isFetching && !error) void refetch();
  }, [isBehind, isFetching, error, refetch]);
  const [older, setOlder] = useState<{ isPending: boolean; error?: ApiProblem }>({ isPending: false });
  const fetchOlder = async () => {
    const cursor = data?.olderCursor;
    if (!cursor || older.isPending) return;
    setOlder({ isPending: true });
    try {
      const page = await fetchPage(OLDER, cursor);
      queries.setQueryData<KnownMessages>(queryKey, present => present && addOlder(present, page));
      setOlder({ isPending: false });
    } catch (failure) {
      if (!(failure instanceof ApiProblem)) throw failure;
      setOlder({ isPending: false, error: failure });
    }
  };
  return { data, error, refetch, hasOlder: Boolean(data?.olderCursor), older, fetchOlder };
}
