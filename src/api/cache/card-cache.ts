import type { Attributes } from '../../domain/people/identities.ts';
import { type Caches, textBytes } from '../../platform/caches.ts';

/**
 * The cards of one user, as references to the live questions of the tenant's catalog. Texts are in the catalog only,
 * except those that recall attributes of the user, so a list is equally large in every language.
 */
export interface CachedList extends CardView {
  /** The user's full name: two users may share a digest. */
  user: string;
  /** The `liveDigest` of the catalog from which the list was built. */
  liveDigest: string;
  /** The position of each card's question in the catalog's `live`. */
  positions: readonly number[];
  /** The cards' ids, joined: the parts after `card_`, of `CARD_ID_LENGTH` characters each. */
  ids: string;
  /** The language in the user's profile. */
  profileLocale: string | null;
  /** The user's attributes that the cards recall. */
  attributes: Attributes;
  /** The `contextOf` the request for which the list was built. */
  context: string;
  /** A list of the same user for another context. */
  other: CachedList | null;
  /** Until when the list is valid, in milliseconds since 1970. */
  validUntil: number;
}

/** The languages and texts of a list's cards, for one request. */
export interface CardView {
  /** The tenant's languages that the request prefers. Requests that prefer the same ones have the same view. */
  preferred: string;
  /** The language of each card, separated by spaces; a single one if all have the same. */
  locales: string;
  /** The JSON of cards with attributes of the user, by index; null without any. */
  personal: ReadonlyMap<number, string> | null;
  /** A hash of the ids and texts. */
  tag: string;
}

/** Characters of a TypeID after its prefix. */
export const CARD_ID_LENGTH = 26;

/** Which of a user's lists is wanted. */
export type WantedList = Pick<CachedList, 'liveDigest' | 'context'>;

/** Maximum number of lists of one user. More contexts at once only cost further decisions. */
const MAX_CONTEXTS = 4;

/** A list that is being built. */
interface Build extends WantedList {
  user: string;
  list: Promise<CachedList>;
}

/** The card lists that this process remembers, by the digest of their user. Times are in milliseconds since 1970. */
export interface CardCache {
  /** Returns the user's list for a context if it is still valid for a catalog with that `liveDigest`. Counts a hit or a miss. */
  find(digest: string, user: string, wanted: WantedList, now: number): CachedList | undefined;
  /** Replaces a list that was just found by the same list in another view. */
  renew(digest: string, list: CachedList): void;
  /**
   * Returns the list that `make` builds, or that of the same build in progress: many requests of one user at once cost one.
   * The list is cached, unless the user's records changed since the build began.
   */
  build(
    digest: string,
    user: string,
    wanted: WantedList,
    now: number,
    make: () => Promise<CachedList>,
  ): Promise<CachedList>;
  /** Removes the lists of users whose records changed, and keeps lists that are being built from being cached. */
  remove(digests: Iterable<string>): void;
  /** Removes everything: changes may have been missed. */
  clear(): void;
}

/** Heap bytes of a list besides its cards and its user: the object, its tag and its digest. */
const LIST_BYTES = 540;
const POSITION_BYTES = 8;
const PERSONAL_BYTES = 100;

/** Returns the lists of a user. */
function* listsFrom(first: CachedList | undefined): Generator<CachedList> {
  for (let list: CachedList | null = first ?? null; list; list = list.other) yield list;
}

/** Joins a list with those of the same user for other contexts, except outdated ones. */
function withOthers(list: CachedList, known: CachedList | undefined, now: number): CachedList {
  const others = [...listsFrom(known)].filter(
    ({ user, liveDigest, context, validUntil }) =>
      user === list.user && liveDigest === list.liveDigest && context !== list.context && validUntil > now,
  );
  list.other = null;
  for (const other of others.slice(0, MAX_CONTEXTS - 1).reverse()) {
    other.other = list.other;
    list.other = other;
  }
  return list;
}

const sizeOf = (first: CachedList): number => [...listsFrom(first)].reduce((sum, list) => sum + sizeOfOne(list), 0);

function sizeOfOne({ ids, positions, user, preferred, locales, personal, attributes, context }: CachedList): number {
  const base = LIST_BYTES + POSITION_BYTES * positions.length;
  const texts = [ids, user, preferred, locales, ...(context ? [context] : [])].reduce(
    (sum, text) => sum + textBytes(text),
    0,
  );
  if (!personal) return base + texts;
  const cards = [...personal.values()].reduce((sum, json) => sum + PERSONAL_BYTES + textBytes(json), 0);
  return base + texts + cards + textBytes(JSON.stringify(attributes));
}

/** Creates a cache of card lists within the share that `caches` grants. Has no clock and no I/O of its own. */
export function createCardCache(caches: Caches): CardCache {
  /** The time of the latest build: lists that ended before it can be dropped. */
  let latest = 0;
  const lists = caches.create<string, CachedList>('card_lists', {
    sizeOf,
    isExpired: first => [...listsFrom(first)].every(({ validUntil }) => validUntil <= latest),
  });
  /** Builds in progress by digest. A change removes them, because they may have read the records before it. */
  const builds = new Map<string, Build[]>();
  const drop = (digest: string, ended: Build): void => {
    const others = builds.get(digest)?.filter(build => build !== ended) ?? [];
    if (others.length > 0) builds.set(digest, others);
    else builds.delete(digest);
  };

  return {
    find(digest, user, { liveDigest, context }, now) {
      let list = lists.peek(digest) ?? null;
      while (list && list.context !== context) list = list.other;
      const isHit = list?.user === user && list.liveDigest === liveDigest && now < list.validUntil;
      lists.count(isHit);
      return isHit ? (list as CachedList) : undefined;
    },
    renew: (digest, list) => void lists.set(digest, withOthers(list, lists.peek(digest), latest)),
    build(digest, user, { liveDigest, context }, now, make) {
      latest = now;
      const known = builds.get(digest) ?? [];
      const same = known.find(
        build => build.user === user && build.liveDigest === liveDigest && build.context === context,
      );
      if (same) return same.list;
      const run = async (): Promise<CachedList> => {
        try {
          const list = await make();
          if (builds.get(digest)?.includes(build)) lists.set(digest, withOthers(list, lists.peek(digest), now));
          return list;
        } finally {
          drop(digest, build);
        }
      };
      const build: Build = { user, liveDigest, context, list: run() };
      builds.set(digest, [...known, build]);
      return build.list;
    },
    remove(digests) {
      for (const digest of digests) {
        lists.delete(digest);
        builds.delete(digest);
      }
    },
    clear() {
      lists.clear();
      builds.clear();
    },
  };
}
