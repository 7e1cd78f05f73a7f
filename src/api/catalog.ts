import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Notices } from '../coordination/notices.ts';
import { Problem } from '../domain/problem.ts';
import { DEFAULT_COOLDOWN_DAYS } from '../domain/tenants.ts';
import { listDeletedAnswers } from '../storage/answers.ts';
import type { Storage } from '../storage/orm.ts';
import { loadPublishedQuestions, type QuestionRow, type QuestionVersionRow } from '../storage/questions.ts';
import { findTenant } from '../storage/tenants.ts';
import { cardTail } from './card-tail.ts';

/** A live question with what its card says to everybody, made once: all of its JSON but the id. */
export type LiveQuestion = QuestionRow & { cardTail: string };

/** What a process holds of one tenant so that intake and cards need no row: questions, versions, deleted ids. */
export interface TenantCatalog {
  cooldownDays: number;
  /** Whether a card was handed out to one of its users before. */
  hadCards: boolean;
  /** Live questions in the order in which cards are handed out. */
  live: LiveQuestion[];
  /** Every question that was ever published. */
  questions: ReadonlyMap<string, QuestionRow>;
  /** Ids of questions that stand outside the cooldown. */
  ignoringCooldown: ReadonlySet<string>;
  version(questionId: string, version: number): QuestionVersionRow | undefined;
  isDeleted(answerId: string): boolean;
}

export interface Catalog {
  /** The tenant's catalog. While the database is away the last one known; rejects when there is none. */
  of(tenantId: string): Promise<TenantCatalog>;
  /** The same at once, where nothing has to be read for it. */
  held(tenantId: string): TenantCatalog | undefined;
  /**
   * The catalog as read after a moment, for whoever asks for what `of` does not know: the notice of it may be on its
   * way. Waits up to 250 ms, so that made-up ids cost a tenant four readings a second at most.
   */
  readAfter(tenantId: string, moment: Date): Promise<TenantCatalog>;
}

const MAX_TENANTS = 20_000;
/** Beyond this age a catalog is read again even if no notice came: the net below the notices. */
const MAX_AGE_MS = 60_000;
const MAX_DELETED_IDS = 10_000;
const MIN_AGE_MS = 250;
/** How often a database that is away is asked again; nobody who can be served from memory waits for that. */
const RETRY_MS = 1000;

interface Entry {
  loading: Promise<TenantCatalog>;
  /** When the reading began: it holds everything that was committed before. */
  loadedAt: number;
  stale: boolean;
  /** Whether `known` is what this reading gave. */
  isRead: boolean;
  /** The last catalog that was read. */
  known: TenantCatalog | undefined;
  /** Whether the last reading failed. */
  away: boolean;
}

const isOutage = (error: unknown): boolean => error instanceof Problem && error.kind === 'unavailable';

/** The catalogs of the tenants that this process serves, kept true by change notices. */
export function createCatalog(storage: Storage, notices: Notices, now: () => number = Date.now): Catalog {
  const entries = new LRUCache<string, Entry>({ max: MAX_TENANTS });

  notices.onChange(({ table, tenant_id }) => {
    if (table === 'api_keys') return;
    const entry = entries.peek(tenant_id);
    if (entry) entry.stale = true;
  });
  notices.onGap(() => {
    for (const entry of entries.values()) entry.stale = true;
  });

  const isFresh = ({ stale, loadedAt }: Entry): boolean => !stale && now() - loadedAt < MAX_AGE_MS;

  const load = (tenantId: string, previous: Entry | undefined): Promise<TenantCatalog> => {
    const loading = loadCatalog(storage, tenantId).then(
      catalog => {
        Object.assign(entry, { known: catalog, isRead: true, away: false });
        return catalog;
      },
      error => {
        entry.known ??= previous?.known;
        entry.away = true;
        if (entry.known && isOutage(error)) return entry.known;
        if (entries.peek(tenantId) === entry) entries.delete(tenantId);
        throw error;
      },
    );
    const entry: Entry = {
      loading,
      loadedAt: now(),
      stale: false,
      isRead: false,
      known: previous?.known,
      away: previous?.away ?? false,
    };
    entries.set(tenantId, entry);
    return loading;
  };

  return {
    async of(tenantId) {
      const entry = entries.peek(tenantId);
      if (!entry) return load(tenantId, entry);
      const age = now() - entry.loadedAt;
      if (entry.away && entry.known) {
        const asked = age < RETRY_MS ? undefined : load(tenantId, entry);
        asked?.catch(() => undefined); // a failure that is no outage is met by the next caller, who waits for it
        return entry.known;
      }
      return isFresh(entry) ? entry.loading : load(tenantId, entry);
    },
    held(tenantId) {
      const entry = entries.peek(tenantId);
      return entry?.isRead && isFresh(entry) ? entry.known : undefined;
    },
    async readAfter(tenantId, moment) {
      for (;;) {
        const entry = entries.get(tenantId);
        if (entry?.away && entry.known) return entry.known;
        if (entry && entry.loadedAt > moment.getTime()) return entry.loading;
        const early = entry ? entry.loadedAt + MIN_AGE_MS - now() : 0;
        if (early <= 0) return load(tenantId, entry);
        await sleep(early);
      }
    },
  };
}

async function loadCatalog(storage: Storage, tenantId: string): Promise<TenantCatalog> {
  const scope = storage.forTenant(tenantId);
  const [tenant, { questions, versions }, deletedIds] = await Promise.all([
    findTenant(scope),
    loadPublishedQuestions(scope),
    listDeletedAnswers(scope, MAX_DELETED_IDS),
  ]);
  const versionsOf = new Map<string, Map<number, QuestionVersionRow>>(questions.map(({ id }) => [id, new Map()]));
  for (const row of versions) versionsOf.get(row.question_id)?.set(row.version, row);
  const deleted = new Set(deletedIds);
  return {
    cooldownDays: tenant?.cooldown_days ?? DEFAULT_COOLDOWN_DAYS,
    hadCards: Boolean(tenant?.first_card_at),
    live: questions.filter(({ status }) => status === 'live').map(row => ({ ...row, cardTail: cardTail(row) })),
    questions: new Map(questions.map(question => [question.id, question])),
    ignoringCooldown: new Set(questions.filter(question => question.frequency.ignore_cooldown).map(({ id }) => id)),
    version: (questionId, version) => versionsOf.get(questionId)?.get(version),
    isDeleted: answerId => deleted.has(answerId),
  };
}
