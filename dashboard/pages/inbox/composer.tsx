import { type KeyboardEvent, type Ref, useImperativeHandle, useRef } from 'react';
import { Button } from '../../components/button.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import { newId } from '../../new-id.ts';
import styles from './composer.module.css';
import { type Mode, useReplyDraft } from './use-reply-draft.ts';
import { useSending } from './use-sending.ts';

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

/** Text field for replies to the user and internal notes. An unsent text is kept for each conversation. */
export function Composer({ conversationId, ref }: { conversationId: string; ref: Ref<ComposerHandle> }) {
  const { draft, isKept, change, sent } = useReplyDraft(conversationId);
  const { send, isPending, problem } = useSending(conversationId);
  const { mode, body } = draft;
  const field = useRef<HTMLTextAreaElement>(null);
  useImperativeHandle(ref, () => ({
    write(next) {
      change({ mode: next });
      field.current?.focus();
    },
  }));
  const submit = async () => {
    if (await send(draft)) sent(draft.messageId);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit();
    if (event.key === 'Escape') field.current?.blur(); // single-key shortcuts work again
  };
  const label = mode === 'reply' ? t('Reply to the user') : t('Internal note');
  return (
    <div className={mode === 'note' ? `${styles.composer} ${styles.asNote}` : styles.composer}>
      <div className={styles.writing}>
        <Modes mode={mode} choose={next => change({ mode: next })} />
        <textarea
          ref={field}
          value={body}
          dir="auto"
          maxLength={MAX_LENGTH}
          readOnly={isPending}
          aria-label={label}
          placeholder={label}
          onChange={event => change({ body: event.target.value, messageId: problem ? newId() : draft.messageId })}
          onKeyDown={onKeyDown}
        />
        <div className={styles.sending}>
          <span className="small quiet">
            {isKept ? t('Ctrl+Enter to send') : t('The browser has no space to keep this draft.')}
          </span>
          <Button
            small
            look="primary"
            isPending={isPending}
            isDisabled={body.trim() === ''}
            onPress={() => void submit()}
          >
            {mode === 'reply' ? t('Send reply') : t('Add note')}
          </Button>
        </div>
      </div>
      {problem && <ProblemNote problem={problem} />}
    </div>
  );
}
