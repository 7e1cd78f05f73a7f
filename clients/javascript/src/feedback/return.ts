import { startTimer } from '../limit.ts';
import type { Wire } from '../wire.ts';

/** The return of a view that the server has asked to wait. */
export interface Return {
  /** Returns after the `Retry-After` of an error, if it has one, plus 0 to 100 % of it at random: others wait as well. */
  after(error: unknown): void;
  cancel(): void;
}

/** Creates a return; `work` is called after the wait. */
export function createReturn({ random }: Wire, work: () => void): Return {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = () => clearTimeout(timer);
  return {
    cancel,
    after(error) {
      cancel();
      const { retryAfterMs } = Object(error) as { retryAfterMs?: number | null };
      if (typeof retryAfterMs === 'number') timer = startTimer(work, retryAfterMs * (1 + random()));
    },
  };
}
