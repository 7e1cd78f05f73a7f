import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { keyOf } from '../../api/cache.ts';
import { api } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { Schemas } from '../../api/schema.ts';
import { useTenantId } from '../../tenant.ts';
import {
  addNewer,
  addOlder,
  type KnownMessages,
  type Message,
  type NewestPage,
  type Position,
  reaches,
  settledAt,
  startAt,
} from './message-pages.ts';

/** Messages requested at first, and those of each further page in either direction. */
const NEWEST = 50;
const PAGE = 100;
/** Maximum number of pages of new messages, such as after an hour without a connection; beyond it the thread begins at its newest page. */
const MAX_NEW_PAGES = 5;
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
 * After `updated_at` of the conversation has changed, only the new ones are requested, with those that can still change.
 * An idle thread costs no requests for messages, however long it is.
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
  /** Returns the messages after a position; undefined if they are too many. */
  const fetchAfter = async (after: Position): Promise<Message[] | undefined> => {
    const newer: Message[] = [];
    let cursor: string | null | undefined;
    for (let pages = 0; pages < MAX_NEW_PAGES && cursor !== null; pages++) {
      const query = {
        after_seq: after.seq,
        after_note_seq: after.note_seq,
        limit: PAGE,
        ...(cursor ? { cursor } : {}),
      };
      const { body } = await api(MESSAGES, { params: { id }, query }, tenantId);
      newer.push(...body.data);
      cursor = body.next_cursor;
    }
    return cursor === null ? newer : undefined;
  };
  const fetchMessages = async (): Promise<KnownMessages> => {
    const settled = known() && settledAt(known() as KnownMessages, updated_at);
    const newer = settled && (await fetchAfter(settled));
    if (newer) return addNewer(known() as KnownMessages, newer, updated_at); // older ones may have been added meanwhile
    const page = await fetchPage(NEWEST);
    const before = known();
    return before && reaches(before, page)
      ? addNewer(before, page.data.toReversed(), updated_at)
      : startAt(page, updated_at);
  };
  const query = useQuery<KnownMessages, ApiProblem>({
    queryKey,
    queryFn: fetchMessages,
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
      const page = await fetchPage(PAGE, cursor);
      queries.setQueryData<KnownMessages>(queryKey, present => present && addOlder(present, page));
      setOlder({ isPending: false });
    } catch (failure) {
      if (!(failure instanceof ApiProblem)) throw failure;
      setOlder({ isPending: false, error: failure });
    }
  };
  return { data, error, refetch, hasOlder: Boolean(data?.olderCursor), older, fetchOlder };
}
