import { useRef, useState } from 'react';
import { useAct } from '../../api/hooks.ts';
import { ApiProblem, isTransient } from '../../api/problem.ts';
import type { Schemas } from '../../api/schema.ts';
import type { Conversation } from './conversation-changes.ts';
import { addMessage, type Message, type Position } from './message-pages.ts';
import { useMessageCache } from './use-messages.ts';
import { mentionedIn, type ReplyDraft } from './use-reply-draft.ts';

const MAX_ATTEMPTS = 4;
const delayMs = (attempt: number): number => 1000 * 2 ** (attempt - 1);

/** Returns a conversation after a message of the team; the next poll brings the server's. */
function afterMessage(conversation: Conversation, { kind, seq, body, created_at }: Schemas['Message']): Conversation {
  if (kind !== 'reply') return conversation;
  return {
    ...conversation,
    status: conversation.status === 'snoozed' ? 'snoozed' : 'pending',
    waiting_since: null,
    message_count: seq,
    last_activity_at: created_at,
    last_message: { seq, preview: [...body].slice(0, 140).join(''), author_type: 'member', at: created_at },
  };
}

interface Sending {
  isPending: boolean;
  problem?: ApiProblem;
  /** Messages of others after those on the screen, because of which the message was not sent. */
  missed?: Message[];
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
  const [state, setState] = useState<Sending>({ isPending: false });
  const isPending = useRef(false); // a second press before the next render must not send twice
  const attempt = async (body: Schemas['MessageInput']): Promise<Message> => {
    for (let attempts = 1; ; attempts++) {
      try {
        return await create.mutateAsync({ params: { id: conversationId }, body });
      } catch (error) {
        if (!isTransient(error) || attempts === MAX_ATTEMPTS) throw error;
        const asked = error instanceof ApiProblem ? (error.retryAfterSeconds ?? 0) : 0;
        await new Promise(done => setTimeout(done, Math.max(delayMs(attempts), asked * 1000)));
      }
    }
  };
  /** Sends a draft whose author has seen the messages up to a position. Resolves with the message if it was sent. */
  const send = async (draft: ReplyDraft, after: Position): Promise<Message | undefined> => {
    const { body, mode, messageId } = draft;
    const mentions = mentionedIn(draft);
    if (isPending.current || body.trim() === '') return undefined;
    isPending.current = true;
    setState({ isPending: true });
    try {
      const mentioned = mentions.length > 0 ? { mentions } : {};
      const message = await attempt({ body, kind: mode, client_message_id: messageId, after, ...mentioned });
      setState({ isPending: false });
      return message;
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      const isMoved = error.code === 'conversation-moved';
      setState({ isPending: false, ...(isMoved ? { missed: error.missed } : { problem: error }) });
      return undefined;
    } finally {
      isPending.current = false;
    }
  };
  return { ...state, send, dismiss: () => setState({ isPending: false }) };
}
