/** Unsent texts and unsaved edits, kept in the browser: they survive reloads, the end of a session and a change of tenant. */

/** A part of `Storage`. */
export interface DraftStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface Draft<Value> {
  value: Value;
  /** Time of the last edit, as an ISO string. */
  at: string;
  /** Version of the resource that was edited; absent for new ones. */
  base?: string;
}

const PREFIX = 'parley.draft';

/** Key of a draft: one per tenant, member, kind of resource and resource. */
export const draftKey = (tenantId: string, memberId: string, kind: string, id: string): string =>
  [PREFIX, tenantId, memberId, kind, id].join('.');

/** Returns the stored draft; undefined without one or if it cannot be read. */
export function readDraft<Value>(store: DraftStore, key: string): Draft<Value> | undefined {
  try {
    const draft = JSON.parse(store.getItem(key) ?? 'null') as Draft<Value> | null;
    return draft && typeof draft === 'object' && 'value' in draft ? draft : undefined;
  } catch {
    return undefined;
  }
}

/** Stores the draft. Returns false if the browser has no space for it. */
export function writeDraft<Value>(store: DraftStore, key: string, draft: Draft<Value>): boolean {
  try {
    store.setItem(key, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

export const dropDraft = (store: DraftStore, key: string): void => store.removeItem(key);
