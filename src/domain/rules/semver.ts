/** A parsed version: its numbers, and the identifiers of a pre-release. */
export interface Version {
  numbers: readonly [number, number, number];
  prerelease: readonly string[];
}

const FORM =
  /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;

/**
 * Returns a version (Semantic Versioning 2.0), or undefined for other texts. `1.4` is `1.4.0`, because apps often have
 * no third number, and a leading `v` is ignored.
 */
export function parseVersion(text: string): Version | undefined {
  const [match, major = '0', minor = '0', patch = '0', prerelease] = FORM.exec(text) ?? [];
  if (match === undefined) return undefined;
  return {
    numbers: [Number(major), Number(minor), Number(patch)],
    prerelease: prerelease === undefined ? [] : prerelease.split('.'),
  };
}

const isNumeric = (identifier: string): boolean => /^\d+$/.test(identifier);

/** Numeric identifiers come before others, and are compared as numbers (rule 11.4). */
function compareIdentifiers(one: string, other: string): number {
  if (isNumeric(one) && isNumeric(other)) return Math.sign(Number(one) - Number(other));
  if (isNumeric(one) !== isNumeric(other)) return isNumeric(one) ? -1 : 1;
  return one === other ? 0 : one < other ? -1 : 1;
}

/** A pre-release comes before its release; a longer one after its beginning. */
function comparePrereleases(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return Math.sign(other.length - one.length);
  for (const [index, identifier] of one.entries()) {
    const opposite = other[index];
    if (opposite === undefined) return 1;
    const order = compareIdentifiers(identifier, opposite);
    if (order !== 0) return order;
  }
  return one.length < other.length ? -1 : 0;
}

/** Returns -1, 0 or 1 in the order of precedence of Semantic Versioning 2.0. Build metadata is ignored. */
export function compareVersions(one: Version, other: Version): number {
  for (const [index, number] of one.numbers.entries()) {
    const difference = number - (other.numbers[index] as number);
    if (difference !== 0) return Math.sign(difference);
  }
  return comparePrereleases(one.prerelease, other.prerelease);
}
