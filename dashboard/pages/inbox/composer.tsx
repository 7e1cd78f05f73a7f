import { type KeyboardEvent, type Ref, useImperativeHandle, useRef, useState } from 'react';
import { useAct } from '../../api/hooks.ts';
import { Button } from '../../components/button.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import { newId } from '../../new-id.ts';
import styles from './inbox.module.css';

type Mode = 'reply' | 'note';

export interface ComposerHandle {
  /** Focuses the text field in the given mode. */
  write(mode: Mode): void;
}

const MAX_LENGTH = 10_000;

/** Text field for replies to the user and internal notes. */
export function Composer({ conversationId, ref }: { conversationId: string; ref: Ref<ComposerHandle> }) {
  const [mode, setMode] = useState<Mode>('reply');
  const [body, setBody] = useState('');
  // Reused until the message is sent, so that a double click or a retry creates one message only.
  const messageId = useRef(newId());
  const field = useRef<HTMLTextAreaElement>(null);
  const create = useAct('POST /v1/conversations/{id}/messages');
  useImperativeHandle(ref, () => ({
    write(next) {
      setMode(next);
      field.current?.focus();
    },
  }));
  const send = () => {
    if (body.trim() === '' || create.isPending) return;
    create.mutate(
      { params: { id: conversationId }, body: { body, kind: mode, client_message_id: messageId.current } },
      {
        onSuccess: () => {
          setBody('');
          messageId.current = newId();
          field.current?.focus();
        },
      },
    );
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
    if (event.key === 'Escape') field.current?.blur(); // single-key shortcuts work again
  };
  const label = mode === 'reply' ? t('Reply to the user') : t('Internal note');
  return (
    <div className={mode === 'note' ? `${styles.composer} ${styles.asNote}` : styles.composer}>
      <div className={styles.writing}>
        <div className={styles.modes}>
          {(['reply', 'note'] as const).map(name => (
            <button
              key={name}
              type="button"
              className={styles.mode}
              aria-pressed={mode === name}
              onClick={() => setMode(name)}
            >
              {name === 'reply' ? t('Reply') : t('Note')}
            </button>
          ))}
        </div>
        <textarea
          ref={field}
          value={body}
          maxLength={MAX_LENGTH}
          aria-label={label}
          placeholder={label}
          onChange={event => {
            setBody(event.target.value);
            messageId.current = create.isError ? newId() : messageId.current;
          }}
          onKeyDown={onKeyDown}
        />
        <div className={styles.sending}>
          <span className="small quiet">{t('Ctrl+Enter to send')}</span>
          <Button small look="primary" isPending={create.isPending} isDisabled={body.trim() === ''} onPress={send}>
            {mode === 'reply' ? t('Send reply') : t('Add note')}
          </Button>
        </div>
      </div>
      {create.error && <ProblemNote problem={create.error} />}
    </div>
  );
}
