import { describe, expect, test } from 'vitest';
import { Problem } from '../../src/domain/problem.ts';
import { createTaskProgress, type TaskOutcome } from '../../src/worker/sandbox-task.ts';

const COUNTS = { stored: 1, repeated: 0, quarantined: 0 };
const errorOf = (outcome: TaskOutcome | undefined) => (outcome && 'error' in outcome ? outcome.error : undefined);

/** Lets seconds pass until the task ends. Returns their number and the error. */
function wait(progress: ReturnType<typeof createTaskProgress>): { seconds: number; error: Error | undefined } {
  for (let seconds = 1; seconds <= 60; seconds++) {
    const error = errorOf(progress.tick());
    if (error) return { seconds, error };
  }
  return { seconds: Number.POSITIVE_INFINITY, error: undefined };
}

describe('a task in the sandbox process', () => {
  test('is sent once', () => {
    const progress = createTaskProgress(() => false);
    expect([progress.send(), progress.send()]).toEqual([true, false]);
  });

  test('ends with the counts of the process, and not with a sign of life', () => {
    const progress = createTaskProgress(() => false);
    progress.send();
    expect(progress.receive({})).toBeUndefined();
    expect(progress.receive({ counts: COUNTS })).toEqual({ counts: COUNTS });
  });

  test('is at fault for an error of its own, and not for an outage', () => {
    const progress = createTaskProgress(() => false);
    progress.send();
    const fault = errorOf(progress.receive({ failure: { message: 'TypeError: no', passing: false } }));
    expect(fault).not.toBeInstanceOf(Problem);
    expect(fault?.message).toBe('TypeError: no');
    const outage = errorOf(progress.receive({ failure: { message: 'away', passing: true } }));
    expect(outage).toMatchObject({ code: 'database-unavailable' });
  });

  test('is at fault when the process exits or is silent for more than 5 s after it was sent', () => {
    const progress = createTaskProgress(() => false);
    progress.send();
    expect(errorOf(progress.exit('SIGKILL'))).not.toBeInstanceOf(Problem);
    expect(errorOf(progress.exit('SIGKILL'))?.message).toContain('exited (SIGKILL)');
    const { seconds, error } = wait(progress);
    expect([seconds, error instanceof Problem, error?.message]).toEqual([
      6,
      false,
      'the process storing it did not respond for 5 s',
    ]);
  });

  test('counts the silence since the last message', () => {
    const progress = createTaskProgress(() => false);
    progress.send();
    for (let second = 0; second < 5; second++) expect(progress.tick()).toBeUndefined();
    progress.receive({});
    expect(wait(progress).seconds).toBe(6);
  });

  test('is not at fault before it was sent, for which the process has 30 s, nor while the worker stops', () => {
    const starting = wait(createTaskProgress(() => false));
    expect([starting.seconds, starting.error instanceof Problem]).toEqual([31, true]);
    expect(errorOf(createTaskProgress(() => false).exit(1))).toMatchObject({ code: 'service-stopping' });
    const stopping = createTaskProgress(() => true);
    stopping.send();
    expect(errorOf(stopping.exit(0))).toMatchObject({ code: 'service-stopping' });
  });
});
