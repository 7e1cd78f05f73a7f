import { type RefObject, useState } from 'react';
import type { Conversation } from '../conversation-changes.ts';
import { type Offer, useOffers } from '../offers/use-offers.ts';
import type { Mode, ReplyDraft } from '../use-reply-draft.ts';
import { changeTexts } from './change-texts.ts';
import type { ChosenMacro } from './macro-note.tsx';
import { offeredFor } from './offered.ts';
import { useChangeNames } from './use-change-names.ts';
import { useMacroText } from './use-macro-text.ts';
import { type Macro, useMacros } from './use-macros.ts';

/** The mode of a text with a macro in it. A note never becomes a reply by that, unless it was empty. */
function modeWith({ kind }: Macro, mode: Mode, rest: string): Mode {
  if (kind === 'note') return 'note';
  return rest.trim() === '' ? 'reply' : mode;
}

interface MacroWritingProps {
  conversation: Conversation;
  field: RefObject<HTMLTextAreaElement | null>;
  draft: ReplyDraft;
  change(changes: Partial<ReplyDraft>): void;
}

/** Inserts saved replies after a slash. Those with changes are shown before they do anything. */
export function useMacroWriting({ conversation, field, draft, change }: MacroWritingProps) {
  const { macros } = useMacros();
  const names = useChangeNames();
  const textOf = useMacroText(conversation);
  const [chosen, setChosen] = useState<ChosenMacro>();
  const offerOf = (macro: Macro): Offer => ({
    id: macro.id,
    name: macro.shortcut ? `${macro.name} /${macro.shortcut}` : macro.name,
    about: macro.body ?? changeTexts(macro, names).join(' · '),
  });
  const insert = ({ macro, text }: ChosenMacro) =>
    change({ body: offers.replace(text), mode: modeWith(macro, draft.mode, offers.rest) });
  const choose = async (id: string) => {
    const macro = macros.find(one => one.id === id);
    const text = macro && (await textOf(macro));
    if (!macro || text === undefined) return;
    if (Object.keys(macro.changes).length > 0) setChosen({ macro, text });
    else insert({ macro, text });
  };
  const offers = useOffers({
    field,
    body: draft.body,
    sign: '/',
    find: query => offeredFor(macros, query).map(offerOf),
    choose: id => void choose(id),
  });
  const close = () => {
    setChosen(undefined);
    field.current?.focus();
  };
  return {
    offers,
    chosen,
    insertChosen: () => {
      if (chosen) insert(chosen);
      close();
    },
    /** Removes the slash and closes the note. */
    close: () => {
      change({ body: offers.replace('') });
      close();
    },
  };
}
