import type { Schemas } from '../../../api/schema.ts';
import {
  type ComparisonValues,
  comparisonOf,
  comparisonValuesOf,
  newComparison,
} from '../../../components/comparison/comparisons.ts';
import type { Priority, Source } from '../../../words.ts';

type Rule = Schemas['AssignmentRule'];
type RuleInput = Schemas['AssignmentRuleInput'];

/** Who gets the conversations of a rule. */
export type AssignKind = 'nobody' | 'member_id' | 'round_robin' | 'least_busy';

/** An assignment rule in the form. An empty condition matches every conversation. */
export interface RuleValues {
  /** Id of the stored rule; empty for a new one. */
  rule: string;
  name: string;
  source: Source | '';
  tag: string;
  whenPriority: Priority | '';
  /** Name of the compared attribute; empty without a comparison. */
  attribute: string;
  comparison: ComparisonValues;
  add_tags: string[];
  thenPriority: Priority | '';
  assign: AssignKind;
  member: string;
  members: string[];
}

export interface RulesValues {
  rules: RuleValues[];
}

export const newRule = (): RuleValues => ({
  rule: '',
  name: '',
  source: '',
  tag: '',
  whenPriority: '',
  attribute: '',
  comparison: newComparison('string'),
  add_tags: [],
  thenPriority: '',
  assign: 'least_busy',
  member: '',
  members: [],
});

function assignValuesOf(assign: Rule['then']['assign']): Pick<RuleValues, 'assign' | 'member' | 'members'> {
  const { member_id = '', round_robin, least_busy } = assign ?? {};
  if (member_id) return { assign: 'member_id', member: member_id, members: [] };
  const kind = round_robin ? 'round_robin' : least_busy ? 'least_busy' : 'nobody';
  return { assign: kind, member: '', members: round_robin ?? least_busy ?? [] };
}

/** Form values of a stored rule. */
export function ruleValuesOf({ id, name, when, then }: Rule): RuleValues {
  const { source = '', tag = '', priority = '', attribute } = when;
  return {
    ...{ rule: id, name, source, tag, whenPriority: priority },
    attribute: attribute?.attribute ?? '',
    comparison: attribute ? comparisonValuesOf(attribute) : newComparison('string'),
    add_tags: then.add_tags ?? [],
    thenPriority: then.priority ?? '',
    ...assignValuesOf(then.assign),
  };
}

function assignOf({ assign, member, members }: RuleValues): RuleInput['then']['assign'] {
  if (assign === 'nobody') return null;
  return assign === 'member_id' ? { member_id: member } : { [assign]: members };
}

/** Returns a rule as the API expects it. */
export function ruleOf(values: RuleValues): RuleInput {
  const { rule, name, source, tag, whenPriority, attribute, comparison, add_tags, thenPriority } = values;
  return {
    ...(rule ? { id: rule } : {}),
    name: name.trim(),
    when: {
      ...(source ? { source } : {}),
      ...(tag.trim() ? { tag: tag.trim() } : {}),
      ...(whenPriority ? { priority: whenPriority } : {}),
      ...(attribute.trim() ? { attribute: { attribute: attribute.trim(), ...comparisonOf(comparison) } } : {}),
    },
    then: {
      ...(add_tags.length > 0 ? { add_tags } : {}),
      ...(thenPriority ? { priority: thenPriority } : {}),
      assign: assignOf(values),
    },
  };
}

/** Fields of the form by their place in the API's document of a rule. */
const FIELDS: [place: RegExp, field: string][] = [
  [/^when\.attribute\.attribute$/, 'attribute'],
  [/^when\.attribute\.op$/, 'comparison.op'],
  [/^when\.attribute\b.*$/, 'comparison.text'],
  [/^when\.priority$/, 'whenPriority'],
  [/^when\.(source|tag)$/, '$1'],
  [/^then\.priority$/, 'thenPriority'],
  [/^then\.assign\.member_id$/, 'member'],
  [/^then\.assign\.(round_robin|least_busy)\b.*$/, 'members'],
  [/^then\b.*$/, 'assign'],
];

/** Returns the form's name of the field at a JSON pointer into the body. */
export function ruleFieldOf(pointer: string): string {
  const [, at = '', rest = ''] = /^\/data\/(\d+)\/?(.*)$/.exec(pointer) ?? [];
  const place = rest.replaceAll('/', '.');
  const [pattern, field] = FIELDS.find(([known]) => known.test(place)) ?? [/$^/, ''];
  return `rules.${at}.${field ? place.replace(pattern, field) : place}`;
}
