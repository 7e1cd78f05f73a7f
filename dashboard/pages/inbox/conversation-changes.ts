import { ApiProblem, isTransient } from '../../api/problem.ts';
import type { Operations, Schemas } from '../../api/schema.ts';

export type Conversation = Schemas['Conversation'];
export type Patch = Operations['PATCH /v1/conversations/{id}']['body'];

/** A conversation with its entity tag. */
export interface Tagged {
  body: Conversation;
  etag: string | undefined;
}

type Field = 'status' | 'assignee_id' | 'priority';

/** One act of a member: a field with a new value and the one that they saw, or a tag. */
export type Change =
  | { field: Field; value: string | null; was: string | null }
  | { addTag: string }
  | { removeTag: string };

/** Thrown when somebody else has changed the field that a member saw. */
export class ChangedMeanwhile extends Error {
  readonly present: Conversation;

  constructor(present: Conversation) {
    super('The field was changed meanwhile.');
    this.present = present;
  }
}

/** Returns tags after a change. */
export function applyToTags(tags: readonly string[], change: Change): string[] {
  if ('addTag' in change) return tags.includes(change.addTag) ? [...tags] : [...tags, change.addTag];
  return 'removeTag' in change ? tags.filter(tag => tag !== change.removeTag) : [...tags];
}

/**
 * Returns the patch that makes changes to the present conversation; undefined if there is nothing left to change.
 *
 * Throws `ChangedMeanwhile` for a field that has neither the value that the member saw nor the one that they want.
 */
export function patchFor(present: Conversation, changes: readonly Change[]): Patch | undefined {
  const patch: Record<string, unknown> = {};
  for (const change of changes) {
    if (!('field' in change)) continue;
    const now = present[change.field] ?? null;
    if (now === change.value) continue;
    if (now !== change.was) throw new ChangedMeanwhile(present);
    patch[change.field] = change.value;
  }
  const before = present.tags ?? [];
  const tags = changes.reduce<string[]>(applyToTags, before);
  if (JSON.stringify(tags) !== JSON.stringify(before)) patch.tags = tags;
  return Object.keys(patch).length > 0 ? (patch as Patch) : undefined;
}

/** How a queue reads and changes its conversation. */
export interface ChangeRequests {
  /** The conversation as last received, if its entity tag is known. */
  known(): Tagged | undefined;
  read(): Promise<Tagged>;
  write(patch: Patch, etag: string | undefined): Promise<Tagged>;
  wait(ms: number): Promise<void>;
}

const MAX_ATTEMPTS = 6;
/** Waiting times before another attempt add up to half a minute, longer than a restart of the API. */
const delayMs = (attempt: number): number => 1000 * 2 ** (attempt - 1);
const isOutdated = (error: unknown): boolean => error instanceof ApiProblem && error.status === 412;

interface Waiting {
  change: Change;
  resolve(made: Conversation): void;
  reject(reason: unknown): void;
}

/** The changes of one conversation by this browser, made one after the other. */
export interface ChangeQueue {
  /** Makes a change. Resolves with the conversation once it is stored. */
  add(change: Change): Promise<Conversation>;
}

/**
 * Creates a queue. Changes that wait for another request are sent together.
 *
 * An entity tag is outdated as soon as anybody writes or reads. Then the conversation is read again, and a change is
 * repeated unless its own field has changed.
 */
export function createChangeQueue(requests: ChangeRequests): ChangeQueue {
  let waiting: Waiting[] = [];
  let isBusy = false;

  const attempt = async (changes: Change[], present: Tagged): Promise<Conversation> => {
    const patch = patchFor(present.body, changes);
    return patch ? (await requests.write(patch, present.etag)).body : present.body;
  };

  const send = async (changes: Change[]): Promise<Conversation> => {
    let isKnown = true;
    for (let attempts = 1; ; attempts++) {
      try {
        const present = (isKnown && requests.known()) || (await requests.read());
        return await attempt(changes, present);
      } catch (error) {
        const isLost = isTransient(error);
        if (attempts >= MAX_ATTEMPTS || !(isLost || isOutdated(error))) throw error;
        if (isLost) await requests.wait(delayMs(attempts));
        isKnown = false;
      }
    }
  };

  /** Tags that were added together are separated when one of them is refused. */
  const sendBatch = async (batch: Waiting[]): Promise<void> => {
    try {
      const made = await send(batch.map(({ change }) => change));
      for (const { resolve } of batch) resolve(made);
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const one of batch) await sendBatch([one]);
    }
  };

  const work = async (): Promise<void> => {
    isBusy = true;
    while (waiting.length > 0) {
      const batch = waiting.every(({ change }) => !('field' in change)) ? waiting : waiting.slice(0, 1);
      waiting = waiting.slice(batch.length);
      await sendBatch(batch);
    }
    isBusy = false;
  };

  return {
    add: change =>
      new Promise((resolve, reject) => {
        waiting.push({ change, resolve, reject });
        if (!isBusy) void work();
      }),
  };
}
