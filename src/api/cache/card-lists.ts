import type { Notices } from '../../coordination/notices.ts';
import { cardPlacement } from '../../domain/cards/cards.ts';
import { GATES, type Gate, type PersonFacts, selectCards, toPerson } from '../../domain/cards/decisions.ts';
import { toTypeId } from '../../domain/ids.ts';
import type { Caches } from '../../platform/caches.ts';
import { readCardHistory, recordDigest } from '../../storage/answers/cards.ts';
import type { Storage } from '../../storage/database/orm.ts';
import { findTestedQuestion } from '../../storage/questions/test-answers.ts';
import { setFirstCardTime } from '../../storage/tenants/tenants.ts';
import type { TestCaller, UserCaller } from '../caller.ts';
import { etagOf } from '../http/etag.ts';
import { CARD_ID_LENGTH, type CachedList, createCardCache } from './card-cache.ts';
import type { CardContext } from './card-contexts.ts';
import type { CardIds } from './card-ids.ts';
import { renderCards } from './card-json.ts';
import {
  type LanguageRequest,
  languagesOf,
  POLL_AFTER_SECONDS,
  pickRecalled,
  preferredOf,
  textsFor,
  viewOf,
} from './card-view.ts';
import type { Catalog, LiveQuestion, TenantCatalog } from './catalog.ts';

/** Maximum number of cards in one response. */
export const MAX_CARDS = 20;

/** Maximum age of a cached list. A safeguard against missed notices. */
const MAX_AGE_MS = 60_000;

/** A card list as a response: its body, and the body's strong entity tag. */
export interface CardList {
  body: string;
  etag: string;
  /** The languages of its cards, as in `Content-Language`. */
  languages: string;
}

/** The languages and the device of a request. */
export type CardRequest = LanguageRequest & CardContext;

export interface CardLists {
  /** Returns the user's current cards, at most `limit`, each entirely in one language. */
  get(caller: UserCaller, limit: number, now: Date, request?: CardRequest): Promise<CardList>;
  /** Returns the card of the question that a member tries out, always, as long as it and the member exist. */
  test(caller: TestCaller, request: LanguageRequest): Promise<CardList>;
  /** How often each gate kept a card from being shown, in decisions of this process. */
  withheld: Readonly<Record<Gate, number>>;
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
  const withheld = Object.fromEntries(GATES.map(gate => [gate, 0])) as Record<Gate, number>;
  const deps: BuildDeps = { storage, cardIds, catalog, withhold: gate => withheld[gate]++ };
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
    withheld,
    test: (caller, request) => buildTestList(deps, caller, request),

    async get(caller, limit, now, request = {}) {
      const tenant = catalog.cached(caller.tenantId) ?? (await catalog.of(caller.tenantId));
      const preferred = preferredOf(tenant, request);
      const context = tenant.contextOf(request);
      const build = () => buildCardList(deps, caller, { tenant, context, preferred, request }, now);
      if (!notices.isListening()) return present(tenant, await build(), limit);
      const digest = digestOf(caller);
      const wanted = { liveDigest: tenant.liveDigest, context };
      const known = cache.find(digest, caller.user, wanted, now.getTime());
      const list = known ?? (await cache.build(digest, caller.user, wanted, now.getTime(), build));
      if (list.preferred === preferred) return present(tenant, list, limit);
      const viewed = { ...list, ...viewOf(tenant, list, preferred) };
      if (known) cache.renew(digest, viewed); // otherwise the records may have changed since
      return present(tenant, viewed, limit);
    },
  };
}

/** Dependencies for building a list. */
interface BuildDeps {
  storage: Storage;
  cardIds: CardIds;
  catalog: Catalog;
  withhold(gate: Gate): void;
}

/** For which request a list is built. */
interface Wanted {
  tenant: TenantCatalog;
  context: string;
  preferred: string;
  request: CardRequest;
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

/** The body of a list. V8 joins its parts only when it is sent, so a 304 does not pay for them. */
const toBody = (cards: string, { appearance }: TenantCatalog): string =>
  `{"data":[${cards}],"poll_after_s":${POLL_AFTER_SECONDS},"appearance":${appearance}}`;

/** The cards of a list in `tenant`, the catalog that the list was built from or one with the same `liveDigest`. */
function present(tenant: TenantCatalog, list: CachedList, limit: number): CardList {
  const { positions, personal, ids, tag } = list;
  const count = Math.min(limit, positions.length);
  const locales = list.locales.split(' ', count);
  const [first] = locales;
  let cards = '';
  for (let index = 0; index < count; index++) {
    const { texts } = (tenant.live[positions[index] as number] as LiveQuestion).cards;
    const json = personal?.get(index) ?? texts.get((locales[index] ?? first) as string)?.json;
    const id = ids.slice(index * CARD_ID_LENGTH, (index + 1) * CARD_ID_LENGTH);
    cards += `${index > 0 ? ',' : ''}{"id":"card_${id}",${json}`;
  }
  return {
    body: toBody(cards, tenant),
    etag: count < positions.length ? `"${tag}.${count}"` : `"${tag}"`,
    languages: languagesOf(tenant, locales),
  };
}

async function buildTestList(
  { storage, cardIds, catalog }: BuildDeps,
  caller: TestCaller,
  request: LanguageRequest,
): Promise<CardList> {
  const [question, tenant] = await Promise.all([
    findTestedQuestion(storage.forTenant(caller.tenantId), caller),
    catalog.of(caller.tenantId),
  ]);
  const placed = question && { ...question, placement: cardPlacement(question, tenant.placement) };
  const texts = placed && textsFor(renderCards(placed), tenant, request);
  const body = toBody(
    placed && texts ? `{"id":"${toTypeId('card', cardIds(caller)(placed.id))}",${texts.json}` : '',
    tenant,
  );
  return { body, etag: etagOf(body), languages: languagesOf(tenant, texts ? [texts.locale] : []) };
}

async function buildCardList(
  deps: BuildDeps,
  caller: UserCaller,
  { tenant, context, preferred, request }: Wanted,
  now: Date,
): Promise<CachedList> {
  const scope = deps.storage.forTenant(caller.tenantId);
  const { identity, verified } = caller;
  const { records, profile } = await readCardHistory(scope, identity, verified);
  const { attributes } = profile;
  const person = toPerson({ identity, verified, attributes, records, ...deviceOf(request, profile) });
  const terms = { days: tenant.cooldownDays, ignoring: tenant.ignoringCooldown };
  const selected = selectCards(tenant.rules, person, terms, now.getTime(), deps.withhold);
  const positions = selected.positions
    .filter(at => request.triggers || !tenant.rules[at]?.hasTrigger)
    .slice(0, MAX_CARDS);
  if (positions.length > 0) await recordFirstCard(deps, caller.tenantId, tenant, now);
  const due = positions.map(position => tenant.live[position] as LiveQuestion);
  const cardId = deps.cardIds(caller);
  const list = {
    user: caller.user,
    liveDigest: tenant.liveDigest,
    positions,
    ids: due.map(({ id }) => toTypeId('card', cardId(id)).slice(-CARD_ID_LENGTH)).join(''),
    profileLocale: profile.locale,
    attributes: pickRecalled(due, person.attributes),
    context,
    other: null,
    validUntil: Math.min(selected.changesAt, now.getTime() + MAX_AGE_MS),
  };
  return { ...list, ...viewOf(tenant, list, preferred) };
}

/** The facts about a device that are known. */
type Device = Pick<PersonFacts, 'platform' | 'app_version' | 'locale'>;

/** Returns the facts about a device from the first source that knows them. */
export const deviceOf = (first: Partial<Device>, other: Partial<Device>): Device => ({
  platform: first.platform ?? other.platform,
  app_version: first.app_version ?? other.app_version,
  locale: first.locale ?? other.locale,
});
