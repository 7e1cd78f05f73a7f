import { useState } from 'react';
import { t } from '../i18n.ts';
import { Button } from './button.tsx';
import styles from './copy.module.css';
import { Icon } from './icon.tsx';

/** How long the confirmation is shown. */
const CONFIRMED_FOR_MS = 2000;

interface CopyButtonProps {
  text: string;
  /** Name of the text, for screen readers. */
  what: string;
  /** Defaults to Copy. */
  label?: string;
  /** Called after the text was copied, or selecting it by hand was suggested. */
  copied?: () => void;
}

/** Button that copies a text and confirms it. */
export function CopyButton({ text, what, label = t('Copy'), copied }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>();
  const copy = async () => {
    // Browsers provide no clipboard without HTTPS; the text next to the button can still be selected.
    const done = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setOutcome(done ? 'copied' : 'refused');
    copied?.();
    setTimeout(() => setOutcome(undefined), CONFIRMED_FOR_MS);
  };
  return (
    <Button small look="quiet" aria-label={t('Copy {what}', { what })} onPress={() => void copy()}>
      <Icon name={outcome === 'copied' ? 'check' : 'copy'} size={15} />
      <span aria-live="polite">
        {outcome === 'copied' ? t('Copied') : outcome === 'refused' ? t('Copy manually') : label}
      </span>
    </Button>
  );
}

/** A value with a copy button, such as an ID. */
export const CopyValue = ({ value, what }: { value: string; what: string }) => (
  <div className={styles.copy}>
    <code className={styles.value}>{value}</code>
    <CopyButton text={value} what={what} />
  </div>
);

/** A code block with a copy button. */
export const Snippet = ({ code, what }: { code: string; what: string }) => (
  <div className={styles.snippet}>
    <div className={styles.corner}>
      <CopyButton text={code} what={what} />
    </div>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
    <section className={styles.code} tabIndex={0} aria-label={what}>
      <pre>
        <code>{code}</code>
      </pre>
    </section>
  </div>
);
