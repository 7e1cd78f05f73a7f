import { useSyncExternalStore } from 'react';
import type { ApiProblem } from '../api/problem.ts';
import { problemText } from '../problem-texts.ts';
import styles from './toast.module.css';

const SHOWN_FOR_MS = 5000;

/** With an action, such as Undo, there is time to reach it. */
const SHOWN_WITH_ACTION_MS = 10_000;

/** A button in a toast, which then disappears. */
interface ToastAction {
  label: string;
  act(): void;
}

interface Toast {
  id: number;
  text: string;
  action?: ToastAction | undefined;
}

let shown: Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function show(next: Toast[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

const hide = (id: number): void => show(shown.filter(other => other.id !== id));

/** Shows a short message for five seconds; ten with an action. */
export function toast(text: string, action?: ToastAction): void {
  const id = ++lastId;
  show([...shown, { id, text, action }]);
  setTimeout(() => hide(id), action ? SHOWN_WITH_ACTION_MS : SHOWN_FOR_MS);
}

/** Shows a failure as a short message, for actions without a form. */
export function showProblem(problem: ApiProblem): void {
  const { title, detail } = problemText(problem);
  toast([title, detail].filter(Boolean).join(': '));
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
      {toasts.map(({ id, text, action }) => (
        <div key={id} className={styles.toast}>
          {text}
          {action && (
            <button
              type="button"
              className={styles.action}
              onClick={() => {
                hide(id);
                action.act();
              }}
            >
              {action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
