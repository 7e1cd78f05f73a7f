import { describe, expect, test } from 'vitest';
import { createConnectionGroups, type Eviction, type Member } from '../../src/platform/connection-groups.ts';

interface TestMember extends Member {
  name: string;
  state: 'idle' | 'slow' | 'busy';
}

/** A member that was idle since a time, unless it has another state. */
const aMember = (name: string, since: number, state: TestMember['state'] = 'idle'): TestMember => {
  const member: TestMember = {
    name,
    since,
    state,
    closableAs: () => (member.state === 'busy' ? undefined : member.state),
  };
  return member;
};

function createGroups(most: number, mostPerAddress?: number) {
  const at = { ms: 0 };
  const evicted: Eviction<TestMember>[] = [];
  const groups = createConnectionGroups<TestMember>({ most, mostPerAddress, now: () => at.ms }, eviction =>
    evicted.push(eviction),
  );
  const enter = (member: TestMember, address = '') => groups.enter(member, address);
  return { at, groups, evicted, enter, names: () => evicted.map(({ member }) => member.name) };
}

describe('members of a full server', () => {
  test('are evicted idle ones first, and of each state the longest in it', () => {
    const { enter, evicted, groups } = createGroups(4);
    for (const member of [
      aMember('slow late', 30, 'slow'),
      aMember('idle late', 20),
      aMember('slow early', 1, 'slow'),
      aMember('idle early', 10),
    ])
      expect(enter(member)).toBeUndefined();
    for (const name of ['e', 'f', 'g', 'h']) expect(enter(aMember(name, 40, 'busy'))).toBeUndefined();
    expect(evicted.map(({ member, reason, closed }) => [member.name, reason, closed])).toEqual([
      ['idle early', 'full', 'idle'],
      ['idle late', 'full', 'idle'],
      ['slow early', 'full', 'slow'],
      ['slow late', 'full', 'slow'],
    ]);
    expect(groups.size()).toBe(4);
  });

  test('are not evicted after they have left', () => {
    const { enter, groups, names } = createGroups(3);
    const members = ['a', 'b', 'c'].map((name, since) => aMember(name, since));
    for (const member of members) enter(member);
    enter(aMember('d', 10, 'busy')); // finds all three, and evicts a
    groups.leave(members[1] as TestMember);
    enter(aMember('e', 11, 'busy'));
    enter(aMember('f', 12, 'busy'));
    expect(names()).toEqual(['a', 'c']);
  });

  test('are spared when they have become busy since they were found', () => {
    const { enter, names, groups } = createGroups(4);
    const members = ['a', 'b', 'c', 'd'].map((name, since) => aMember(name, since)) as TestMember[];
    for (const member of members) enter(member);
    enter(aMember('e', 10, 'busy')); // finds all four, and evicts a
    const [, b, c] = members as [TestMember, TestMember, TestMember];
    b.state = 'busy';
    c.since = 11; // served a request meanwhile
    enter(aMember('f', 12, 'busy'));
    expect(names()).toEqual(['a', 'd']);
    enter(aMember('g', 13, 'busy'));
    expect(names()).toEqual(['a', 'd', 'c']);
    expect([...groups.members()].map(({ name }) => name)).toEqual(['b', 'e', 'f', 'g']);
  });

  test('keep a new one out while all are busy, searched at most every 100 ms', () => {
    const { at, enter, evicted, groups } = createGroups(2);
    const first = aMember('a', 0, 'busy');
    enter(first);
    enter(aMember('b', 0, 'busy'));
    expect(enter(aMember('c', 1))).toBe('full');
    first.state = 'idle';
    at.ms = 99;
    expect(enter(aMember('d', 2))).toBe('full');
    at.ms = 100;
    expect(enter(aMember('e', 3))).toBeUndefined();
    expect(evicted).toHaveLength(1);
    expect(groups.size()).toBe(2);
  });

  test('make room when they leave, also twice', () => {
    const { enter, groups } = createGroups(1);
    const member = aMember('a', 0, 'busy');
    enter(member);
    groups.leave(member);
    groups.leave(member);
    expect(enter(aMember('b', 1, 'busy'))).toBeUndefined();
    expect(groups.size()).toBe(1);
  });
});

describe('members of one address', () => {
  test('are counted together while any of them is left', () => {
    const { enter, groups } = createGroups(4, 2);
    const first = aMember('a1', 0, 'busy');
    for (const member of [first, aMember('a2', 0, 'busy')]) enter(member, 'a');
    groups.leave(first);
    expect(enter(aMember('a3', 0, 'busy'), 'a')).toBeUndefined();
    expect(enter(aMember('a4', 0, 'busy'), 'a')).toBe('address-share');
  });

  test('are evicted for more of that address, and not for others', () => {
    const { enter, evicted, names } = createGroups(4, 2);
    for (const name of ['a1', 'a2', 'a3']) enter(aMember(name, 0), 'a');
    expect(names()).toEqual(['a1']);
    expect(evicted[0]?.reason).toBe('address-share');
    enter(aMember('b1', 0, 'busy'), 'b');
    enter(aMember('b2', 0, 'busy'), 'b');
    expect(enter(aMember('b3', 0), 'b')).toBe('address-share');
    expect(names()).toEqual(['a1']);
  });

  test('are counted from zero after all have left', () => {
    const { enter, groups } = createGroups(4, 1);
    const only = aMember('a1', 0, 'busy');
    enter(only, 'a');
    groups.leave(only);
    expect(enter(aMember('a2', 0, 'busy'), 'a')).toBeUndefined();
    expect(enter(aMember('a3', 0, 'busy'), 'a')).toBe('address-share');
  });
});

describe('a lower limit', () => {
  test('evicts members, but none that the server is working on', () => {
    const { enter, evicted, groups } = createGroups(4);
    const busy = aMember('busy', 0, 'busy');
    for (const member of [busy, aMember('a', 1), aMember('b', 2), aMember('c', 3)]) enter(member);
    groups.setMost(2);
    expect(evicted).toEqual([]);
    groups.evictExcess();
    expect(evicted.map(({ member, reason }) => [member.name, reason])).toEqual([
      ['a', 'open-files'],
      ['b', 'open-files'],
    ]);
    groups.setMost(0);
    groups.evictExcess();
    expect([...groups.members()]).toEqual([busy]);
    groups.setMost(4);
    expect([groups.most(), groups.size()]).toEqual([4, 1]);
  });
});
