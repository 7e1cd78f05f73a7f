import { ParleyError } from './errors.ts';

/** Waits for `work` for at most `ms`, then rejects with `no-reply`; the work is not stopped. `late` begins the message. */
export function within<T>(ms: number, work: Promise<T>, late: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    const fail = () => reject(new ParleyError('no-reply', `${late} within ${ms / 1000} s.`, { retryable: true }));
    timer = setTimeout(fail, ms);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
