import type { RefObject } from 'react';
import { Button } from '../../components/button.tsx';
import { Note } from '../../components/problem-note.tsx';
import { Time } from '../../components/time.tsx';
import { t } from '../../i18n.ts';
import styles from './composer.module.css';
import { authorText, type People } from './event-text.ts';
import { LinkedText } from './linked-text.tsx';
import type { Message } from './message-pages.ts';

interface MissedNoteProps {
  /** Contains the button that sends. */
  decision?: RefObject<HTMLDivElement | null>;
  missed: Message[];
  people: People;
  sendAnyway(): void;
  /** Label of the button that does not send. */
  keepLabel?: string;
  keepEditing(): void;
}

/** The messages of others that arrived while one was written. It was not sent; the author decides. */
export const MissedNote = ({ decision, missed, people, sendAnyway, keepLabel, keepEditing }: MissedNoteProps) => (
  <div role="alert">
    <Note tone="warn">
      <strong>
        {t('Not sent yet: {count, plural, one {a message has} other {# messages have}} arrived meanwhile.', {
          count: missed.length,
        })}
      </strong>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
      <ul className={styles.missed} tabIndex={0} aria-label={t('Missed messages')}>
        {missed.map(message => (
          <li key={message.id}>
            <span className="small quiet">
              {message.kind === 'note' && <strong>{t('Note')} · </strong>}
              <bdi>{authorText(message, people)}</bdi> · <Time at={message.created_at} />
            </span>
            <p className="wrap-anywhere" dir="auto">
              <LinkedText text={message.body} />
            </p>
          </li>
        ))}
      </ul>
      <div ref={decision} className="row">
        <Button small look="primary" onPress={sendAnyway}>
          {t('Send anyway')}
        </Button>
        <Button small autoFocus={keepLabel !== undefined} onPress={keepEditing}>
          {keepLabel ?? t('Keep editing')}
        </Button>
      </div>
    </Note>
  </div>
);
