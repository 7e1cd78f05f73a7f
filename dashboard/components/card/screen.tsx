import type { ReactNode } from 'react';
import type { Placement } from '../../../clients/javascript/src/types.ts';
import { Card, useRounds } from './card.tsx';
import type { CardSource } from './card-source.ts';
import { withoutLandmark } from './fill.ts';
import styles from './screen.module.css';

export type Device = 'phone' | 'desktop';
export type Scheme = 'light' | 'dark';

interface ScreenProps {
  /** Accessible name of the card. */
  label: string;
  device: Device;
  scheme: Scheme;
  placement: Placement;
  source: CardSource;
  language: string;
  /** Name of the screen. */
  caption: ReactNode;
}

/** Stands for the content of an app. */
const App = () => (
  <div aria-hidden="true" className={styles.app}>
    <span />
    <span />
    <span />
  </div>
);

/**
 * The screen of an app with a card in its place. Above the page the card is drawn by the client in the same way, but its
 * place is imitated: a popover of the client would be above the whole dashboard.
 */
export function Screen({ label, device, scheme, placement, source, language, caption }: ScreenProps) {
  const { round, end, again } = useRounds(source);
  return (
    <figure className={styles.figure}>
      <div className={`${styles.screen} ${styles[device]} ${styles[scheme]}`}>
        <App />
        <div className={styles.place} data-at={placement}>
          <Card key={`${language} ${round}`} {...{ label, source, language }} onCard={withoutLandmark} onEnd={end} />
        </div>
      </div>
      <figcaption className="spread small quiet">
        <span>{caption}</span>
        {again}
      </figcaption>
    </figure>
  );
}
