import type { Schemas } from '../../api/schema.ts';

/** Returns the time from which all gates would pass without an event; null if one of them waits for more than time. */
export function passesAt(gates: readonly Schemas['GateDecision'][]): string | null {
  const failed = gates.filter(({ passed }) => !passed);
  if (failed.length === 0 || failed.some(({ passes_at }) => passes_at === null)) return null;
  return failed
    .map(({ passes_at }) => passes_at as string)
    .toSorted()
    .at(-1) as string;
}
