import { type KeyboardEvent, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { t } from '../../i18n.ts';
import { pathIn } from '../../paths.ts';
import { useSession } from '../../session.tsx';
import { Dialog } from '../dialog.tsx';
import fields from '../fields/fields.module.css';
import styles from './palette.module.css';
import { type Place, stepped } from './places.ts';
import { usePlaces } from './use-places.ts';

/** Absolute path of a place, also on pages without a tenant. */
function useOpen(): (place: Place) => void {
  const [, go] = useLocation();
  const { membership } = useSession();
  return ({ href }) => go(href.startsWith('~') ? href : pathIn(membership.tenant.id, href));
}

function Places({ close }: { close(): void }) {
  const [search, setSearch] = useState('');
  const [at, setAt] = useState(0);
  const places = usePlaces(search);
  const open = useOpen();
  const id = useId();
  const current = Math.min(at, Math.max(0, places.length - 1));
  const choose = (place: Place | undefined) => {
    if (!place) return;
    close();
    open(place);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setAt(stepped(current, event.key === 'ArrowDown' ? 1 : -1, places.length));
    }
    if (event.key === 'Enter') choose(places[current]);
  };
  return (
    <>
      <input
        // biome-ignore lint/a11y/noAutofocus: the dialog is opened to search
        autoFocus
        className={fields.input}
        role="combobox"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={places.length > 0 ? `${id}-${current}` : undefined}
        aria-label={t('Search pages, questions, people and conversations')}
        placeholder={t('Search pages, questions, people and conversations')}
        value={search}
        onChange={event => {
          setSearch(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} className={styles.list} role="listbox" aria-label={t('Results')} tabIndex={-1}>
        {places.map((place, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the search field handles the keys
          <div
            key={place.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            className={styles.place}
            onClick={() => choose(place)}
            onPointerMove={() => setAt(index)}
          >
            <bdi className={styles.label}>{place.label}</bdi>
            <span className="small quiet nowrap">{place.hint}</span>
          </div>
        ))}
      </div>
      <p className="hidden-text" role="status">
        {t('{count, plural, one {# result} other {# results}}', { count: places.length })}
      </p>
    </>
  );
}

/** Dialog that leads to any page, question, person or conversation. */
export const Palette = ({ isOpen, close }: { isOpen: boolean; close(): void }) => (
  <Dialog title={t('Go to')} isOpen={isOpen} close={close}>
    <Places close={close} />
  </Dialog>
);
