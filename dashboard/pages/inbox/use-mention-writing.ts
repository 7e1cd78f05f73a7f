import type { RefObject } from 'react';
import type { Member } from '../../api/names.ts';
import { useMembers } from '../../use-members.ts';
import { type Offer, useOffers } from './offers/use-offers.ts';
import type { ReplyDraft } from './use-reply-draft.ts';

/** Members that are offered at a time. */
const OFFERED = 8;

const nameOf = ({ name, email }: Member): string => name || email;

/** Returns the members with a word that starts with the letters after an at sign. */
export const membersFor = (members: readonly Member[], query: string): Offer[] =>
  members
    .filter(member =>
      nameOf(member)
        .toLowerCase()
        .split(/\s+/)
        .some(word => word.startsWith(query.toLowerCase())),
    )
    .slice(0, OFFERED)
    .map(member => ({ id: member.id, name: nameOf(member), about: member.name ? member.email : '' }));

interface MentionWritingProps {
  field: RefObject<HTMLTextAreaElement | null>;
  draft: ReplyDraft;
  change(changes: Partial<ReplyDraft>): void;
}

/** Mentions members after an at sign in a note. */
export function useMentionWriting({ field, draft, change }: MentionWritingProps) {
  const { members } = useMembers();
  const { mode, body, mentions = [] } = draft;
  const offers = useOffers({
    field,
    body,
    sign: '@',
    find: query => (mode === 'note' ? membersFor(members, query) : []),
    choose(id) {
      const name = members.filter(member => member.id === id).map(nameOf)[0];
      if (name === undefined) return;
      const others = mentions.filter(mention => mention.id !== id);
      change({ body: offers.replace(`@${name} `), mentions: [...others, { id, name }] });
    },
  });
  return offers;
}
