import { Button } from '../../components/button.tsx';
import { Note } from '../../components/problem-note.tsx';
import { t } from '../../i18n.ts';
import type { FieldChange } from './conversation-changes.ts';
import { eventText, fieldValueText, type People } from './event-text.ts';
import type { Collision } from './use-changes.ts';

interface ChangedNoteProps {
  collision: Collision;
  people: People;
  change(change: FieldChange): void;
  dismiss(): void;
}

/** Note about a colleague's change of the same field; the member decides which value stays. */
export function ChangedNote({ collision, people, change, dismiss }: ChangedNoteProps) {
  const { change: wanted, present, event } = collision;
  const [mine, theirs] = [wanted.value, present].map(value => fieldValueText(wanted.field, value, people.nameOf));
  return (
    <div role="alert">
      <Note tone="warn">
        <strong className="wrap-anywhere">
          {event ? eventText(event, people) : t('Somebody else has changed this meanwhile.')}
        </strong>
        <p>{t('Your change to “{value}” was not made.', { value: mine })}</p>
        <div className="row">
          <Button small onPress={() => change({ ...wanted, was: present })}>
            {t('Change to “{value}”', { value: mine })}
          </Button>
          <Button small onPress={dismiss}>
            {t('Keep “{value}”', { value: theirs })}
          </Button>
        </div>
      </Note>
    </div>
  );
}
