import { type RefObject, useRef } from 'react';
import { newId } from '../../new-id.ts';
import { type Position, positionOf } from './message-pages.ts';
import { useRefetch } from './use-refetch.ts';
import { useReplyDraft } from './use-reply-draft.ts';
import type { Seen } from './use-seen.ts';
import { useSending } from './use-sending.ts';

/** The unsent message of a conversation, and how it is sent. The text field has the focus afterwards. */
export function useReplying(conversationId: string, seen: Seen, field: RefObject<HTMLTextAreaElement | null>) {
  const { draft, isKept, change, sent } = useReplyDraft(conversationId);
  const { send, isPending, problem, missed, dismiss } = useSending(conversationId);
  const refetch = useRefetch(conversationId);
  /** Contains the button that sends in spite of missed messages. */
  const decision = useRef<HTMLDivElement>(null);
  const sendAfter = async (after: Position) => {
    const message = await send(draft, after);
    if (!message) refetch();
    else {
      seen.note(positionOf([message]));
      sent(draft.messageId);
    }
    field.current?.focus();
  };
  const noteMissed = () => seen.note(positionOf(missed ?? []));
  return {
    draft,
    isKept,
    change,
    /** A changed text after a failure is another message. */
    write: (body: string) => change({ body, messageId: problem ? newId() : draft.messageId }),
    isPending,
    problem,
    missed,
    decision,
    /** Sends the message. While messages were missed, it leads to the decision about them instead. */
    submit: () => {
      if (missed) decision.current?.querySelector('button')?.focus();
      else void sendAfter(seen.position());
    },
    sendAnyway: () => {
      noteMissed();
      void sendAfter(seen.position());
    },
    keepEditing: () => {
      noteMissed();
      dismiss();
      field.current?.focus();
    },
  };
}
