import { z } from 'zod';
import { arrayOf } from '../bounded.ts';
import { issueOf, rule } from '../field-errors.ts';
import { exampleId, typeId, typeIdOut } from '../ids.ts';
import { AttributeName } from '../people/identities.ts';
import type { AudienceNode } from '../rules/audiences.ts';
import { ComparedValue, ComparedValueOut, faultOfOperand, VALUE_OPERATORS } from '../rules/operators.ts';
import { MAX_MEMBERS } from '../team/members.ts';
import { label, Tag, Tags } from '../text.ts';
import { Conversation, ConversationPriority } from './conversations.ts';
import { countSchema } from './views.ts';

/** Maximum number of assignment rules of a tenant. */
export const MAX_RULES = 50;

const SourceType = Conversation.shape.source.shape.type;

const AttributeCondition = z
  .strictObject({ attribute: AttributeName, op: z.enum(VALUE_OPERATORS), value: ComparedValue.optional() })
  .check(({ value: { op, value }, issues }) => {
    const fault = faultOfOperand(op, value);
    if (fault) issues.push({ ...issueOf(...fault, value), path: ['value'] });
  })
  .meta({
    id: 'AttributeConditionInput',
    description: "Compares an attribute of the conversation's user, as in an audience",
  });

const ABOUT_WHEN = 'All conditions that are present must be met; without any, every conversation matches';

const When = z
  .strictObject({
    source: SourceType,
    tag: Tag,
    priority: ConversationPriority,
    attribute: AttributeCondition,
  })
  .partial()
  .meta({ id: 'AssignmentConditionsInput', description: ABOUT_WHEN });

const Members = arrayOf(typeId('member'))
  .min(1)
  .max(MAX_MEMBERS)
  .refine(ids => new Set(ids).size === ids.length, rule('repeated-item', 'Must not contain a member twice.'))
  .meta({ uniqueItems: true });

const KINDS = ['member_id', 'round_robin', 'least_busy'] as const;
const ONE_KIND = 'one of member_id, round_robin or least_busy';

const Assign = z
  .strictObject({
    member_id: typeId('member').meta({ description: 'Always this member' }),
    round_robin: Members.meta({ description: 'These members in turn' }),
    least_busy: Members.meta({ description: 'The member with the fewest open and pending conversations' }),
  })
  .partial()
  .check(({ value, issues }) => {
    const [first, second] = KINDS.filter(kind => value[kind] !== undefined);
    if (first === undefined) issues.push({ ...issueOf('required', `Required: ${ONE_KIND}.`, value), path: [] });
    if (second !== undefined)
      issues.push({ ...issueOf('conflicting', `Must be omitted next to "${first}".`, value), path: [second] });
  })
  .meta({ id: 'AssignInput', description: `Who gets the conversation: ${ONE_KIND}` });

const example = {
  ...{ name: 'Billing', when: { tag: 'billing' } },
  ...{ then: { priority: 'high', assign: { round_robin: [exampleId('member')] } } },
};

const Then = z
  .strictObject({
    add_tags: Tags.optional(),
    priority: ConversationPriority.optional(),
    assign: Assign.nullable().default(null),
  })
  .refine(
    ({ add_tags, priority, assign }) => add_tags?.length || priority || assign,
    rule('required', 'Required: one of add_tags, priority or assign.'),
  )
  .meta({ id: 'AssignmentEffectInput' });

const RuleInput = z
  .strictObject({
    id: typeId('rule').optional().meta({ description: 'Omit for a new rule' }),
    name: label(120, 'Billing'),
    when: When.default({}),
    then: Then,
  })
  .meta({ id: 'AssignmentRuleInput', example });

const RuleInputs = arrayOf(RuleInput)
  .max(MAX_RULES)
  .check(({ value, issues }) => {
    for (const [index, { id }] of value.entries())
      if (id !== undefined && value.findIndex(other => other.id === id) < index)
        issues.push({ ...issueOf('repeated-item', 'Must not contain a rule twice.', id), path: [index, 'id'] });
  })
  .meta({ description: 'All rules in order; the first that matches decides' });
export type RuleInputs = z.output<typeof RuleInputs>;

export const AssignmentRulesInput = z
  .strictObject({
    data: RuleInputs,
    apply: z.enum(['waiting', 'new']).default('waiting').meta({
      description:
        '`waiting`: also to the open conversations without an assignee; `new`: only to later ones, and to those that change later',
    }),
  })
  .meta({ id: 'AssignmentRulesInput' });

export const AssignmentRulesPreview = z.strictObject({ data: RuleInputs }).meta({ id: 'AssignmentRulesPreview' });

export const AssignmentRulesMatches = countSchema(
  'AssignmentRulesMatches',
  'Whether there may be more, because the count ended early',
);

/** Who gets a conversation, with members by their UUIDs. */
type AssignTo = { member_id: string } | { round_robin: string[] } | { least_busy: string[] };

/** A rule as it is stored: its own id and members are UUIDs. */
export interface AssignmentRule {
  id: string;
  name: string;
  /** The version of the rules in which this one got its present form; in rules that were saved before, absent. */
  since?: number;
  when: Omit<z.output<typeof When>, 'attribute'> & { attribute?: AudienceNode | undefined };
  then: Omit<z.output<typeof Then>, 'assign'> & { assign: AssignTo | null };
}

const MembersOut = z.array(typeIdOut('member'));

const RuleOut = z
  .object({
    id: typeIdOut('rule'),
    name: z.string(),
    when: z
      .object({
        source: SourceType,
        tag: z.string(),
        priority: ConversationPriority,
        attribute: z
          .object({ attribute: z.string(), op: z.string(), value: ComparedValueOut.optional() })
          .meta({ id: 'AttributeCondition' }),
      })
      .partial()
      .meta({ id: 'AssignmentConditions', description: ABOUT_WHEN }),
    then: z
      .object({
        add_tags: z.array(z.string()).optional(),
        priority: ConversationPriority.optional(),
        assign: z
          .object({ member_id: typeIdOut('member'), round_robin: MembersOut, least_busy: MembersOut })
          .partial()
          .nullable()
          .meta({ id: 'Assign' }),
      })
      .meta({ id: 'AssignmentEffect' }),
  })
  .meta({ id: 'AssignmentRule', example });

export const AssignmentRules = z.object({ data: z.array(RuleOut) }).meta({ id: 'AssignmentRules' });
