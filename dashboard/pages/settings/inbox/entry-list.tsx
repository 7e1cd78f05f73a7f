import type { ReactNode } from 'react';
import { Button } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { MoveButtons } from '../../../components/move-buttons.tsx';
import styles from './inbox-settings.module.css';
import { type Entries, useEntries } from './use-entries.ts';

interface EntryListProps extends Entries {
  entries: readonly { id: string }[];
  maximum: number;
  addLabel: string;
  add(): void;
  heading(at: number): ReactNode;
  /** The entry, as it is named in the labels of its buttons. */
  name(at: number): string;
  inputs(at: number): ReactNode;
}

/** An ordered list of entries, which are added, edited, moved and removed here. */
export function EntryList({ entries, maximum, addLabel, add, heading, name, inputs, ...edit }: EntryListProps) {
  const { list, announcement, shift, drop } = useEntries(edit);
  return (
    <div ref={list} className="stack">
      <ol className={styles.entries}>
        {entries.map(({ id }, at) => (
          <li key={id} className={styles.entry}>
            <div className="spread">
              {heading(at)}
              <MoveButtons
                name={name(at)}
                at={at}
                count={entries.length}
                move={by => shift(at, by)}
                remove={() => drop(at)}
              />
            </div>
            {inputs(at)}
          </li>
        ))}
      </ol>
      <div>
        <Button small data-add="" isDisabled={entries.length >= maximum} onPress={add}>
          <Icon name="plus" size={15} /> {addLabel}
        </Button>
      </div>
      <p className="hidden-text" role="status">
        {announcement}
      </p>
    </div>
  );
}
