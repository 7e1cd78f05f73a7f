/** All time zones, the given one first; the browser's list lacks UTC. */
export const timeZones = (current: string): string[] => [
  ...new Set([current, 'UTC', ...Intl.supportedValuesOf('timeZone')]),
];
