import { z } from 'zod';
import { type FieldCode, issueOf, rule } from '../field-errors.ts';
import { typeId, typeIdOut } from '../ids.ts';
import { findRecallFault } from '../questions/recall.ts';
import { label, Tags, TimestampOut, text } from '../text.ts';
import { type Change, SNOOZE_MAX_MS, SNOOZE_MIN_MS } from './conversation-changes.ts';
import { Conversation, ConversationPriority, ConversationStatus } from './conversations.ts';
import { CustomChange, CustomChangeOut } from './custom-fields.ts';
import { Body, Message, MessagePosition } from './messages.ts';

/** Maximum number of macros of a tenant. */
export const MAX_MACROS = 500;

/** The change of a macro as it is stored and sent, with members by their public ids. */
const changeFields = <Member extends z.ZodType, Custom extends z.ZodType>(member: Member, custom: Custom) => ({
  status: ConversationStatus,
  snooze_for_s: z
    .int()
    .min(SNOOZE_MIN_MS / 1000)
    .max(SNOOZE_MAX_MS / 1000)
    .meta({
      description: 'Required with the status `snoozed`, otherwise not allowed: seconds from when it is applied',
    }),
  assignee_id: member.nullable(),
  priority: ConversationPriority,
  add_tags: Tags,
  remove_tags: Tags,
  custom,
});

const MacroChangeInput = z
  .strictObject(changeFields(typeId('member'), CustomChange))
  .partial()
  .check(({ value: { status, snooze_for_s, add_tags, remove_tags }, issues }) => {
    const report = (field: string, code: FieldCode, sentence: string) =>
      issues.push({ ...issueOf(code, sentence, undefined), path: [field] });
    if (status === 'snoozed' && snooze_for_s === undefined)
      report('snooze_for_s', 'required', 'Required with the status "snoozed": the number of seconds.');
    if (status !== 'snoozed' && snooze_for_s !== undefined)
      report('snooze_for_s', 'not-allowed', 'Must be omitted unless "status" is "snoozed".');
    if (remove_tags?.some(tag => add_tags?.includes(tag)))
      report('remove_tags', 'conflicting', 'Must not contain a tag that is also in "add_tags".');
  })
  .meta({ id: 'MacroChangeInput', example: { add_tags: ['export'] } });
export type MacroChange = z.output<typeof MacroChangeInput>;

const MacroBody = Body.check(({ value, issues }) => {
  const fault = findRecallFault(value);
  if (fault) issues.push(issueOf(...fault, value));
}).meta({
  description:
    'The text to send; it can recall attributes with a fallback, such as `{{identity.attributes.plan|your plan}}`',
});

const Shortcut = text(30, 1, 'export')
  .refine(value => /^[a-z0-9][a-z0-9-]*$/.test(value), rule('invalid-format', 'Must consist of a-z, 0-9 and "-".'))
  .meta({ description: 'Typed after `/` in the dashboard', example: 'export' });

const body = 'You find it under Reports. Your plan: {{identity.attributes.plan|see Billing}}.';

const macroFields = {
  name: label(120, 'Where the export is'),
  shortcut: Shortcut.nullable().meta({ example: 'export' }),
  body: MacroBody.nullable().meta({ example: body }),
  kind: z.enum(['reply', 'note']).meta({ description: 'Whether the text is a reply or a note; default `reply`' }),
  changes: MacroChangeInput,
};

export const NewMacro = z
  .strictObject(macroFields)
  .partial({ shortcut: true, body: true, kind: true, changes: true })
  .meta({ id: 'MacroInput', description: 'A saved reply is a macro with only a `body`' });
export type NewMacro = z.output<typeof NewMacro>;

export const MacroPatch = z.strictObject(macroFields).partial().meta({ id: 'MacroPatch' });
export type MacroPatch = z.output<typeof MacroPatch>;

export const Macro = z
  .object({
    id: typeIdOut('macro'),
    name: z.string().meta({ example: 'Where the export is' }),
    shortcut: z.string().nullable().meta({ example: 'export' }),
    body: z.string().nullable().meta({ example: body }),
    kind: z.enum(['reply', 'note']),
    changes: z
      .object(changeFields(typeIdOut('member'), CustomChangeOut))
      .partial()
      .meta({ id: 'MacroChange', example: { add_tags: ['export'] } }),
    created_at: TimestampOut,
    updated_at: TimestampOut,
  })
  .meta({ id: 'Macro' });

/** What the member who applies a macro has seen. */
export const MacroApplication = z
  .strictObject({
    after: MessagePosition,
    force: z.boolean().meta({ description: 'Apply although somebody has written after `after`' }),
  })
  .partial()
  .meta({ id: 'MacroApplication', example: { after: { seq: 2, note_seq: 1 } } });
export type MacroApplication = z.output<typeof MacroApplication>;

export const AppliedMacro = z
  .object({ conversation: Conversation, message: Message.nullable().meta({ description: 'Null without a body' }) })
  .meta({ id: 'AppliedMacro' });

/** Returns the change of a macro that is applied now. */
export const changeOf = ({ snooze_for_s, ...change }: MacroChange, now: Date): Change => ({
  ...change,
  ...(snooze_for_s === undefined ? {} : { snoozed_until: new Date(now.getTime() + snooze_for_s * 1000) }),
});
