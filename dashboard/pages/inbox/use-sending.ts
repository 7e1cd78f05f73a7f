import { useRef, useState } from 'react';
import { useAct } from '../../api/hooks.ts';
import { ApiProblem, isTransient } from '../../api/problem.ts';
import type { Schemas } from '../../api/schema.ts';
import type { Conversation } from './conversation-changes.ts';
import { addMessage } from './message-pages.ts';
import { useMessageCache } from './use-messages.ts';
import type { ReplyDraft } from './use-reply-draft.ts';

const MAX_ATTEMPTS = 4;
const delayMs = (attempt: number): number => 1000 * 2 ** (attempt - 1);

/** Returns a conversation after a message of the team; the next poll brings the server's. */
function afterMessage(conversation: Conversation, { kind, seq, body, created_at }: Schemas['Message']): Conversation {
  if (kind !== 'reply') return conversation;
  return {
    ...conversation,
    status: 'pending',
    waiting_since: null,
    message_count: seq,
    last_activity_at: created_at,
    last_message: { seq, preview: [...body].slice(0, 140).join(''), author_type: 'member', at: created_at },
  };
}

/**
 * Sends messages. The response is written into the cached thread and lists, so that a message costs one request.
 *
 * A lost connection or a restart of the API is waited for: the message's id makes another attempt harmless.
 */
export function useSending(conversationId: string) {
  const changeMessages = useMessageCache();
  const create = useAct('POST /v1/conversations/{id}/messages', {
    wrote(cache, message) {
      if (message.conversation_id !== conversationId) return false;
      changeMessages(conversationId, known => addMessage(known, message));
      const params = { id: conversationId };
      cache.change('GET /v1/conversations/{id}', { params }, known => afterMessage(known, message));
      cache.changeItem('GET /v1/conversations', conversationId, (known: Conversation) => afterMessage(known, message));
      return true;
    },
  });
  const [state, setState] = useState<{ isPending: boolean; problem?: ApiProblem }>({ isPending: false });
  const isPending = useRef(false); // a second press before the next render must not send twice
  const send = async ({ body, mode, messageId }: ReplyDraft): Promise<boolean> => {
    if (isPending.current || body.trim() === '') return false;
    isPending.current = true;
    setState({ isPending: true });
    const sent = { params: { id: conversationId }, body: { body, kind: mode, client_message_id: messageId } };
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          await create.mutateAsync(sent);
          setState({ isPending: false });
          return true;
        } catch (error) {
          if (!(error instanceof ApiProblem)) throw error;
          if (!isTransient(error) || attempt === MAX_ATTEMPTS) {
            setState({ isPending: false, problem: error });
            return false;
          }
          const waitMs = Math.max(delayMs(attempt), (error.retryAfterSeconds ?? 0) * 1000);
          await new Promise(done => setTimeout(done, waitMs));
        }
      }
    } finally {
      isPending.current = false;
    }
  };
  return { ...state, send };
}
