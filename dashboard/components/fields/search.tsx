import { type ComponentProps, useEffect, useRef, useState } from 'react';
import styles from './fields.module.css';

/** Time without typing after which the list is searched. */
const PAUSE_MS = 300;

interface SearchProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange'> {
  label: string;
  value: string;
  /** Called once typing pauses, and at once on Enter. */
  change(text: string): void;
}

/** Search field outside a form. It searches after a pause in typing. */
export function Search({ label, value, change, ...rest }: SearchProps) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  const apply = useRef(change);
  apply.current = change;
  useEffect(() => {
    if (value === sent.current) return; // set from outside, such as by Back
    sent.current = value;
    setText(value);
  }, [value]);
  const send = (next: string) => {
    if (sent.current === next) return;
    sent.current = next;
    apply.current(next);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: send only uses refs
  useEffect(() => {
    const timer = setTimeout(() => send(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      type="search"
      className={styles.input}
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={event => setText(event.target.value)}
      onKeyDown={event => event.key === 'Enter' && send(text)}
      {...rest}
    />
  );
}
