import { useSyncExternalStore } from 'react';
import styles from './toast.module.css';

const SHOWN_FOR_MS = 5000;

interface Toast {
  id: number;
  text: string;
}

let shown: Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function show(next: Toast[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

/** Shows a short message for five seconds. */
export function toast(text: string): void {
  const id = ++lastId;
  show([...shown, { id, text }]);
  setTimeout(() => show(shown.filter(other => other.id !== id)), SHOWN_FOR_MS);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Container of the toasts; announced by screen readers. */
export function Toasts() {
  const toasts = useSyncExternalStore(subscribe, () => shown);
  return (
    <div className={styles.toasts} aria-live="polite" role="status">
      {toasts.map(({ id, text }) => (
        <div key={id} className={styles.toast}>
          {text}
        </div>
      ))}
    </div>
  );
}
