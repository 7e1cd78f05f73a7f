import type { Notices } from '../../coordination/notices.ts';
import { decideCards, nextChange } from '../../domain/cards.ts';
import { toTypeId } from '../../domain/ids.ts';
import type { Caches } from '../../platform/caches.ts';
import { listCardRecords, recordDigest } from '../../storage/cards.ts';
import type { Storage } from '../../storage/orm.ts';
import { setFirstCardTime } from '../../storage/tenants.ts';
import type { UserCaller } from '../caller.ts';
import { etagOf } from '../http/etag.ts';
import { type CardList, createCardCache } from './card-cache.ts';
import type { CardIds } from './card-ids.ts';
import type { Catalog, TenantCatalog } from './catalog.ts';

/** Maximum number of cards in one response. */
export const MAX_CARDS = 20;
/** How long an app should wait before the next fetch. */
const POLL_AFTER_SECONDS = 300;

/** Maximum age of a cached list. A safeguard against missed notices. */
const MAX_AGE_MS = 60_000;

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
  const cache = createCardCache(caches);
  /** Digests by caller. A caller remains the same object while its token is cached. */
  const digestsOf = new WeakMap<UserCaller, string>();

  notices.onRecords(cache.remove);
  notices.onGap(cache.clear);

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
      const known = cache.find(digest, user, tenant.generation, now.getTime());
      if (known) return known;
      const build = cache.begin(digest, now.getTime());
      try {
        const list = {
          ...(await buildCardList(deps, caller, tenant, limit, now)),
          user,
          generation: tenant.generation,
        };
        build.keep(list);
        return list;
      } finally {
        build.end();
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
