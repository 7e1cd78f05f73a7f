import { type AudienceFacts, compileAudience } from '../cards/compiled-audiences.ts';
import type { Attributes } from '../people/identities.ts';
import type { Availability } from '../team/members.ts';
import type { AssignmentRule } from './assignment-rules.ts';
import type { WaitCode } from './conversation-events.ts';
import type { ConversationPriority } from './conversations.ts';

/** A member who may get conversations, with the number that they have: open and pending ones. */
export interface Candidate {
  id: string;
  availability: Availability;
  capacity: number;
  load: number;
}

/** The facts about a conversation on which the rules depend. */
export interface Waiting {
  id: string;
  source_type: string;
  tags: readonly string[];
  priority: ConversationPriority;
  identity_verified: boolean;
  /** Of its user. */
  attributes: Attributes;
  /** The rule that matched when it was last looked at. */
  assignment_rule: string | null;
  /** Whether it waits for a member of that rule. */
  assignment_waits: boolean;
  /** The version of the rules that looked last. */
  rules_checked: number;
  /**
   * Whether the rules are not looked at again: it can only go on waiting for that rule. They and the conversation have not
   * changed, or they were changed for new conversations only.
   */
  keepsRule: boolean;
}

/** The decision of the rules about a conversation. */
export interface Decision {
  id: string;
  /** The first rule that matches. */
  rule: AssignmentRule | null;
  change: { assignee_id?: string; add_tags?: string[]; priority?: ConversationPriority };
  /** Why the rule finds no member, when it has just matched; undefined while it goes on waiting. */
  wait?: WaitCode | undefined;
  outcome: 'assigned' | 'waiting' | 'changed' | 'unmatched';
}

/** The last member of each `round_robin`, by rule. */
export type Turns = Record<string, string>;

/** The facts about a conversation on which conditions depend. */
export type Judged = Pick<Waiting, 'source_type' | 'tags' | 'priority' | 'identity_verified' | 'attributes'>;

type Test = (conversation: Judged, now: number) => boolean;

function attributeTest(condition: NonNullable<AssignmentRule['when']['attribute']>): Test {
  const { includes } = compileAudience({ all: [condition] });
  const device = { platform: null, locale: null, app_version: null, version: undefined, records: new Map() };
  return ({ identity_verified: verified, attributes }, now) =>
    includes({ ...device, verified, attributes } satisfies AudienceFacts, now);
}

/** A rule with its conditions as a function. */
interface CompiledRule {
  rule: AssignmentRule;
  matches: Test;
}

/** Returns a rule with its conditions: all that are present must be met. */
function compileRule(rule: AssignmentRule): CompiledRule {
  const { source, tag, priority, attribute } = rule.when;
  const tests: Test[] = [];
  if (source) tests.push(conversation => conversation.source_type === source);
  if (tag) tests.push(conversation => conversation.tags.includes(tag));
  if (priority) tests.push(conversation => conversation.priority === priority);
  if (attribute) tests.push(attributeTest(attribute));
  return { rule, matches: (conversation, now) => tests.every(test => test(conversation, now)) };
}

/** Returns whether a rule matches a conversation. */
export function createRuleTest(rules: readonly AssignmentRule[]): Test {
  const compiled = rules.map(compileRule);
  return (conversation, now) => compiled.some(({ matches }) => matches(conversation, now));
}

/** Whether a conversation waits for a member of a rule that has not changed since. */
const waitsFor = ({ assignment_waits, assignment_rule, rules_checked }: Waiting, { id, since }: AssignmentRule) =>
  assignment_waits && assignment_rule === id && (since === undefined || since <= rules_checked);

/** Returns the rule that decides about a conversation: the first that matches, or the one for which it goes on waiting. */
const findRule = (rules: readonly CompiledRule[], conversation: Waiting, now: number): AssignmentRule | undefined =>
  rules.find(({ rule, matches }) =>
    conversation.keepsRule ? waitsFor(conversation, rule) : matches(conversation, now),
  )?.rule;

/** Returns the members that a rule may assign to, in its order. */
export const membersOf = ({ then: { assign } }: AssignmentRule): string[] => {
  if (!assign) return [];
  if ('member_id' in assign) return [assign.member_id];
  return 'round_robin' in assign ? assign.round_robin : assign.least_busy;
};

const hasPlace = ({ availability, capacity, load }: Candidate): boolean => availability === 'active' && load < capacity;

/** Returns the number of conversations that a rule can assign now. */
export const placesOf = (rule: AssignmentRule, team: ReadonlyMap<string, Candidate>): number =>
  membersOf(rule)
    .flatMap(id => team.get(id) ?? [])
    .filter(hasPlace)
    .reduce((sum, { capacity, load }) => sum + capacity - load, 0);

/** Returns the member who gets the next conversation; undefined if none of them has a place. */
function chooseMember(rule: AssignmentRule, members: readonly Candidate[], last: string | undefined) {
  const { assign } = rule.then;
  if (!assign || 'member_id' in assign) return members.find(hasPlace);
  if ('least_busy' in assign)
    return members.filter(hasPlace).reduce<Candidate | undefined>((best, one) => {
      return best && best.load <= one.load ? best : one;
    }, undefined);
  const next = members.findIndex(({ id }) => id === last) + 1;
  return [...members.slice(next), ...members.slice(0, next)].find(hasPlace);
}

/** The rules and the team at one moment. */
export interface Roster {
  rules: readonly AssignmentRule[];
  turns: Turns;
  team: readonly Candidate[];
  now: Date;
}

/**
 * Returns the decision on each conversation, in order, and the turns after them.
 *
 * Each assignment uses a place of its member, so that no capacity is exceeded. A rule that matches again makes no
 * other change again: a tag that a person has removed stays removed.
 */
export function decideAssignments(
  { rules, turns, team, now }: Roster,
  conversations: readonly Waiting[],
): { decisions: Decision[]; turns: Turns } {
  const compiled = rules.map(compileRule);
  const members = new Map(team.map(member => [member.id, { ...member }]));
  const after = { ...turns };
  const decisions = conversations.map((conversation): Decision => {
    const { id } = conversation;
    const rule = findRule(compiled, conversation, now.getTime());
    if (!rule) return { id, rule: null, change: {}, outcome: 'unmatched' };
    const { assign } = rule.then;
    const change = changeOf(rule, conversation);
    if (!assign) return { id, rule, change, outcome: 'changed' };
    const candidates = membersOf(rule).flatMap(member => members.get(member) ?? []);
    const chosen = chooseMember(rule, candidates, after[rule.id]);
    if (!chosen) return { id, rule, change, wait: waitOf(rule, candidates, conversation), outcome: 'waiting' };
    chosen.load++;
    if ('round_robin' in assign) after[rule.id] = chosen.id;
    return { id, rule, change: { ...change, assignee_id: chosen.id }, outcome: 'assigned' };
  });
  return { decisions, turns: after };
}

/** Returns the changes of a rule besides the assignee; none if it matched before. */
function changeOf({ id, then: { add_tags, priority } }: AssignmentRule, { assignment_rule }: Waiting) {
  if (id === assignment_rule) return {};
  return { ...(add_tags && { add_tags }), ...(priority && { priority }) };
}

/** Returns why a rule finds no member; undefined if it said so before. */
function waitOf(
  { id }: AssignmentRule,
  candidates: readonly Candidate[],
  { assignment_rule, assignment_waits }: Waiting,
): WaitCode | undefined {
  if (assignment_waits && id === assignment_rule) return undefined;
  return candidates.every(({ availability }) => availability === 'away') ? 'members-away' : 'members-full';
}
