import { useAct } from '../../../api/hooks.ts';
import { Button } from '../../../components/button.tsx';
import { Note, ProblemNote } from '../../../components/problem-note.tsx';
import { t } from '../../../i18n.ts';
import { useMembers } from '../../../use-members.ts';
import type { Conversation } from '../conversation-changes.ts';
import { LinkedText } from '../linked-text.tsx';
import { addMessage } from '../message-pages.ts';
import { useMessageCache } from '../use-messages.ts';
import { changeTexts } from './change-texts.ts';
import styles from './macros.module.css';
import type { Macro } from './use-macros.ts';

/** A chosen macro, with its text as the user would read it. */
export interface ChosenMacro {
  macro: Macro;
  text: string;
}

interface MacroNoteProps extends ChosenMacro {
  conversationId: string;
  insert(): void;
  cancel(): void;
  applied(conversation: Conversation): void;
}

/** Applies a macro. The response replaces the cached conversation and adds the message. */
function useApply(conversationId: string) {
  const changeMessages = useMessageCache();
  return useAct('POST /v1/conversations/{id}/macros/{macro_id}', {
    wrote(cache, { conversation, message }) {
      if (message) changeMessages(conversationId, known => addMessage(known, message));
      cache.change('GET /v1/conversations/{id}', { params: { id: conversationId } }, () => conversation);
      cache.changeItem('GET /v1/conversations', conversationId, (): Conversation => conversation);
      return false; // lists by status or tag change too
    },
  });
}

/** The text and the changes of a macro, before it is applied. */
export function MacroNote({ macro, text, conversationId, insert, cancel, applied }: MacroNoteProps) {
  const { nameOf } = useMembers();
  const apply = useApply(conversationId);
  const run = async () => {
    const done = await apply.mutateAsync({ params: { id: conversationId, macro_id: macro.id } }).catch(() => undefined); // shown below
    if (done) applied(done.conversation);
  };
  return (
    <section aria-label={t('Saved reply “{name}”', { name: macro.name })}>
      <Note>
        <strong className="wrap-anywhere">{macro.name}</strong>
        {macro.body !== null && (
          <p className={`${styles.text} wrap-anywhere`} dir="auto">
            {macro.kind === 'note' && <strong>{t('Note')} · </strong>}
            <LinkedText text={text} />
          </p>
        )}
        <ul className="small">
          {changeTexts(macro, nameOf).map(change => (
            <li key={change}>{change}</li>
          ))}
        </ul>
        <div className="row">
          <Button small autoFocus look="primary" isPending={apply.isPending} onPress={() => void run()}>
            {macro.body === null ? t('Apply') : t('Send and apply')}
          </Button>
          {macro.body !== null && (
            <Button small onPress={insert}>
              {t('Insert the text only')}
            </Button>
          )}
          <Button small look="quiet" onPress={cancel}>
            {t('Cancel')}
          </Button>
        </div>
      </Note>
      {apply.error && <ProblemNote problem={apply.error} />}
    </section>
  );
}
