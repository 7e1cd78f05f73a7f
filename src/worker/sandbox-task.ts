import { Problem } from '../domain/problem.ts';
import type { RecordedCounts } from '../storage/answers/recording.ts';
import type { SandboxReply } from './sandbox-process.ts';

const START_TIMEOUT_S = 30;
/** The process sends a sign of life each second. If it is silent for this long, it hangs. */
const MAX_SILENCE_S = 5;

/** The outcome of a task. */
export type TaskOutcome = { counts: RecordedCounts } | { error: Error };

/**
 * The progress of one task in the sandbox process. Decides whether the task has ended, and whether the answers are at
 * fault: only after they were sent, and not while the worker is stopping. Performs no I/O.
 */
export interface TaskProgress {
  /** Records that the answers were sent. Returns false if they were before. */
  send(): boolean;
  /** Records a message of the process. Returns the outcome if it has one. */
  receive(reply: SandboxReply): TaskOutcome | undefined;
  /** Records that a second has passed. Returns the outcome if the process was silent for too long. */
  tick(): TaskOutcome | undefined;
  /** Returns the outcome of a process that ended. */
  exit(reason: string | number | null): TaskOutcome;
}

/** Creates the progress of a task that has not been sent yet. */
export function createTaskProgress(isStopping: () => boolean): TaskProgress {
  let isSent = false;
  let silentS = 0;

  const fail = (what: string): TaskOutcome => ({
    error:
      isSent && !isStopping()
        ? new Error(`the process storing it ${what}`)
        : new Problem('service-stopping', `The process for isolated answers ${what}.`),
  });

  return {
    send() {
      if (isSent) return false;
      isSent = true;
      return true;
    },
    receive({ counts, failure }) {
      silentS = 0;
      if (counts) return { counts };
      if (!failure) return undefined;
      const { message, passing } = failure;
      return { error: passing ? new Problem('database-unavailable', message) : new Error(message) };
    },
    tick() {
      const limitS = isSent ? MAX_SILENCE_S : START_TIMEOUT_S;
      silentS++;
      return silentS > limitS ? fail(`did not respond for ${limitS} s`) : undefined;
    },
    exit: reason => fail(`exited (${reason})`),
  };
}
