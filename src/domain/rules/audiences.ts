import { z } from 'zod';
import { arrayOf, objectWithin } from '../bounded.ts';
import { documentedAs, int32 } from '../documented.ts';
import { type FieldCode, issueOf } from '../field-errors.ts';
import { parseTypeId, toTypeId } from '../ids.ts';
import { AttributeName } from '../people/identities.ts';
import { OPERATORS, type Operand, type Operator } from '../steps.ts';
import { listOf, text } from '../text.ts';
import { jsonPointer } from '../validation.ts';
import { ComparedValue, ComparedValueOut, faultOfOperand, VALUE_OPERATORS, type ValueOperator } from './operators.ts';
import { parseVersion } from './semver.ts';

/** Maximum number of conditions in an audience. */
export const MAX_LEAVES = 20;

/** Maximum number of days after which an answer is too old for a condition. */
const MAX_WITHIN_DAYS = 3650;

/** A comparison of a fact about the device. */
export interface DeviceCondition {
  op: ValueOperator;
  value?: ComparedValue | undefined;
}

/** A comparison of the person's last answer to another question. */
export interface AnsweredCondition {
  /** `question_…` */
  question: string;
  op: Operator;
  value?: Operand | Operand[] | undefined;
  within_days?: number | null | undefined;
}

/** A group of conditions, or one condition. Exactly one of its members is present; `op` and `value` belong to `attribute`. */
export interface AudienceNode {
  all?: AudienceNode[] | undefined;
  any?: AudienceNode[] | undefined;
  none?: AudienceNode[] | undefined;
  attribute?: string | undefined;
  op?: ValueOperator | undefined;
  value?: ComparedValue | undefined;
  platform?: DeviceCondition | undefined;
  app_version?: DeviceCondition | undefined;
  locale?: DeviceCondition | undefined;
  verified?: boolean | undefined;
  answered?: AnsweredCondition | undefined;
}

/** Who is asked: a group of conditions. */
export type Audience = Pick<AudienceNode, 'all' | 'any' | 'none'>;

type Check = z.core.CheckFn<AudienceNode>;
type Issues = z.core.$ZodRawIssue[];

const addIssue = (issues: Issues, path: PropertyKey[], code: FieldCode, detail: string, input: unknown): void => {
  issues.push({ ...issueOf(code, detail, input), path });
};

const GROUPS = ['all', 'any', 'none'] as const;
const LEAVES = ['attribute', 'platform', 'app_version', 'locale', 'verified', 'answered'] as const;

const listed = (names: readonly string[]): string => `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

const ANY_NAME = listed([...GROUPS, ...LEAVES]);

/** Requires one kind of condition per node. */
const hasOneKind: Check = ({ value: node, issues }) => {
  const [first, second] = [...GROUPS, ...LEAVES].filter(name => node[name] !== undefined);
  if (first === undefined) addIssue(issues, [], 'required', `Required: one of ${ANY_NAME}.`, node);
  if (second !== undefined)
    addIssue(
      issues,
      [second],
      'conflicting',
      `Must be omitted next to "${first}": a condition has one of ${ANY_NAME}.`,
      node,
    );
  if (node.attribute === undefined) {
    for (const name of ['op', 'value'] as const)
      if (node[name] !== undefined)
        addIssue(issues, [name], 'not-allowed', 'Must be omitted without "attribute".', node);
  } else if (node.op === undefined) addIssue(issues, ['op'], 'required', `Required: ${listed(VALUE_OPERATORS)}.`, node);
  else addOperandFault(issues, [], node.op, node.value);
};

function addOperandFault(issues: Issues, path: PropertyKey[], op: ValueOperator, value: unknown): void {
  const fault = faultOfOperand(op, value);
  if (fault) addIssue(issues, [...path, 'value'], ...fault, value);
}

/** Returns a schema of a comparison of a text of the device with the given operators. `isValid` checks each value. */
const deviceCondition = <const Op extends ValueOperator>(
  id: string,
  ops: readonly [Op, ...Op[]],
  example: string,
  isValid: (value: string) => boolean,
) =>
  z
    .strictObject({ op: z.enum(ops), value: ComparedValue.optional() })
    .check(({ value: { op, value }, issues }) => {
      const fault = faultOfDeviceValue(op, value);
      if (fault) return addIssue(issues, ['value'], ...fault, value);
      for (const [index, each] of (Array.isArray(value) ? value : value === undefined ? [] : [value]).entries()) {
        const path = Array.isArray(value) ? ['value', index] : ['value'];
        if (typeof each !== 'string')
          addIssue(issues, path, 'wrong-type', `Must be a string such as "${example}".`, each);
        else if (!isValid(each))
          addIssue(issues, path, 'invalid-format', `Must be a value such as "${example}".`, each);
      }
    })
    .meta({ id });

/** Versions are compared as such, so `lt` and its like need a text, not a number. */
const faultOfDeviceValue = (op: ValueOperator, value: unknown) =>
  faultOfOperand(/^[lg]te?$/.test(op) ? 'eq' : op, value);

const LANGUAGE_RANGE = /^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$/;

const PLATFORM_OPERATORS = [
  'eq',
  'ne',
  'in',
  'not_in',
  'contains',
  'starts_with',
  'ends_with',
  'set',
  'not_set',
] as const;
const VERSION_OPERATORS = ['eq', 'ne', 'in', 'not_in', 'lt', 'lte', 'gt', 'gte', 'set', 'not_set'] as const;
const LOCALE_OPERATORS = ['eq', 'ne', 'in', 'not_in', 'set', 'not_set'] as const;

const QuestionName = z
  .string()
  .max(40)
  .check(({ value, issues }) => {
    if (parseTypeId('question', value)) return;
    issues.push(issueOf('invalid-format', `Must be an identifier such as ${EXAMPLE_QUESTION}.`, value));
  });
const EXAMPLE_QUESTION = toTypeId('question', '01936d5e-8f00-7000-8000-000000000001');

/** Most values of a list: all options of a question, and `other`. */
const MAX_VALUES = 31;

const AnsweredValue = z
  .union([z.number(), z.boolean(), text(64), listOf(z.number(), MAX_VALUES), listOf(text(64), MAX_VALUES)])
  .meta({ id: 'AnsweredValueInput' });

const Answered = z
  .strictObject({
    question: QuestionName.meta({ description: '`question_…`', example: EXAMPLE_QUESTION }),
    op: z
      .enum(OPERATORS)
      .meta({ description: 'As in `show_if`: the type of the question determines which are possible' }),
    value: AnsweredValue.optional(),
    within_days: z.int().min(1).max(MAX_WITHIN_DAYS).nullable().optional().meta({
      description: 'Ignores answers that are older; null: none',
    }),
  })
  .meta({ id: 'AnsweredConditionInput', description: "Compares the person's last answer to another question" });

const leafShape = {
  attribute: AttributeName.optional().meta({ description: 'Name of an attribute; with `op` and `value`' }),
  op: z.enum(VALUE_OPERATORS).optional(),
  value: ComparedValue.optional(),
  platform: deviceCondition('PlatformConditionInput', PLATFORM_OPERATORS, 'ios', value => value !== '').optional(),
  app_version: deviceCondition(
    'AppVersionConditionInput',
    VERSION_OPERATORS,
    '1.4.0',
    value => parseVersion(value) !== undefined,
  ).optional(),
  locale: deviceCondition('LocaleConditionInput', LOCALE_OPERATORS, 'de', value => LANGUAGE_RANGE.test(value))
    .optional()
    .meta({ description: '`de` also matches `de-AT`' }),
  verified: z.boolean().optional().meta({ description: 'Whether the identity is proven by an access token' }),
  answered: Answered.optional(),
};

const groupOf = <Node extends z.ZodType>(node: Node) => {
  const conditions = arrayOf(node).min(1).max(MAX_LEAVES).optional();
  return { all: conditions, any: conditions, none: conditions };
};

/** Documents a deeper node as the component of all nodes, which is then recursive. Only the parser counts levels. */
const sameAs = (component: string) => ({ override: documentedAs({ $ref: `#/components/schemas/${component}` }) });

const Leaf = z.strictObject(leafShape).check(hasOneKind as never);
const InnerNode = z
  .strictObject({ ...leafShape, ...groupOf(Leaf) })
  .check(hasOneKind as never)
  .meta(sameAs('AudienceNodeInput'));
const OuterNode = z
  .strictObject({ ...leafShape, ...groupOf(InnerNode) })
  .check(hasOneKind as never)
  .meta({
    id: 'AudienceNodeInput',
    description: 'A condition, or a group of them: exactly one member, or `attribute` with `op` and `value`',
  });

/** Counts the conditions of an audience that is not parsed yet: three levels of 20 conditions each would be 8,000. */
const countLeaves = (node: unknown): number => {
  if (typeof node !== 'object' || node === null) return 1;
  const lists = GROUPS.map((name): unknown => node[name as never]).filter(list => Array.isArray(list));
  return lists.length === 0 ? 1 : lists.flat().reduce<number>((count, each) => count + countLeaves(each), 0);
};

/** Whether a list has more conditions than a group can have, which its own schema reports. */
const isLongList = (list: unknown): boolean => Array.isArray(list) && list.length > MAX_LEAVES;

/** The audience as the team sends it: groups in at most three levels, with at most 20 conditions in total. */
export const AudienceInput = objectWithin(groupOf(OuterNode), audience =>
  countLeaves(audience) > MAX_LEAVES && !GROUPS.some(name => isLongList(audience[name]))
    ? `Must have at most ${MAX_LEAVES} conditions in total.`
    : undefined,
)
  .check(({ value, issues }) => {
    const audience = value as Audience;
    const [first, second] = GROUPS.filter(name => audience[name] !== undefined);
    if (first === undefined) addIssue(issues, [], 'required', 'Required: one of all, any or none.', value);
    if (second !== undefined) addIssue(issues, [second], 'conflicting', `Must be omitted next to "${first}".`, value);
  })
  .meta({
    id: 'AudienceInput',
    description: `Who is asked: a group of conditions. Groups have at most three levels, and at most ${MAX_LEAVES} conditions in total. A missing value makes every condition false except \`not_set\``,
  }) as unknown as z.ZodType<Audience>;

const ConditionOut = z.object({ op: z.string(), value: ComparedValueOut.optional() }).meta({ id: 'DeviceCondition' });

const leafShapeOut = {
  attribute: z.string().optional().meta({ description: 'Name of an attribute; with `op` and `value`' }),
  op: z.string().optional(),
  value: ComparedValueOut.optional(),
  platform: ConditionOut.optional(),
  app_version: ConditionOut.optional(),
  locale: ConditionOut.optional(),
  verified: z.boolean().optional(),
  answered: z
    .object({
      question: z.string().meta({ description: '`question_…`' }),
      op: z.string(),
      value: z
        .union([z.number(), z.boolean(), z.string(), z.array(z.number()), z.array(z.string())])
        .meta({ id: 'AnsweredValue', description: 'Absent for `answered` and `not_answered`' })
        .optional(),
      within_days: int32(1).nullable().optional(),
    })
    .meta({ id: 'AnsweredCondition' })
    .optional(),
};
const LeafOut = z.object(leafShapeOut);
const InnerNodeOut = z.object({ ...leafShapeOut, ...groupOf(LeafOut) }).meta(sameAs('AudienceNode'));
const OuterNodeOut = z.object({ ...leafShapeOut, ...groupOf(InnerNodeOut) }).meta({ id: 'AudienceNode' });

/** `AudienceInput` in replies. */
export const AudienceOut = z.object(groupOf(OuterNodeOut)).meta({
  id: 'Audience',
  description: 'Who is asked: a group of conditions',
  example: {
    all: [{ attribute: 'plan', op: 'eq', value: 'pro' }, { platform: { op: 'in', value: ['ios', 'android'] } }],
  },
});

/** Returns the nodes of a group; undefined for a condition. */
export const nodesOf = ({ all, any, none }: AudienceNode): AudienceNode[] | undefined => all ?? any ?? none;

/** Returns every condition of an audience with its path. */
export function leavesOf(node: AudienceNode, path: PropertyKey[] = []): { leaf: AudienceNode; path: PropertyKey[] }[] {
  const name = GROUPS.find(group => node[group] !== undefined);
  if (name === undefined) return [{ leaf: node, path }];
  return (node[name] ?? []).flatMap((each, index) => leavesOf(each, [...path, name, index]));
}

/** Whether a condition may decide on cards of public tokens: it depends on the device only, not on a person. */
const isPublicLeaf = ({ platform, app_version, locale }: AudienceNode): boolean =>
  platform !== undefined || app_version !== undefined || locale !== undefined;

/** Returns the pointers of conditions that a question open to public tokens may not have. */
export const privateLeaves = (audience: Audience, base: string): string[] =>
  leavesOf(audience)
    .filter(({ leaf }) => !isPublicLeaf(leaf))
    .map(({ path }) => base + jsonPointer(path));
