/** Prefix of the names of drafts in `localStorage`, with the version of their format. */
const DRAFTS = 'parley-draft-1';

/** Returns the prefix of an installation's drafts. */
export const draftsOf = (baseUrl: string): string => `${DRAFTS} ${baseUrl} `;

/** Runs work with the storage of the page; undefined if the storage is missing, denied or full, or if the work fails. */
export function withDevice<T>(work: (storage: Storage) => T): T | undefined {
  try {
    return globalThis.document && work(localStorage);
  } catch {
    return undefined;
  }
}

/** Names of the stored items that begin with a text. */
export const namesOf = (prefix: string): string[] =>
  withDevice(storage => Object.keys(storage).filter(name => name.startsWith(prefix))) ?? [];

/** Removes the drafts of all users of an installation. */
export function removeDrafts(baseUrl: string): void {
  for (const name of namesOf(draftsOf(baseUrl))) withDevice(storage => storage.removeItem(name));
}
