import { t } from '../../../i18n.ts';
import styles from './offers.module.css';
import type { Offer } from './use-offers.ts';

interface OfferListProps {
  id: string;
  label: string;
  offered: Offer[];
  current: number;
  setCurrent(at: number): void;
  choose(id: string): void;
}

/** The offers for a sign in the text field. The field has the focus and handles the keys. */
export const OfferList = ({ id, label, offered, current, setCurrent, choose }: OfferListProps) => (
  <>
    <div id={id} className={styles.list} role="listbox" aria-label={label} tabIndex={-1}>
      {offered.map((offer, at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
        <div
          key={offer.id}
          id={`${id}-${at}`}
          role="option"
          tabIndex={-1}
          aria-selected={at === current}
          className={styles.offer}
          onPointerDown={event => event.preventDefault()} // the text field keeps the focus
          onPointerMove={() => setCurrent(at)}
          onClick={() => choose(offer.id)}
        >
          <bdi className={styles.name}>{offer.name}</bdi>
          {offer.about && (
            <span className={styles.about} dir="auto">
              {offer.about}
            </span>
          )}
        </div>
      ))}
    </div>
    <p className="hidden-text" role="status">
      {t('{count, plural, one {# result} other {# results}}', { count: offered.length })}
    </p>
  </>
);
