import { useEffect, useRef, useState } from 'react';
import { defineFeedback } from '../../../clients/javascript/src/feedback/index.ts';
import { t } from '../../i18n.ts';
import { Button } from '../button.tsx';
import styles from './card.module.css';
import type { CardSource } from './card-source.ts';
import { directionOf, useTexts } from './language-texts.ts';
import type { CardPlace } from './place.ts';

defineFeedback();

interface CardProps {
  /** Accessible name. */
  label: string;
  /** A new source starts a new view. */
  source: CardSource;
  /** Language of the view's own texts, which it reads when it starts. */
  language: string;
  /** Whether the card has the colors of the dashboard instead of those of the tenant's appearance. */
  isPlain?: boolean;
  /** Called with the view's content, before it is painted, whenever it changes. */
  onCard?(card: ParentNode): void;
  /** Keeps the step at which the viewer stands for the view of the next source. */
  place?: CardPlace;
  /** Called when the card was sent or dismissed. */
  onEnd?(): void;
  onError?(cause: unknown): void;
}

/** The card view of the JavaScript client, as apps show it. */
export function Card({ label, source, language, isPlain, onCard, place, onEnd, onError }: CardProps) {
  const node = useRef<HTMLDivElement>(null);
  const listeners = useRef({ onCard, place, onEnd, onError, language });
  listeners.current = { onCard, place, onEnd, onError, language };
  const hasTexts = useTexts(language);
  useEffect(() => {
    if (!hasTexts) return;
    const view = Object.assign(document.createElement('parley-feedback'), source);
    view.setAttribute('placement', 'inline'); // whatever the appearance of the tenant's cards
    const content = view.shadowRoot as ShadowRoot;
    const watch = new MutationObserver(() => {
      const { place, onCard, language } = listeners.current;
      place?.resume(content, language);
      onCard?.(content);
    });
    watch.observe(content, { childList: true, subtree: true });
    listeners.current.place?.follow(content);
    view.addEventListener('parley-done', () => listeners.current.onEnd?.());
    view.addEventListener('parley-error', ({ detail }) => listeners.current.onError?.(detail.error));
    node.current?.replaceChildren(view);
    return () => {
      watch.disconnect();
      view.remove();
    };
  }, [source, hasTexts]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be around those of the card
    <div
      ref={node}
      role="group"
      aria-label={label}
      lang={language}
      dir={directionOf(language)}
      className={`${styles.card} ${isPlain ? styles.plain : ''}`}
    />
  );
}

/**
 * Lets a card be answered any number of times: `again` is the button that shows it once more after `end`. `starts` is called
 * before that.
 */
export function useRounds(source: CardSource, starts: () => void = () => undefined) {
  const [round, setRound] = useState(0);
  const [ended, setEnded] = useState<CardSource>();
  const restart = () => {
    starts();
    setEnded(undefined);
    setRound(round + 1);
  };
  const again = ended === source && (
    <Button small look="quiet" onPress={restart}>
      {t('Show the card again')}
    </Button>
  );
  return { round, end: () => setEnded(source), again };
}

/** A card on the screen of a phone, which can be answered any number of times. */
export function PhoneCard({ source, language, ...rest }: Omit<CardProps, 'onCard' | 'onEnd'>) {
  const { round, end, again } = useRounds(source, rest.place?.forget);
  return (
    <div className={styles.phone}>
      <span aria-hidden="true" className={styles.speaker} />
      <div aria-hidden="true" className={styles.app}>
        <span />
        <span />
        <span />
      </div>
      <Card key={`${language} ${round}`} source={source} language={language} onEnd={end} {...rest} />
      {again}
    </div>
  );
}
