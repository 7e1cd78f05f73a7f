import { ParleyError } from './errors.ts';

/** Starts a timer. One of more than 24 days, such as `Infinity`, would end at once: it ends after 23 days. */
export const startTimer = (end: () => void, ms: number): ReturnType<typeof setTimeout> =>
  setTimeout(end, Math.min(ms, 2e9));

/** Waits for `work` for at most `ms`, then rejects with `no-reply`; the work is not stopped. `late` begins the message. */
export function within<T>(ms: number, work: Promise<T>, late: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    const fail = () => reject(new ParleyError('no-reply', `${late} within ${ms / 1000} s.`, { retryable: true }));
    timer = startTimer(fail, ms);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
