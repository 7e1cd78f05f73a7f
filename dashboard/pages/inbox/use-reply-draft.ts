import { useState } from 'react';
import { draftKey, dropDraft, readDraft, writeDraft } from '../../drafts.ts';
import { newId } from '../../new-id.ts';
import { useSession } from '../../session.tsx';

export type Mode = 'reply' | 'note';

/** An unsent message. Its id is kept with it, so that sending it again after a lost response creates one message only. */
export interface ReplyDraft {
  mode: Mode;
  body: string;
  messageId: string;
  /** Members that were chosen after an at sign. Those whose name was removed from the text are not sent. */
  mentions?: { id: string; name: string }[];
}

/** Returns the ids of the members whose names are still in a note. */
export const mentionedIn = ({ mode, body, mentions = [] }: ReplyDraft): string[] =>
  mode === 'note' ? mentions.filter(({ name }) => body.includes(`@${name}`)).map(({ id }) => id) : [];

const emptyDraft = (mode: Mode): ReplyDraft => ({ mode, body: '', messageId: newId() });

/** The unsent message of the member to a conversation, kept in the browser while it has a text. */
export function useReplyDraft(conversationId: string) {
  const { membership } = useSession();
  const key = draftKey(membership.tenant.id, membership.member_id, 'conversation', conversationId);
  const [draft, setDraft] = useState(() => readDraft<ReplyDraft>(localStorage, key)?.value ?? emptyDraft('reply'));
  const [isKept, setKept] = useState(true);
  const save = (next: ReplyDraft) => {
    setDraft(next);
    if (next.body === '') dropDraft(localStorage, key);
    else setKept(writeDraft(localStorage, key, { value: next, at: new Date().toISOString() }));
  };
  return {
    draft,
    /** False if the browser has no space for the draft. */
    isKept,
    change: (changes: Partial<ReplyDraft>) => save({ ...draft, ...changes }),
    /** Removes the draft of a sent message; also after its page was left. */
    sent: (messageId: string) => {
      if (readDraft<ReplyDraft>(localStorage, key)?.value.messageId === messageId) dropDraft(localStorage, key);
      setDraft(present => (present.messageId === messageId ? emptyDraft(present.mode) : present));
    },
  };
}
