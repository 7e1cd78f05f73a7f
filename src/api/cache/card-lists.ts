import type { Notices } from '../../coordination/notices.ts';
import { decideCards, nextChange } from '../../domain/cards.ts';
import { toTypeId } from '../../domain/ids.ts';
import { type Caches, textBytes } from '../../platform/caches.ts';
import { listCardRecords, recordDigest } from '../../storage/cards.ts';
import type { Storage } from '../../storage/orm.ts';
import { setFirstCardTime } from '../../storage/tenants.ts';
import type { UserCaller } from '../caller.ts';
import { etagOf } from '../http/etag.ts';
import type { CardIds } from './card-ids.ts';
import type { Catalog, TenantCatalog } from './catalog.ts';

/** Maximum number of cards in one response. */
export const MAX_CARDS = 20;
/** How long an app should wait before the next fetch. */
const POLL_AFTER_SECONDS = 300;

/** Heap bytes of a list besides its body and its user: the object, its tag and its digest. */
const CARD_LIST_BYTES = 430;
/** Maximum age of a cached list. A safeguard against missed notices. */
const MAX_AGE_MS = 60_000;

/** The cards of one identity as a response body, with its strong entity tag. */
export interface CardList {
  body: string;
  etag: string;
}

interface CachedCardList extends CardList {
  /** The full name of the user: two may share a digest. */
  user: string;
  /** The generation of the catalog that it was built from. A reference to the catalog would keep it in memory. */
  generation: number;
  validUntil: number;
}

export interface CardLists {
  /** Returns the user's current cards, at most `limit`. */
  get(caller: UserCaller, limit: number, now: Date): Promise<CardList>;
}

/**
 * Builds card lists, and caches each identity's list until a question, a stored answer or time changes it.
 *
 * Cached lists are used only while PostgreSQL's notifications are received, because they announce stored answers.
 * Otherwise every fetch reads the records. An unchanged list costs no query.
 */
export function createCardLists(
  catalog: Catalog,
  storage: Storage,
  notices: Notices,
  cardIds: CardIds,
  caches: Caches,
): CardLists {
  const deps = { storage, cardIds };
  /** The time of the latest request: lists that expired before it are dropped. */
  let latest = 0;
  const lists = caches.create<string, CachedCardList>('card_lists', {
    sizeOf: ({ body, user }) => CARD_LIST_BYTES + textBytes(body) + textBytes(user),
    isExpired: ({ validUntil }) => validUntil <= latest,
  });
  /** Lists being built. A notice removes them, so that a list from earlier records is not cached. */
  const building = new Map<string, symbol>();
  /** Digests by caller. A caller remains the same object while its token is cached. */
  const digestsOf = new WeakMap<UserCaller, string>();

  notices.onRecords(digests => {
    for (const digest of digests) {
      lists.delete(digest);
      building.delete(digest);
    }
  });
  notices.onGap(() => {
    lists.clear();
    building.clear();
  });

  const digestOf = (caller: UserCaller): string => {
    const known = digestsOf.get(caller);
    if (known) return known;
    const { tenantId, identity, verified } = caller;
    const digest = recordDigest({ tenant_id: tenantId, identity, identity_verified: verified });
    digestsOf.set(caller, digest);
    return digest;
  };

  return {
    async get(caller, limit, now) {
      const tenant = catalog.cached(caller.tenantId) ?? (await catalog.of(caller.tenantId));
      if (limit !== MAX_CARDS || !notices.isListening()) return buildCardList(deps, caller, tenant, limit, now);
      const { user } = caller;
      const digest = digestOf(caller);
      const cached = lists.peek(digest);
      const isHit =
        cached !== undefined &&
        cached.user === user &&
        cached.generation === tenant.generation &&
        now.getTime() < cached.validUntil;
      lists.count(isHit);
      if (isHit) return cached;
      latest = now.getTime();
      const turn = Symbol(digest);
      building.set(digest, turn);
      try {
        const list = {
          ...(await buildCardList(deps, caller, tenant, limit, now)),
          user,
          generation: tenant.generation,
        };
        if (building.get(digest) === turn) lists.set(digest, list);
        return list;
      } finally {
        if (building.get(digest) === turn) building.delete(digest);
      }
    },
  };
}

/** Dependencies for building a list. */
interface BuildDeps {
  storage: Storage;
  cardIds: CardIds;
}

/** Records the tenant's first card, once per catalog without one. Later fetches cost no write. */
async function recordFirstCard(
  { storage }: BuildDeps,
  tenantId: string,
  tenant: TenantCatalog,
  now: Date,
): Promise<void> {
  if (tenant.hadCards) return;
  tenant.hadCards = true;
  await setFirstCardTime(storage.forTenant(tenantId), now);
}

async function buildCardList(deps: BuildDeps, caller: UserCaller, tenant: TenantCatalog, limit: number, now: Date) {
  const records = await listCardRecords(deps.storage.forTenant(caller.tenantId), caller.identity, caller.verified);
  const candidates = caller.verified ? tenant.live : tenant.live.filter(question => question.allow_public);
  const due = decideCards(candidates, records, tenant.ignoringCooldown, tenant.cooldownDays, now).slice(0, limit);
  if (due.length > 0) await recordFirstCard(deps, caller.tenantId, tenant, now);
  const cardId = deps.cardIds(caller);
  const cards = due.map(({ id, cardJsonSuffix }) => `{"id":"${toTypeId('card', cardId(id))}",${cardJsonSuffix}`);
  const body = `{"data":[${cards.join(',')}],"poll_after_s":${POLL_AFTER_SECONDS}}`;
  const changesAt = nextChange(candidates, records, tenant.cooldownDays, now)?.getTime() ?? Number.POSITIVE_INFINITY;
  return { body, etag: etagOf(body), validUntil: Math.min(changesAt, now.getTime() + MAX_AGE_MS) };
}
