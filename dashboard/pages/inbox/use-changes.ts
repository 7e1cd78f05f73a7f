import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { applyReply, createCache, keyOf } from '../../api/cache.ts';
import { api, type Reply } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import { showProblem, toast } from '../../components/toast.tsx';
import { t } from '../../i18n.ts';
import { useTenantId } from '../../tenant.ts';
import {
  applyToTags,
  type Change,
  ChangedMeanwhile,
  type ChangeQueue,
  type Conversation,
  createChangeQueue,
} from './conversation-changes.ts';

const ONE = 'GET /v1/conversations/{id}';

/** Queues by tenant and conversation. They outlive the pages, so that a change is made even if its page is left. */
const queues = new Map<string, ChangeQueue>();

function queueOf(queries: QueryClient, tenantId: string | undefined, id: string): ChangeQueue {
  const key = `${tenantId} ${id}`;
  const request = { params: { id } };
  const known = () => queries.getQueryData<Reply<Conversation>>(keyOf(ONE, request, tenantId));
  const cache = createCache(queries, tenantId);
  const queue =
    queues.get(key) ??
    createChangeQueue({
      known: () => (known()?.etag ? known() : undefined),
      read: () => api(ONE, request, tenantId),
      write: async (body, ifMatch) => {
        const change = { ...request, body, ...(ifMatch ? { ifMatch } : {}) };
        const reply = await api('PATCH /v1/conversations/{id}', change, tenantId);
        // A poll that is under way would bring the conversation from before the change.
        await queries.cancelQueries({ queryKey: keyOf(ONE, request, tenantId) });
        applyReply(cache, 'PATCH /v1/conversations/{id}', change, reply);
        return reply;
      },
      wait: ms => new Promise(done => setTimeout(done, ms)),
    });
  queues.set(key, queue);
  return queue;
}

function explain(error: unknown, refetch: () => void): void {
  if (error instanceof ChangedMeanwhile) {
    toast(t('Somebody else has changed this meanwhile. Your change was not made.'));
    refetch();
  } else if (error instanceof ApiProblem) showProblem(error);
  else throw error;
}

/**
 * Returns the conversation with the tag changes that are under way, and a function that makes a change.
 *
 * The function resolves with the stored conversation, or with undefined after showing why the change failed.
 */
export function useChanges(stored: Conversation) {
  const queries = useQueryClient();
  const tenantId = useTenantId();
  const [pending, setPending] = useState<readonly Change[]>([]);
  const change = async (made: Change): Promise<Conversation | undefined> => {
    setPending(before => [...before, made]);
    try {
      return await queueOf(queries, tenantId, stored.id).add(made);
    } catch (error) {
      explain(
        error,
        () => void queries.invalidateQueries({ queryKey: keyOf(ONE, { params: { id: stored.id } }, tenantId) }),
      );
      return undefined;
    } finally {
      setPending(before => before.filter(other => other !== made));
    }
  };
  const tags = pending.reduce<string[]>(applyToTags, stored.tags ?? []);
  return { conversation: { ...stored, tags }, change };
}
