import { expect, test } from 'vitest';
import type { Member } from '../../../dashboard/api/names.ts';
import { membersFor } from '../../../dashboard/pages/inbox/use-mention-writing.ts';
import { mentionedIn, type ReplyDraft } from '../../../dashboard/pages/inbox/use-reply-draft.ts';

const member = (id: string, name: string, email = `${id}@acme.example`) => ({ id, name, email }) as Member;

test('members are offered by the words of their names, or by their addresses without a name', () => {
  const members = [member('a', 'Ada Lindqvist'), member('b', 'Mika Sørensen'), member('c', '', 'linus@acme.example')];
  expect(membersFor(members, 'lin')).toEqual([
    { id: 'a', name: 'Ada Lindqvist', about: 'a@acme.example' },
    { id: 'c', name: 'linus@acme.example', about: '' },
  ]);
  expect(membersFor(members, '')).toHaveLength(3);
});

test('a note mentions the members whose names are still in it, a reply none', () => {
  const mentions = [
    { id: 'a', name: 'Ada' },
    { id: 'b', name: 'Mika' },
  ];
  const draft: ReplyDraft = { mode: 'note', body: 'Ask @Ada about it', messageId: '1', mentions };
  expect(mentionedIn(draft)).toEqual(['a']);
  expect(mentionedIn({ ...draft, mode: 'reply' })).toEqual([]);
  expect(mentionedIn({ ...draft, mentions: undefined } as unknown as ReplyDraft)).toEqual([]);
});
