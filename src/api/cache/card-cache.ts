import { type Caches, textBytes } from '../../platform/caches.ts';

/** The cards of one user as a response: its body, and the body's strong entity tag. */
export interface CardList {
  body: string;
  etag: string;
}

/** A card list with the facts that make it valid. */
export interface CachedList extends CardList {
  /** The user's full name: two users may share a digest. */
  user: string;
  /** The generation of the tenant's catalog from which the list was built. */
  generation: number;
  /** Until when the list is valid, in milliseconds since 1970. */
  validUntil: number;
}

/** The building of one card list. */
export interface Build {
  /** Caches the list, unless its user's records changed since the build began. */
  keep(list: CachedList): void;
  /** Ends the build, with or without a list. */
  end(): void;
}

/** The card lists that this process remembers, by the digest of their user. Times are in milliseconds since 1970. */
export interface CardCache {
  /** Returns the user's list if it is still valid for that generation of the catalog. Counts a hit or a miss. */
  find(digest: string, user: string, generation: number, now: number): CardList | undefined;
  /** To be called before the records of the user are read. */
  begin(digest: string, now: number): Build;
  /** Removes the lists of users whose records changed, and keeps lists that are being built from being cached. */
  remove(digests: Iterable<string>): void;
  /** Removes everything: changes may have been missed. */
  clear(): void;
}

/** Heap bytes of a list beyond its body and its user: the object, its tag and its digest. */
const LIST_BYTES = 430;

/** Creates a cache of card lists within the share that `caches` grants. Has no clock and no I/O of its own. */
export function createCardCache(caches: Caches): CardCache {
  /** The time of the latest build: lists that ended before it can be dropped. */
  let latest = 0;
  const lists = caches.create<string, CachedList>('card_lists', {
    sizeOf: ({ body, user }) => LIST_BYTES + textBytes(body) + textBytes(user),
    isExpired: ({ validUntil }) => validUntil <= latest,
  });
  /** Builds in progress. A change removes them, because they may have read the records before it. */
  const builds = new Map<string, symbol>();

  return {
    find(digest, user, generation, now) {
      const list = lists.peek(digest);
      const isHit = list?.user === user && list.generation === generation && now < list.validUntil;
      lists.count(isHit);
      return isHit ? list : undefined;
    },
    begin(digest, now) {
      latest = now;
      const build = Symbol(digest);
      builds.set(digest, build);
      const isCurrent = () => builds.get(digest) === build;
      return {
        keep(list) {
          if (isCurrent()) lists.set(digest, list);
        },
        end() {
          if (isCurrent()) builds.delete(digest);
        },
      };
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
