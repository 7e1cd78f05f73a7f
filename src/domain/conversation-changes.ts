import { z } from 'zod';
import type { EventField, Recorded } from './conversation-events.ts';
import { ConversationPriority, ConversationStatus, SETS, Subject, settableFrom, TRANSITIONS } from './conversations.ts';
import { type FieldCode, issueOf } from './field-errors.ts';
import { typeId } from './ids.ts';
import { fieldFault, Problem } from './problem.ts';
import { MAX_TAGS, Tags, Timestamp } from './text.ts';

/** How far ahead a conversation can be snoozed. */
const SNOOZE_MIN_MS = 60_000;
const SNOOZE_MAX_MS = 366 * 86_400_000;

const MemberOrNone = typeId('member').nullable();

/** The values that the caller has seen. A change is refused if one of them is no longer present. */
const Seen = z
  .strictObject({
    status: ConversationStatus,
    assignee_id: MemberOrNone,
    priority: ConversationPriority,
    subject: Subject,
  })
  .partial()
  .meta({
    id: 'ConversationSeen',
    description:
      'Values that you have seen. If one of them has changed meanwhile, the reply is 409 `conversation-changed`',
  });

const addTags = Tags.meta({ description: 'Tags to add; tags that are present already are ignored' });
const removeTags = Tags.meta({ description: 'Tags to remove; absent tags are ignored' });

type Fault = [field: string, code: FieldCode, sentence: string];

interface Rules {
  status?: string | undefined;
  snoozed_until?: unknown;
  tags?: string[] | undefined;
  add_tags?: string[] | undefined;
  remove_tags?: string[] | undefined;
}

function* findFaults({ status, snoozed_until, tags, add_tags, remove_tags }: Rules): Generator<Fault> {
  if (status === 'snoozed' && snoozed_until === undefined)
    yield ['snoozed_until', 'required', 'Required with the status "snoozed": a time from 1 minute to 1 year ahead.'];
  if (status !== 'snoozed' && snoozed_until !== undefined)
    yield ['snoozed_until', 'not-allowed', 'Must be omitted unless "status" is "snoozed".'];
  if (tags && add_tags) yield ['add_tags', 'conflicting', 'Must be omitted when "tags" is sent.'];
  if (tags && remove_tags) yield ['remove_tags', 'conflicting', 'Must be omitted when "tags" is sent.'];
  if (remove_tags?.some(tag => add_tags?.includes(tag)))
    yield ['remove_tags', 'conflicting', 'Must not contain a tag that is also in "add_tags".'];
}

/** Reports rules between the fields of a change. */
export const checkChange = ({ value, issues }: { value: Rules; issues: unknown[] }): void => {
  for (const [field, code, sentence] of findFaults(value))
    issues.push({ ...issueOf(code, sentence, value[field as keyof Rules]), path: [field] });
};

export const ConversationPatch = z
  .strictObject({
    status: ConversationStatus,
    snoozed_until: Timestamp.meta({
      description: 'Required with the status `snoozed`, otherwise not allowed: 1 minute to 1 year ahead',
    }),
    assignee_id: MemberOrNone,
    tags: Tags,
    add_tags: addTags,
    remove_tags: removeTags,
    priority: ConversationPriority,
    subject: Subject,
    was: Seen,
  })
  .partial()
  .check(checkChange)
  .meta({ id: 'ConversationPatch', description: 'With an access token, only `{"status": "resolved"}` is allowed' });
export type ConversationPatch = z.output<typeof ConversationPatch>;

/** Throws 422 for a time that is too near or too far. */
export function checkSnooze(until: Date | undefined, now: Date): void {
  if (!until) return;
  const ahead = until.getTime() - now.getTime();
  if (ahead >= SNOOZE_MIN_MS && ahead <= SNOOZE_MAX_MS) return;
  throw fieldFault('/snoozed_until', 'out-of-range', 'Must be from 1 minute to 1 year ahead.');
}

/** A change without the values that the caller has seen. */
export type Change = Omit<ConversationPatch, 'was'>;

/** Returns the 409 for a status that cannot be set. */
const invalidTransition = (from: ConversationStatus, detail: string): Problem =>
  new Problem('invalid-transition', detail, { extra: { from, allowed: settableFrom(from) } });

const isPresent = (before: Recorded, { status, snoozed_until }: Change): boolean =>
  status === before.status && (status !== 'snoozed' || snoozed_until?.getTime() === before.snoozed_until?.getTime());

type Stated = Recorded & { status: ConversationStatus };

/** Throws 409 for the present status, and for one that cannot follow it. */
export function requireTransition(before: Stated, change: Change): void {
  const { status } = change;
  if (status === undefined) return;
  if (isPresent(before, change)) throw invalidTransition(before.status, `The conversation is already ${status}.`);
  if (!TRANSITIONS[before.status][SETS[status]])
    throw invalidTransition(before.status, `A conversation that is ${before.status} cannot be set to ${status}.`);
}

function changedTags(before: string[], { tags, add_tags = [], remove_tags = [] }: Change): string[] {
  if (tags) return tags;
  const added = add_tags.filter(tag => !before.includes(tag));
  const after = [...before.filter(tag => !remove_tags.includes(tag)), ...added];
  if (added.length > 0 && after.length > MAX_TAGS)
    throw fieldFault('/add_tags', 'too-many', `A conversation has at most ${MAX_TAGS} tags.`);
  return after;
}

/** Returns the recorded fields after a change. Throws 422 for too many tags. */
export function applyChange<Row extends Stated>(before: Row, change: Change): Row {
  const status = change.status ?? before.status;
  const until = change.status === 'snoozed' ? (change.snoozed_until ?? null) : before.snoozed_until;
  return {
    ...before,
    status,
    snoozed_until: status === 'snoozed' ? until : null,
    assignee_id: change.assignee_id === undefined ? before.assignee_id : change.assignee_id,
    priority: change.priority ?? before.priority,
    subject: change.subject ?? before.subject,
    tags: changedTags(before.tags, change),
  };
}

/** Throws 409 with the present values if a field no longer has the value that the caller has seen. */
export function requireSeen(
  before: Recorded,
  was: ConversationPatch['was'] = {},
  present: (field: EventField, value: unknown) => unknown,
): void {
  const fields = Object.keys(was) as (keyof typeof was)[];
  const changed = fields.filter(field => was[field] !== undefined && was[field] !== before[field]);
  if (changed.length === 0) return;
  const now = Object.fromEntries(changed.map(field => [field, present(field, before[field])]));
  throw new Problem('conversation-changed', `Changed meanwhile: ${changed.join(', ')}.`, { extra: { now } });
}
