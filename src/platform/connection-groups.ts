/** Why a connection was closed or refused. */
export type Reason = 'full' | 'address-share' | 'memory' | 'open-files';
/** The closed connection: idle, blocked by its client, or new because no other could be closed. */
export type Closed = 'idle' | 'slow' | 'new';

/** A connection as the groups see it. */
export interface Member {
  /** When its last request started or ended, or it was opened. */
  since: number;
  /** Whether it is idle or waits for its client; undefined while the server is working on it. */
  closableAs(): 'idle' | 'slow' | undefined;
}

export interface GroupLimits {
  /** Maximum number of members. */
  most: number;
  /** Maximum number of members of one address; undefined where addresses are not limited. */
  mostPerAddress: number | undefined;
  now: () => number;
}

/** A member that was removed to make room. */
export interface Eviction<M> {
  member: M;
  reason: Reason;
  closed: Closed;
}

/** The members of a server with limited connections. Opens and closes no sockets. */
export interface ConnectionGroups<M extends Member> {
  /** The number of members, and the maximum. */
  size(): number;
  most(): number;
  members(): Iterable<M>;
  /**
   * Adds a member, evicting others where a limit is reached: the one that was idle longest, or else the one blocked
   * longest by its client. Returns the limit that refuses it when the server is working on all others.
   */
  enter(member: M, address: string): Reason | undefined;
  /** Removes a member, if it is one. */
  leave(member: M): void;
  /** Sets the maximum for members that enter from now on. */
  setMost(most: number): void;
  /** Evicts the members beyond the maximum, except those that the server is working on. */
  evictExcess(): void;
}

/** Members with a common limit: all of them, or those of one address. */
interface Group<M> {
  most: number;
  reason: Reason;
  key: string | undefined;
  members: Set<M>;
  /** The members to evict next, in reverse order, as of the last search. */
  candidates: { member: M; since: number }[];
  searchedAt: number;
}

/** Members found by one search, so that searches are rare while many connections arrive at a full server. */
const CANDIDATES = 512;
/** Pause after a search without result. */
const SEARCH_PAUSE_MS = 100;

const createGroup = <M>(most: number, reason: Reason, key?: string): Group<M> => ({
  most,
  reason,
  key,
  members: new Set(),
  candidates: [],
  searchedAt: Number.NEGATIVE_INFINITY,
});

/** Finds the members to evict next: idle ones before slow ones, and of each the longest in that state. */
function search<M extends Member>(group: Group<M>, now: number): void {
  if (now - group.searchedAt < SEARCH_PAUSE_MS) return;
  const closable = [...group.members].filter(member => member.closableAs() !== undefined);
  const isSlow = (member: M) => (member.closableAs() === 'slow' ? 1 : 0);
  closable.sort((a, b) => isSlow(a) - isSlow(b) || a.since - b.since);
  group.candidates = closable
    .slice(0, CANDIDATES)
    .map(member => ({ member, since: member.since }))
    .reverse();
  group.searchedAt = closable.length === 0 ? now : Number.NEGATIVE_INFINITY;
}

/** Returns the member to evict, with its state; undefined when the server is working on all of them. */
function findEvictable<M extends Member>(
  group: Group<M>,
  now: () => number,
): { member: M; closed: Closed } | undefined {
  for (const isLast of [false, true]) {
    for (let next = group.candidates.pop(); next; next = group.candidates.pop()) {
      const { member, since } = next;
      const closed = member.closableAs();
      if (closed && member.since === since && group.members.has(member)) return { member, closed };
    }
    if (!isLast) search(group, now());
  }
  return undefined;
}

/** Creates the groups of a server. `onEvict` receives each member that was removed to make room. */
export function createConnectionGroups<M extends Member>(
  { most, mostPerAddress, now }: GroupLimits,
  onEvict: (eviction: Eviction<M>) => void,
): ConnectionGroups<M> {
  const all = createGroup<M>(most, 'full');
  const byAddress = new Map<string, Group<M>>();
  const groupsOfMember = new WeakMap<M, Group<M>[]>();

  const groupsAt = (address: string): Group<M>[] =>
    mostPerAddress === undefined
      ? [all]
      : [byAddress.get(address) ?? createGroup(mostPerAddress, 'address-share', address), all];

  const leave = (member: M): void => {
    for (const group of groupsOfMember.get(member) ?? []) {
      group.members.delete(member);
      if (group.key !== undefined && group.members.size === 0) byAddress.delete(group.key);
    }
    groupsOfMember.delete(member);
  };

  const evictOne = (group: Group<M>, reason: Reason): boolean => {
    const found = findEvictable(group, now);
    if (!found) return false;
    leave(found.member);
    onEvict({ ...found, reason });
    return true;
  };

  return {
    size: () => all.members.size,
    most: () => all.most,
    members: () => all.members,
    enter(member, address) {
      const groups = groupsAt(address);
      for (const group of groups)
        if (group.members.size >= group.most && !evictOne(group, group.reason)) return group.reason;
      for (const group of groups) {
        group.members.add(member);
        if (group.key !== undefined) byAddress.set(group.key, group);
      }
      groupsOfMember.set(member, groups);
      return undefined;
    },
    leave,
    setMost(size) {
      all.most = size;
    },
    evictExcess() {
      while (all.members.size > all.most && evictOne(all, 'open-files'));
    },
  };
}
