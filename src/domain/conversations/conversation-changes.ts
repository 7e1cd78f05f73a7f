import { z } from 'zod';
import { arrayOf } from '../bounded.ts';
import { DAY_MS, MINUTE_MS } from '../durations.ts';
import { type FieldCode, issueOf, rule } from '../field-errors.ts';
import { typeId, typeIdOut } from '../ids.ts';
import { fieldFault, Problem } from '../problem.ts';
import { MAX_TAGS, Tags, Timestamp } from '../text.ts';
import type { EventField, Recorded } from './conversation-events.ts';
import { ConversationPriority, ConversationStatus, SETS, Subject, settableFrom, TRANSITIONS } from './conversations.ts';
import { CustomChange, changeCustom, isTooLarge, MAX_CUSTOM_BYTES } from './custom-fields.ts';

/** How far ahead a conversation can be snoozed. */
export const SNOOZE_MIN_MS = MINUTE_MS;
export const SNOOZE_MAX_MS = 366 * DAY_MS;

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

const SnoozedUntil = Timestamp.meta({
  description: 'Required with the status `snoozed`, otherwise not allowed: 1 minute to 1 year ahead',
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
  if (tags && add_tags?.length) yield ['add_tags', 'conflicting', 'Must be omitted when "tags" is sent.'];
  if (tags && remove_tags?.length) yield ['remove_tags', 'conflicting', 'Must be omitted when "tags" is sent.'];
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
    snoozed_until: SnoozedUntil,
    assignee_id: MemberOrNone,
    tags: Tags,
    add_tags: addTags,
    remove_tags: removeTags,
    priority: ConversationPriority,
    subject: Subject,
    custom: CustomChange,
    was: Seen,
  })
  .partial()
  .check(checkChange)
  .meta({
    id: 'ConversationPatch',
    description: 'With an access token, only `{"status": "resolved"}` is allowed',
    example: { status: 'resolved', add_tags: ['billing'], was: { status: 'open' } },
  });
export type ConversationPatch = z.output<typeof ConversationPatch>;

/** Throws 422 for a time that is too near or too far. */
export function checkSnooze(until: Date | undefined, now: Date, pointer = '/snoozed_until'): void {
  if (!until) return;
  const ahead = until.getTime() - now.getTime();
  if (ahead >= SNOOZE_MIN_MS && ahead <= SNOOZE_MAX_MS) return;
  throw fieldFault(pointer, 'out-of-range', 'Must be from 1 minute to 1 year ahead.');
}

/** Maximum number of conversations of one request. */
export const MAX_BULK = 100;

/** One change of many conversations. */
const BulkChange = z
  .strictObject({
    status: ConversationStatus,
    snoozed_until: SnoozedUntil,
    assignee_id: MemberOrNone,
    priority: ConversationPriority,
    add_tags: addTags,
    remove_tags: removeTags,
    custom: CustomChange,
  })
  .partial()
  .check(checkChange)
  .meta({ id: 'BulkChange', example: { status: 'resolved', add_tags: ['billing'] } });

export const BulkUpdate = z
  .strictObject({
    ids: arrayOf(typeId('conversation'))
      .min(1)
      .max(MAX_BULK)
      .refine(ids => new Set(ids).size === ids.length, rule('repeated-item', 'Must not contain an id twice.'))
      .meta({ uniqueItems: true }),
    change: BulkChange,
  })
  .meta({ id: 'BulkUpdate' });
export type BulkUpdate = z.output<typeof BulkUpdate>;

export const BulkResults = z
  .object({
    results: z.array(
      z
        .object({
          id: typeIdOut('conversation'),
          status: z.enum(['changed', 'unchanged', 'not-found', 'conflict']),
          code: z
            .enum(['invalid-transition', 'too-many-tags', 'custom-too-large'])
            .optional()
            .meta({ description: 'Only with `conflict`: why the conversation was not changed' }),
        })
        .meta({ id: 'BulkResult' }),
    ),
  })
  .meta({ id: 'BulkResults', description: 'One result for each id, in order' });

export const Merge = z
  .strictObject({ into: typeId('conversation').meta({ description: 'Conversation of the same user' }) })
  .meta({ id: 'ConversationMerge' });

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
  if (before.merged_into_id !== null)
    throw new Problem('invalid-transition', 'The conversation was merged into another one.', {
      extra: { from: before.status, allowed: [] },
    });
  if (isPresent(before, change)) throw invalidTransition(before.status, `The conversation is already ${status}.`);
  if (!canFollow(before, status))
    throw invalidTransition(before.status, `A conversation that is ${before.status} cannot be set to ${status}.`);
}

function changedTags(before: string[], { tags, add_tags = [], remove_tags = [] }: Change): string[] {
  if (tags) return tags;
  const added = add_tags.filter(tag => !before.includes(tag));
  return [...before.filter(tag => !remove_tags.includes(tag)), ...added];
}

/** Whether a change adds tags beyond the maximum. Conversations may have more from before. */
const addsTooMany = (before: string[], change: Change): boolean => {
  const after = changedTags(before, change);
  return after.length > MAX_TAGS && after.length > before.length;
};

/** Throws 422 for tags beyond the maximum. */
export function requireRoomForTags(before: Stated, change: Change): void {
  if (addsTooMany(before.tags, change))
    throw fieldFault('/add_tags', 'too-many', `A conversation has at most ${MAX_TAGS} tags.`);
}

/** Throws 422 for custom values beyond the maximum size. */
export function requireRoomForCustom(before: Stated, { custom }: Change): void {
  if (custom && isTooLarge(changeCustom(before.custom, custom)))
    throw fieldFault('/custom', 'too-long', `The values of a conversation have at most ${MAX_CUSTOM_BYTES} bytes.`);
}

export type ConflictCode = 'invalid-transition' | 'too-many-tags' | 'custom-too-large';

/** The outcome of a change among many: the fields after it, or why it does not fit. */
export type Planned<Row> = { after: Row } | { conflict: ConflictCode };

/** Returns the outcome of a change for one of many conversations. Setting the present status changes nothing. */
export function planChange<Row extends Stated>(before: Row, change: Change): Planned<Row> {
  const { status, snoozed_until, ...rest } = change;
  const wanted: Change = isPresent(before, change) ? rest : change;
  if (wanted.status && !canFollow(before, wanted.status)) return { conflict: 'invalid-transition' };
  if (addsTooMany(before.tags, change)) return { conflict: 'too-many-tags' };
  if (change.custom && isTooLarge(changeCustom(before.custom, change.custom))) return { conflict: 'custom-too-large' };
  return { after: applyChange(before, wanted) };
}

/** Whether a status can be set. A merged conversation stays as it is. */
const canFollow = (before: Stated, status: ConversationStatus): boolean =>
  before.merged_into_id === null && TRANSITIONS[before.status][SETS[status]] !== undefined;

/** Returns the recorded fields after a change that fits. */
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
    custom: change.custom ? changeCustom(before.custom, change.custom) : before.custom,
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
