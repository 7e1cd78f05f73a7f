/** The shortest duration of five runs, since other work on the machine only adds time. */
export function leastMs(run: () => unknown): number {
  const durations = Array.from({ length: 5 }, () => {
    const startedAt = performance.now();
    run();
    return performance.now() - startedAt;
  });
  return Math.min(...durations);
}
