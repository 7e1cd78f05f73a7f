/** A place that the palette can open. */
export interface Place {
  id: string;
  label: string;
  /** Kind of the place, or a detail that tells two of the same name apart. */
  hint: string;
  href: string;
}

/** Removes case and accents, so that "uber" finds "Über". */
const fold = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** Returns the places with every word of the search; those that start with it come first. */
export function matching(places: readonly Place[], search: string): Place[] {
  const words = fold(search).split(/\s+/).filter(Boolean);
  const first = words[0] ?? '';
  return places
    .filter(({ label }) => words.every(word => fold(label).includes(word)))
    .toSorted((a, b) => Number(fold(b.label).startsWith(first)) - Number(fold(a.label).startsWith(first)));
}

/** Index of the next place for an arrow key; it goes round at both ends. */
export const stepped = (at: number, by: 1 | -1, length: number): number =>
  length === 0 ? 0 : (at + by + length) % length;
