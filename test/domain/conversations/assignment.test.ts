import { describe, expect, test } from 'vitest';
import {
  type Candidate,
  decideAssignments,
  type Roster,
  type Waiting,
} from '../../../src/domain/conversations/assignment.ts';
import type { AssignmentRule } from '../../../src/domain/conversations/assignment-rules.ts';

const now = new Date('2026-11-21T07:00:00Z');

const member = (id: string, fields: Partial<Candidate> = {}): Candidate => ({
  id,
  availability: 'active',
  capacity: 20,
  load: 0,
  ...fields,
});

const conversation = (fields: Partial<Waiting> = {}): Waiting => ({
  id: 'one',
  source_type: 'user',
  tags: [],
  priority: 'none',
  identity_verified: true,
  attributes: {},
  assignment_rule: null,
  assignment_waits: false,
  rules_checked: 1,
  keepsRule: false,
  ...fields,
});

const rule = (assign: AssignmentRule['then']['assign'], fields: Partial<AssignmentRule> = {}): AssignmentRule => ({
  id: 'rule',
  name: 'Rule',
  when: {},
  then: { assign },
  ...fields,
});

const roster = (rules: AssignmentRule[], team: Candidate[], turns = {}): Roster => ({ rules, turns, team, now });

/** Whom some equal conversations are assigned to. */
const assignees = (at: Roster, count: number) =>
  decideAssignments(
    at,
    Array.from({ length: count }, () => conversation()),
  ).decisions.map(({ change }) => change.assignee_id);

describe('who gets a conversation', () => {
  test('in turn: the next member after the last one who has a place', () => {
    const team = [member('a'), member('b', { availability: 'away' }), member('c', { load: 19 }), member('d')];
    const rules = [rule({ round_robin: ['a', 'b', 'c', 'd'] })];
    expect(assignees(roster(rules, team), 5)).toEqual(['a', 'c', 'd', 'a', 'd']);
    expect(assignees(roster(rules, team, { rule: 'a' }), 1)).toEqual(['c']);
    expect(assignees(roster(rules, team, { rule: 'removed' }), 1)).toEqual(['a']);
    expect(decideAssignments(roster(rules, team), [conversation(), conversation()]).turns).toEqual({ rule: 'c' });
  });

  test('the least busy: the fewest conversations, of equals the first in the list', () => {
    const team = [member('a', { load: 2 }), member('b', { load: 1 }), member('c', { load: 0, capacity: 0 })];
    expect(assignees(roster([rule({ least_busy: ['c', 'a', 'b'] })], team), 4)).toEqual(['b', 'a', 'b', 'a']);
  });

  test('one member, until the capacity is reached; the roster that was given stays as it was', () => {
    const team = [member('a', { capacity: 2, load: 1 })];
    expect(assignees(roster([rule({ member_id: 'a' })], team), 3)).toEqual(['a', undefined, undefined]);
    expect(team).toEqual([member('a', { capacity: 2, load: 1 })]);
  });
});

describe('a conversation without a place', () => {
  const waitOf = (team: Candidate[], fields: Partial<Waiting> = {}) =>
    decideAssignments(roster([rule({ round_robin: ['a', 'b'] })], team), [conversation(fields)]).decisions[0];

  test('waits because its members are away or removed, or because those present are full', () => {
    const away = member('a', { availability: 'away' });
    expect(waitOf([away])).toMatchObject({ outcome: 'waiting', wait: 'members-away' });
    expect(waitOf([])).toMatchObject({ outcome: 'waiting', wait: 'members-away' });
    expect(waitOf([away, member('b', { load: 20 })])).toMatchObject({ outcome: 'waiting', wait: 'members-full' });
  });

  test('says so once, and again after it had an assignee', () => {
    const fields = { assignment_rule: 'rule', assignment_waits: true };
    expect(waitOf([], fields)).toMatchObject({ outcome: 'waiting', wait: undefined });
    expect(waitOf([], { ...fields, assignment_waits: false })).toMatchObject({ wait: 'members-away' });
  });

  test('keeps its rule, although an earlier one would match', () => {
    const rules = [rule({ member_id: 'a' }, { id: 'first' }), rule({ member_id: 'b' })];
    const keeps = conversation({ assignment_rule: 'rule', assignment_waits: true, keepsRule: true });
    const team = [member('a'), member('b')];
    expect(decideAssignments(roster(rules, team), [keeps]).decisions[0]).toMatchObject({
      rule: { id: 'rule' },
      change: { assignee_id: 'b' },
    });
  });
});

describe('the conditions of a rule', () => {
  const matches = (when: AssignmentRule['when'], fields: Partial<Waiting>) =>
    decideAssignments(roster([rule(null, { when, then: { assign: null, priority: 'low' } })], []), [
      conversation(fields),
    ]).decisions[0]?.outcome === 'changed';

  test('must all be met', () => {
    const when = { source: 'user', tag: 'a', priority: 'high' } as const;
    expect(matches({}, {})).toBe(true);
    expect(matches(when, { tags: ['b', 'a'], priority: 'high' })).toBe(true);
    expect(matches(when, { tags: ['b'], priority: 'high' })).toBe(false);
    expect(matches(when, { tags: ['a'] })).toBe(false);
    expect(matches(when, { tags: ['a'], priority: 'high', source_type: 'api' })).toBe(false);
  });

  test('compare attributes as an audience does: a missing one meets only not_set', () => {
    const attribute = { attribute: 'seats', op: 'gte', value: 5 } as const;
    expect(matches({ attribute }, { attributes: { seats: 5 } })).toBe(true);
    expect(matches({ attribute }, { attributes: { seats: '5' } })).toBe(false);
    expect(matches({ attribute }, {})).toBe(false);
    expect(matches({ attribute: { attribute: 'seats', op: 'not_set' } }, {})).toBe(true);
  });
});

test('a rule that matches again assigns, and makes no other change', () => {
  const rules = [
    rule({ member_id: 'a' }, { then: { add_tags: ['new'], priority: 'high', assign: { member_id: 'a' } } }),
  ];
  const changeOf = (assignment_rule: string | null) =>
    decideAssignments(roster(rules, [member('a')]), [conversation({ assignment_rule })]).decisions[0]?.change;
  expect(changeOf(null)).toEqual({ add_tags: ['new'], priority: 'high', assignee_id: 'a' });
  expect(changeOf('other')).toEqual({ add_tags: ['new'], priority: 'high', assignee_id: 'a' });
  expect(changeOf('rule')).toEqual({ assignee_id: 'a' });
});
