import { LRUCache } from 'lru-cache';
import type { Notices } from '../coordination/notices.ts';
import { DEFAULT_COOLDOWN_DAYS } from '../domain/tenants.ts';
import { listDeletedAnswers } from '../storage/answers.ts';
import type { Storage } from '../storage/orm.ts';
import { loadPublishedQuestions, type QuestionRow, type QuestionVersionRow } from '../storage/questions.ts';
import { findTenant } from '../storage/tenants.ts';

/** What a process holds of one tenant so that intake and cards need no row: questions, versions, deleted ids. */
export interface TenantCatalog {
  cooldownDays: number;
  /** Live questions in the order in which cards are handed out. */
  live: QuestionRow[];
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
}

const MAX_TENANTS = 5000;
/** Beyond this age a catalog is read again even if no notice came: the net below the notices. */
const MAX_AGE_MS = 60_000;
const MAX_DELETED_IDS = 10_000;

interface Entry {
  loading: Promise<TenantCatalog>;
  loadedAt: number;
  stale: boolean;
}

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

  const load = (tenantId: string, previous: Entry | undefined): Promise<TenantCatalog> => {
    const loading = loadCatalog(storage, tenantId);
    const entry: Entry = { loading, loadedAt: now(), stale: false };
    entries.set(tenantId, entry);
    return loading.catch(error => {
      if (entries.peek(tenantId) !== entry) throw error;
      if (!previous) {
        entries.delete(tenantId);
        throw error;
      }
      entries.set(tenantId, { ...previous, loadedAt: now(), stale: true }); // asked again by the next request
      return previous.loading;
    });
  };

  return {
    of(tenantId) {
      const entry = entries.get(tenantId);
      if (entry && !entry.stale && now() - entry.loadedAt < MAX_AGE_MS) return entry.loading;
      return load(tenantId, entry);
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
  const versionOf = new Map(versions.map(version => [`${version.question_id}/${version.version}`, version]));
  const deleted = new Set(deletedIds);
  return {
    cooldownDays: tenant?.cooldown_days ?? DEFAULT_COOLDOWN_DAYS,
    live: questions.filter(question => question.status === 'live'),
    questions: new Map(questions.map(question => [question.id, question])),
    ignoringCooldown: new Set(questions.filter(question => question.frequency.ignore_cooldown).map(({ id }) => id)),
    version: (questionId, version) => versionOf.get(`${questionId}/${version}`),
    isDeleted: answerId => deleted.has(answerId),
  };
}
