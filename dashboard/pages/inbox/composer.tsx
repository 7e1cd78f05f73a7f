import { type KeyboardEvent, type ReactNode, type Ref, useImperativeHandle, useRef } from 'react';
import { Button } from '../../components/button.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import styles from './composer.module.css';
import type { Conversation } from './conversation-changes.ts';
import type { People } from './event-text.ts';
import { MacroNote } from './macros/macro-note.tsx';
import { useMacroWriting } from './macros/use-macro-writing.ts';
import { MissedNote } from './missed-note.tsx';
import { OfferList } from './offers/offer-list.tsx';
import { useMentionWriting } from './use-mention-writing.ts';
import type { Mode } from './use-reply-draft.ts';
import { useReplying } from './use-replying.ts';
import type { Seen } from './use-seen.ts';

export interface ComposerHandle {
  /** Focuses the text field in the given mode. */
  write(mode: Mode): void;
}

const MAX_LENGTH = 10_000;

const Modes = ({ mode, choose }: { mode: Mode; choose(mode: Mode): void }) => (
  <div className={styles.modes}>
    {(['reply', 'note'] as const).map(name => (
      <button
        key={name}
        type="button"
        className={styles.mode}
        aria-pressed={mode === name}
        onClick={() => choose(name)}
      >
        {name === 'reply' ? t('Reply') : t('Note')}
      </button>
    ))}
  </div>
);

interface ComposerProps {
  conversation: Conversation;
  people: People;
  seen: Seen;
  /** Is called after a saved reply has resolved or snoozed the conversation. */
  setAside(): void;
  ref: Ref<ComposerHandle>;
}

interface SendRowProps {
  mode: Mode;
  isKept: boolean;
  isPending: boolean;
  isDisabled: boolean;
  submit(): void;
}

const SendRow = ({ mode, isKept, isPending, isDisabled, submit }: SendRowProps) => (
  <div className={styles.sending}>
    <span className="small quiet">
      {isKept ? t('Ctrl+Enter to send, / for saved replies') : t('The browser has no space to keep this draft.')}
    </span>
    <Button small look="primary" isPending={isPending} isDisabled={isDisabled} onPress={submit}>
      {mode === 'reply' ? t('Send reply') : t('Add note')}
    </Button>
  </div>
);

const Frame = ({ mode, children }: { mode: Mode; children: ReactNode }) => (
  <div className={mode === 'note' ? `${styles.composer} ${styles.asNote}` : styles.composer}>{children}</div>
);

/** Text field for replies to the user and internal notes. An unsent text is kept for each conversation. */
export function Composer({ conversation, people, seen, setAside, ref }: ComposerProps) {
  const { id } = conversation;
  const field = useRef<HTMLTextAreaElement>(null);
  const replying = useReplying(id, seen, field);
  const { draft, isKept, change, isPending, problem, missed, submit } = replying;
  const { mode, body } = draft;
  const { offers, chosen, insertChosen, close } = useMacroWriting({ conversation, field, draft, change });
  const mentions = useMentionWriting({ field, draft, change });
  useImperativeHandle(ref, () => ({
    write(next) {
      change({ mode: next });
      field.current?.focus();
    },
  }));
  const applied = ({ status }: Conversation) => {
    close();
    if (status === 'resolved' || status === 'snoozed') setAside();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (offers.onKey(event) || mentions.onKey(event)) return;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
    if (event.key === 'Escape') field.current?.blur(); // single-key shortcuts work again
  };
  const label = mode === 'reply' ? t('Reply to the user') : t('Internal note');
  return (
    <Frame mode={mode}>
      {missed && <MissedNote {...replying} missed={missed} people={people} />}
      {chosen && (
        <MacroNote
          {...chosen}
          {...{ people, seen, applied }}
          conversationId={id}
          insert={insertChosen}
          cancel={close}
        />
      )}
      {offers.isOpen && !chosen && <OfferList label={t('Saved replies')} {...offers.list} />}
      {mentions.isOpen && <OfferList label={t('Members')} {...mentions.list} />}
      <div className={styles.writing}>
        <Modes mode={mode} choose={next => change({ mode: next })} />
        <textarea
          ref={field}
          aria-autocomplete="list"
          {...(chosen ? {} : { ...offers.attributes, ...mentions.attributes })}
          value={body}
          dir="auto"
          maxLength={MAX_LENGTH}
          readOnly={isPending || chosen !== undefined}
          aria-label={label}
          placeholder={label}
          onChange={event => replying.write(event.target.value)}
          onKeyDown={onKeyDown}
          onSelect={() => {
            offers.onSelect();
            mentions.onSelect();
          }}
        />
        <SendRow {...{ mode, isKept, isPending, submit }} isDisabled={body.trim() === '' || chosen !== undefined} />
      </div>
      {problem && <ProblemNote problem={problem} />}
    </Frame>
  );
}
