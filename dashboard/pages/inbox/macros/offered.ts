import type { Macro } from './use-macros.ts';

/** Macros that are offered at a time. */
const OFFERED = 8;

/** Returns the macros for the letters after a slash: by shortcut, then by a word of the name. */
export function offeredFor(macros: readonly Macro[], query: string): Macro[] {
  const wanted = query.toLowerCase();
  const rankOf = ({ shortcut, name }: Macro): number => {
    if (shortcut?.startsWith(wanted)) return 0;
    const words = name.toLowerCase().split(/[^\p{L}\p{N}]+/u);
    return words.some(word => word.startsWith(wanted)) ? 1 : 2;
  };
  const ranked = macros.map(macro => ({ macro, rank: rankOf(macro) })).filter(({ rank }) => rank < 2);
  return ranked
    .toSorted((one, other) => one.rank - other.rank)
    .slice(0, OFFERED)
    .map(({ macro }) => macro);
}
