import type { Notices } from '../../coordination/notices.ts';
import { decideCards, nextChange } from '../../domain/cards.ts';
import { toTypeId } from '../../domain/ids.ts';
import { type Caches, textBytes } from '../../platform/caches.ts';
import { listCardRecords, recordDigest } from '../../storage/cards.ts';
import type { Storage } from '../../storage/orm.ts';
import { noteFirstCard } from '../../storage/tenants.ts';
import type { UserCaller } from '../caller.ts';
import { etagOf } from '../http/etag.ts';
import type { CardIds } from './card-ids.ts';
import type { Catalog, TenantCatalog } from './catalog.ts';

/** The most cards that one fetch hands out. */
export const MAX_CARDS = 20;
/** How long an app may wait before it asks again. */
const POLL_AFTER_SECONDS = 300;

/** Heap bytes of a hand beyond its body and its user: the object, its tag and its digest. */
const HAND_BYTES = 430;
/** Beyond this age a hand is dealt anew even if no notice came: the net below the notices. */
const MAX_AGE_MS = 60_000;

/** The cards of one identity as a response: its body, and the strong tag of it. */
export interface Hand {
  body: string;
  etag: string;
}

interface HeldHand extends Hand {
  /** The name of its user in full: two may share a digest. */
  user: string;
  /** The generation of the catalog that it was dealt from; the catalog itself it would keep in memory. */
  generation: number;
  validUntil: number;
}

export interface CardDeck {
  /** The cards that the user sees now, at most `limit`. */
  deal(caller: UserCaller, limit: number, now: Date): Promise<Hand>;
}

/**
 * Deals cards, and remembers each identity's hand until something changes it: a question, a stored answer, or time.
 *
 * A hand counts only while PostgreSQL is heard, since stored answers are announced there; while it is not, every fetch
 * reads the records. So a fetch of what has not changed costs no query.
 */
export function createCardDeck(
  catalog: Catalog,
  storage: Storage,
  notices: Notices,
  cardIds: CardIds,
  caches: Caches,
): CardDeck {
  const dealer = { storage, cardIds };
  /** The time is that of the latest deal: hands that ended before it are dropped. */
  let latest = 0;
  const hands = caches.create<string, HeldHand>('card_lists', {
    sizeOf: ({ body, user }) => HAND_BYTES + textBytes(body) + textBytes(user),
    isExpired: ({ validUntil }) => validUntil <= latest,
  });
  /** Hands being dealt. A notice takes them out, so that what was read before it is not kept. */
  const dealing = new Map<string, symbol>();
  /** The digests of callers, who stay the same objects while their tokens are remembered. */
  const digestsOf = new WeakMap<UserCaller, string>();

  notices.onRecords(digests => {
    for (const digest of digests) {
      hands.delete(digest);
      dealing.delete(digest);
    }
  });
  notices.onGap(() => {
    hands.clear();
    dealing.clear();
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
    async deal(caller, limit, now) {
      const tenant = catalog.held(caller.tenantId) ?? (await catalog.of(caller.tenantId));
      if (limit !== MAX_CARDS || !notices.hearsDatabase()) return dealAnew(dealer, caller, tenant, limit, now);
      const { user } = caller;
      const digest = digestOf(caller);
      const held = hands.peek(digest);
      const isHit =
        held !== undefined &&
        held.user === user &&
        held.generation === tenant.generation &&
        now.getTime() < held.validUntil;
      hands.count(isHit);
      if (isHit) return held;
      latest = now.getTime();
      const turn = Symbol(digest);
      dealing.set(digest, turn);
      try {
        const hand = { ...(await dealAnew(dealer, caller, tenant, limit, now)), user, generation: tenant.generation };
        if (dealing.get(digest) === turn) hands.set(digest, hand);
        return hand;
      } finally {
        if (dealing.get(digest) === turn) dealing.delete(digest);
      }
    },
  };
}

/** What dealing reads, and how it names cards. */
interface Dealer {
  storage: Storage;
  cardIds: CardIds;
}

/** Once for each catalog that does not know of one yet: no fetch after the first pays for it. */
async function noteFirst({ storage }: Dealer, tenantId: string, tenant: TenantCatalog, now: Date): Promise<void> {
  if (tenant.hadCards) return;
  tenant.hadCards = true;
  await noteFirstCard(storage.forTenant(tenantId), now);
}

async function dealAnew(dealer: Dealer, caller: UserCaller, tenant: TenantCatalog, limit: number, now: Date) {
  const records = await listCardRecords(dealer.storage.forTenant(caller.tenantId), caller.identity, caller.verified);
  const candidates = caller.verified ? tenant.live : tenant.live.filter(question => question.allow_public);
  const due = decideCards(candidates, records, tenant.ignoringCooldown, tenant.cooldownDays, now).slice(0, limit);
  if (due.length > 0) await noteFirst(dealer, caller.tenantId, tenant, now);
  const cardId = dealer.cardIds(caller);
  const cards = due.map(({ id, cardTail }) => `{"id":"${toTypeId('card', cardId(id))}",${cardTail}`);
  const body = `{"data":[${cards.join(',')}],"poll_after_s":${POLL_AFTER_SECONDS}}`;
  const changesAt = nextChange(candidates, records, tenant.cooldownDays, now)?.getTime() ?? Number.POSITIVE_INFINITY;
  return { body, etag: etagOf(body), validUntil: Math.min(changesAt, now.getTime() + MAX_AGE_MS) };
}
