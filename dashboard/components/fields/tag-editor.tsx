import { type KeyboardEvent, useState } from 'react';
import { t } from '../../i18n.ts';
import { Icon } from '../icon.tsx';
import styles from './tag-editor.module.css';

/** Maximum number of tags and maximum length of a tag (contract section 5). */
const MAX_TAGS = 20;
const MAX_TAG_LENGTH = 50;

interface TagEditorProps {
  tags: readonly string[];
  /** Absent without write permission. */
  change?(tags: string[]): void;
  /** Label of the input. */
  label?: string;
}

/** Tags with an input to add and buttons to remove them. */
export function TagEditor({ tags, change, label = t('Add tag') }: TagEditorProps) {
  const [draft, setDraft] = useState('');
  const add = () => {
    const tag = draft.trim();
    setDraft('');
    if (tag && !tags.includes(tag)) change?.([...tags, tag]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation(); // typing must not trigger shortcuts
    if (event.key !== 'Enter') return;
    event.preventDefault();
    add();
  };
  return (
    <div className={styles.tags}>
      {tags.map(tag => (
        <span key={tag} className={change ? styles.tag : `${styles.tag} ${styles.fixed}`}>
          {tag}
          {change && (
            <button
              type="button"
              className={styles.remove}
              aria-label={t('Remove tag {tag}', { tag })}
              onClick={() => change(tags.filter(other => other !== tag))}
            >
              <Icon name="close" size={12} />
            </button>
          )}
        </span>
      ))}
      {change && tags.length < MAX_TAGS && (
        <input
          className={styles.input}
          value={draft}
          maxLength={MAX_TAG_LENGTH}
          placeholder={label}
          aria-label={label}
          onChange={event => setDraft(event.target.value)}
          onKeyDown={onKeyDown}
          onBlur={add}
        />
      )}
    </div>
  );
}
