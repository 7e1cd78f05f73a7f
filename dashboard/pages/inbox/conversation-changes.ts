import { ApiProblem, isTransient } from '../../api/problem.ts';
import type { Operations, Schemas } from '../../api/schema.ts';

export type Conversation = Schemas['Conversation'];
export type Patch = Operations['PATCH /v1/conversations/{id}']['body'];

/** A field that a member sets. */
export interface FieldChange {
  field: 'status' | 'assignee_id' | 'priority' | 'subject';
  value: string | null;
  /** The value that the member has seen. */
  was: string | null;
  /** Only with the status `snoozed`: the end of the snooze. */
  until?: string;
}

/** One act of a member: a field with a new value, or a tag. */
export type Change = FieldChange | { addTag: string } | { removeTag: string };

const isOfField = (change: Change): change is FieldChange => 'field' in change;

/** Thrown when somebody else has changed the field that a member saw. */
export class ChangedMeanwhile extends Error {
  readonly change: FieldChange;

  constructor(change: FieldChange) {
    super('The field was changed meanwhile.');
    this.change = change;
  }
}

/** Returns tags after a change. */
export function applyToTags(tags: readonly string[], change: Change): string[] {
  if ('addTag' in change) return tags.includes(change.addTag) ? [...tags] : [...tags, change.addTag];
  return 'removeTag' in change ? tags.filter(tag => tag !== change.removeTag) : [...tags];
}

/** Returns the request that makes changes: fields with the values that were seen, and tags one by one. */
export function patchOf(changes: readonly Change[]): Patch {
  const fields = changes.filter(isOfField);
  const tags = new Map<string, 'add' | 'remove'>();
  for (const change of changes) {
    if ('addTag' in change) tags.set(change.addTag, 'add');
    if ('removeTag' in change) tags.set(change.removeTag, 'remove');
  }
  const [added, removed] = (['add', 'remove'] as const).map(kind =>
    [...tags].filter(([, wanted]) => wanted === kind).map(([tag]) => tag),
  );
  const until = fields.find(change => change.until !== undefined)?.until;
  return {
    ...Object.fromEntries(fields.map(({ field, value }) => [field, value])),
    ...(until === undefined ? {} : { snoozed_until: until }),
    ...(fields.length > 0 ? { was: Object.fromEntries(fields.map(({ field, was }) => [field, was])) } : {}),
    ...(added?.length ? { add_tags: added } : {}),
    ...(removed?.length ? { remove_tags: removed } : {}),
  } as Patch;
}

/** How a queue reads and changes its conversation. */
export interface ChangeRequests {
  read(): Promise<Conversation>;
  write(patch: Patch): Promise<Conversation>;
  wait(ms: number): Promise<void>;
}

const MAX_ATTEMPTS = 6;
/** Waiting times before another attempt add up to half a minute, longer than a restart of the API. */
const delayMs = (attempt: number): number => 1000 * 2 ** (attempt - 1);

const isConflict = (error: unknown): boolean =>
  error instanceof ApiProblem && ['conversation-changed', 'invalid-transition'].includes(error.code);

/** Whether a conversation has the values of a change: somebody made the same change, or an earlier attempt did. */
const hasChange = (present: Conversation, { field, value, until }: FieldChange): boolean =>
  (present[field] ?? null) === value &&
  (until === undefined || Date.parse(present.snoozed_until ?? '') === Date.parse(until));

interface Waiting {
  change: Change;
  resolve(made: Conversation): void;
  reject(reason: unknown): void;
}

/** The changes of one conversation by this browser, made one after the other. */
export interface ChangeQueue {
  /**
   * Makes a change. Resolves with the conversation once it is stored. Rejects with `ChangedMeanwhile` if a colleague has
   * set the field to a third value.
   */
  add(change: Change): Promise<Conversation>;
}

/** Creates a queue. Tags that wait for another request are sent together. */
export function createChangeQueue(requests: ChangeRequests): ChangeQueue {
  let waiting: Waiting[] = [];
  let isBusy = false;

  const settle = async (error: unknown, changes: Change[]): Promise<Conversation> => {
    const [change] = changes.filter(isOfField);
    if (!change || !isConflict(error)) throw error;
    const present = await requests.read();
    if (hasChange(present, change)) return present;
    throw (present[change.field] ?? null) === change.was ? error : new ChangedMeanwhile(change);
  };

  const send = async (changes: Change[]): Promise<Conversation> => {
    const patch = patchOf(changes);
    for (let attempts = 1; ; attempts++) {
      try {
        return await requests.write(patch).catch(error => settle(error, changes));
      } catch (error) {
        if (attempts >= MAX_ATTEMPTS || !isTransient(error)) throw error;
        await requests.wait(delayMs(attempts));
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
      const batch = waiting.every(({ change }) => !isOfField(change)) ? waiting : waiting.slice(0, 1);
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
