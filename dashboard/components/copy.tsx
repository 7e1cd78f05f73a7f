import { useState } from 'react';
import { t } from '../i18n.ts';
import { Button } from './button.tsx';
import styles from './copy.module.css';
import { Icon } from './icon.tsx';

/** How long it is said that the text was copied. */
const SAID_FOR_MS = 2000;

/** Copies a text, and says so. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>();
  const copy = async () => {
    // Without HTTPS a browser has no clipboard for pages; the text stays selectable beside the button.
    const done = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setOutcome(done ? 'copied' : 'refused');
    setTimeout(() => setOutcome(undefined), SAID_FOR_MS);
  };
  return (
    <Button small look="quiet" aria-label={t('Copy {what}', { what })} onPress={() => void copy()}>
      <Icon name={outcome === 'copied' ? 'check' : 'copy'} size={15} />
      <span aria-live="polite">
        {outcome === 'copied' ? t('Copied') : outcome === 'refused' ? t('Copy manually') : t('Copy')}
      </span>
    </Button>
  );
}

/** A value to be taken elsewhere, such as an id. */
export const CopyValue = ({ value, what }: { value: string; what: string }) => (
  <div className={styles.copy}>
    <code className={styles.value}>{value}</code>
    <CopyButton text={value} what={what} />
  </div>
);

/** Lines of code to be taken elsewhere. */
export const Snippet = ({ code, what }: { code: string; what: string }) => (
  <div className={styles.snippet}>
    <div className={styles.corner}>
      <CopyButton text={code} what={what} />
    </div>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard */}
    <section className={styles.code} tabIndex={0} aria-label={what}>
      <pre>
        <code>{code}</code>
      </pre>
    </section>
  </div>
);
