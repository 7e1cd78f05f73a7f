import { Button } from '../../../components/button.tsx';
import { Note, ProblemNote } from '../../../components/problem-note.tsx';
import { t } from '../../../i18n.ts';
import type { Conversation } from '../conversation-changes.ts';
import type { People } from '../event-text.ts';
import { LinkedText } from '../linked-text.tsx';
import { MissedNote } from '../missed-note.tsx';
import type { Seen } from '../use-seen.ts';
import { changeTexts } from './change-texts.ts';
import styles from './macros.module.css';
import { useApplying } from './use-applying.ts';
import { useChangeNames } from './use-change-names.ts';
import type { Macro } from './use-macros.ts';

/** A chosen macro, with its text as the user would read it. */
export interface ChosenMacro {
  macro: Macro;
  text: string;
}

interface MacroNoteProps extends ChosenMacro {
  conversationId: string;
  people: People;
  seen: Seen;
  insert(): void;
  cancel(): void;
  applied(conversation: Conversation): void;
}

/** The text and the changes of a macro, before it is applied. */
export function MacroNote({ macro, text, conversationId, people, seen, insert, cancel, applied }: MacroNoteProps) {
  const names = useChangeNames();
  const { isPending, problem, missed, apply, applyAnyway, dismiss } = useApplying(conversationId, macro, seen);
  const run = async (applying: Promise<Conversation | undefined>) => {
    const conversation = await applying;
    if (conversation) applied(conversation);
  };
  if (missed)
    return (
      <MissedNote
        missed={missed}
        people={people}
        sendAnyway={() => void run(applyAnyway())}
        keepLabel={t('Back to the saved reply')}
        keepEditing={dismiss}
      />
    );
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
          {changeTexts(macro, names).map(change => (
            <li key={change}>{change}</li>
          ))}
        </ul>
        <div className="row">
          <Button small autoFocus look="primary" isPending={isPending} onPress={() => void run(apply())}>
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
      {problem && <ProblemNote problem={problem} />}
    </section>
  );
}
