import { type KeyboardEvent, useState } from 'react';
import { t } from '../i18n.ts';
import { Icon } from './icon.tsx';
import styles from './tag-editor.module.css';

/** How many tags a thing takes, and how long each may be (contract section 5). */
const MOST_TAGS = 20;
const LONGEST_TAG = 50;

interface TagEditorProps {
  tags: readonly string[];
  /** Absent for those who may only look. */
  change?(tags: string[]): void;
}

/** The tags of a thing; Enter adds one, its cross takes it away. */
export function TagEditor({ tags, change }: TagEditorProps) {
  const [draft, setDraft] = useState('');
  const add = () => {
    const tag = draft.trim();
    setDraft('');
    if (tag && !tags.includes(tag)) change?.([...tags, tag]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation(); // a letter written here is no shortcut
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
      {change && tags.length < MOST_TAGS && (
        <input
          className={styles.input}
          value={draft}
          maxLength={LONGEST_TAG}
          placeholder={t('Add tag')}
          aria-label={t('Add tag')}
          onChange={event => setDraft(event.target.value)}
          onKeyDown={onKeyDown}
          onBlur={add}
        />
      )}
    </div>
  );
}
