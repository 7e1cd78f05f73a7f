import { useAct } from '../../../api/hooks.ts';
import type { ApiProblem } from '../../../api/problem.ts';
import type { Conversation } from '../conversation-changes.ts';
import { addMessage, positionOf } from '../message-pages.ts';
import { useMessageCache } from '../use-messages.ts';
import { useRefetch } from '../use-refetch.ts';
import type { Seen } from '../use-seen.ts';
import type { Macro } from './use-macros.ts';

/** Applies a macro. The response replaces the cached conversation and adds the message. */
function useApply(conversationId: string) {
  const changeMessages = useMessageCache();
  return useAct('POST /v1/conversations/{id}/macros/{macro_id}', {
    wrote(cache, { conversation, message }) {
      if (message) changeMessages(conversationId, known => addMessage(known, message));
      cache.change('GET /v1/conversations/{id}', { params: { id: conversationId } }, () => conversation);
      cache.changeItem('GET /v1/conversations', conversationId, (): Conversation => conversation);
      return false; // lists by status or tag change too
    },
  });
}

const isMoved = (problem: ApiProblem | null): problem is ApiProblem => problem?.code === 'conversation-moved';

/**
 * Applies a macro whose text follows the messages that its member has seen. If others have written since, their messages
 * are `missed`, and the member decides.
 */
export function useApplying(conversationId: string, macro: Macro, seen: Seen) {
  const { mutateAsync, isPending, error, reset } = useApply(conversationId);
  const refetch = useRefetch(conversationId);
  const missed = isMoved(error) ? error.missed : undefined;
  const noteMissed = () => seen.note(positionOf(missed ?? []));
  /** Resolves with the conversation if the macro was applied. */
  const apply = async (): Promise<Conversation | undefined> => {
    const request = { params: { id: conversationId, macro_id: macro.id }, body: { after: seen.position() } };
    const done = await mutateAsync(request).catch(() => undefined); // shown as `problem` or `missed`
    if (!done) refetch();
    else if (done.message) seen.note(positionOf([done.message]));
    return done?.conversation;
  };
  return {
    isPending,
    problem: missed ? null : error,
    missed,
    apply,
    applyAnyway: () => {
      noteMissed();
      return apply();
    },
    /** Returns to the macro after the missed messages were read. */
    dismiss: () => {
      noteMissed();
      reset();
    },
  };
}
