import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { applyReply, createCache, keyOf } from '../../api/cache.ts';
import { api } from '../../api/client.ts';
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
  type FieldChange,
} from './conversation-changes.ts';
import type { Message } from './message-pages.ts';

const ONE = 'GET /v1/conversations/{id}';
/** Messages among which the change of a colleague is looked for. */
const RECENT = 30;

/** Queues by tenant and conversation. They outlive the pages, so that a change is made even if its page is left. */
const queues = new Map<string, ChangeQueue>();

function queueOf(queries: QueryClient, tenantId: string | undefined, id: string): ChangeQueue {
  const key = `${tenantId} ${id}`;
  const request = { params: { id } };
  const cache = createCache(queries, tenantId);
  const queue =
    queues.get(key) ??
    createChangeQueue({
      read: async () => (await api(ONE, request, tenantId)).body,
      write: async body => {
        const reply = await api('PATCH /v1/conversations/{id}', { ...request, body }, tenantId);
        // A poll that is under way would bring the conversation from before the change.
        await queries.cancelQueries({ queryKey: keyOf(ONE, request, tenantId) });
        applyReply(cache, 'PATCH /v1/conversations/{id}', request, reply);
        return reply.body;
      },
      wait: ms => new Promise(done => setTimeout(done, ms)),
    });
  queues.set(key, queue);
  return queue;
}

/** A change that was not made, because a colleague has changed the same field. */
export interface Collision {
  change: FieldChange;
  /** The present value of the field. */
  present: string | null;
  /** The event of the colleague's change; undefined if it cannot be found. */
  event: Message | undefined;
}

/**
 * Returns the conversation with the tag changes that are under way, a function that makes a change, and the last change
 * that met one of a colleague.
 *
 * The function resolves with the stored conversation, or with undefined if the change was not made. That is shown here,
 * or in a message if the page was left meanwhile.
 */
export function useChanges(stored: Conversation) {
  const queries = useQueryClient();
  const tenantId = useTenantId();
  const { id } = stored;
  const [pending, setPending] = useState<readonly Change[]>([]);
  const [collision, setCollision] = useState<Collision>();
  const isLeft = useRef(false);
  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
    };
  }, []);
  const explain = async (error: unknown) => {
    if (error instanceof ApiProblem) return showProblem(error);
    if (!(error instanceof ChangedMeanwhile)) throw error;
    const { change } = error;
    const request = { params: { id }, query: { order: 'desc' as const, limit: RECENT } };
    const [present, recent] = await Promise.all([
      queries.fetchQuery({
        queryKey: keyOf(ONE, { params: { id } }, tenantId),
        queryFn: () => api(ONE, { params: { id } }, tenantId),
        staleTime: 0,
      }),
      api('GET /v1/conversations/{id}/messages', request, tenantId).then(
        ({ body }) => body.data,
        () => [],
      ),
    ]);
    const event = recent.find(message => message.event?.field === change.field);
    if (isLeft.current) toast(t('Somebody else has changed this meanwhile. Your change was not made.'));
    else setCollision({ change, present: present.body[change.field] ?? null, event });
  };
  const change = async (made: Change): Promise<Conversation | undefined> => {
    setPending(before => [...before, made]);
    setCollision(undefined);
    try {
      return await queueOf(queries, tenantId, id).add(made);
    } catch (error) {
      await explain(error).catch(failure => {
        if (!(failure instanceof ApiProblem)) throw failure;
        showProblem(failure);
      });
      return undefined;
    } finally {
      setPending(before => before.filter(other => other !== made));
    }
  };
  const tags = pending.reduce<string[]>(applyToTags, stored.tags ?? []);
  return { conversation: { ...stored, tags }, change, collision, dismiss: () => setCollision(undefined) };
}
