import type { Notices } from '../../coordination/notices.ts';
import { CLOSED_GRACE_DAYS } from '../../domain/answers.ts';
import { Problem } from '../../domain/problem.ts';
import { type AnswerRules, answerRules, earlierRules, type Frequency } from '../../domain/questions.ts';
import { DEFAULT_COOLDOWN_DAYS } from '../../domain/tenants.ts';
import { type Caches, textBytes } from '../../platform/caches.ts';
import { listDeletedAnswers } from '../../storage/answers.ts';
import type { Storage } from '../../storage/orm.ts';
import {
  loadPublishedQuestions,
  type NamedVersion,
  type PublishedQuestions,
  type QuestionTermsRow,
  type VersionRulesRow,
} from '../../storage/questions.ts';
import { findTenant } from '../../storage/tenants.ts';
import { cardJsonSuffix } from './card-json.ts';
import { type CachedRead, createCatalogReads } from './catalog-reads.ts';
import { createVersionLookup, type PresentRules, versionKey } from './version-lookup.ts';

/** The fields of a live question that card lists need. */
export interface LiveQuestion {
  id: string;
  allow_public: boolean;
  frequency: Frequency;
  /** The part of its card that is the same for all users: the JSON after the id. */
  cardJsonSuffix: string;
}

/** The rules for accepting answers to a published question. */
export interface QuestionTerms {
  /** The current version. Every version from 1 on exists. */
  version: number;
  /** How often its card may return to one user. */
  repeat: Frequency['repeat'];
  closedAt: Date | null;
  /** The rules of the current version; undefined once the question is closed to answers. */
  rules: AnswerRules | undefined;
}

/** The cached data of one tenant, so that intake and cards need no query: questions, versions, deleted ids. */
export interface TenantCatalog {
  /** Unique among all catalogs of a process, also between two reads of the same tenant. */
  generation: number;
  cooldownDays: number;
  /** Whether one of its users has been shown a card before. */
  hadCards: boolean;
  /** Live questions in the order in which cards are shown. */
  live: LiveQuestion[];
  /** Every question that has ever been published. */
  questions: ReadonlyMap<string, QuestionTerms>;
  /** Ids of questions that ignore the cooldown. */
  ignoringCooldown: ReadonlySet<string>;
  /** The rules of a version if in memory: the current one and the nine before it. */
  rulesOf(questionId: string, version: number): AnswerRules | undefined;
  isDeleted(answerId: string): boolean;
  /** Estimated size in bytes. */
  bytes: number;
}

export interface Catalog {
  /** Returns the tenant's catalog; the last known one while the database is unreachable. Rejects when there is none. */
  of(tenantId: string): Promise<TenantCatalog>;
  /** Returns the catalog synchronously if it is in memory and current. */
  cached(tenantId: string): TenantCatalog | undefined;
  /**
   * Returns a catalog with the named versions, if they exist. Earlier versions are read separately. The catalog itself
   * is read again only if the database has a later version, whose notice may not have arrived yet.
   *
   * Rejects with `database-unavailable` when the database is unreachable: whether the versions exist is then unknown.
   */
  including(tenantId: string, named: NamedVersion[]): Promise<TenantCatalog>;
}

const MAX_DELETED_IDS = 10_000;
const DAY_MS = 86_400_000;
/** How long a closed question is loaded with its rules: a day longer than it accepts answers, for clock differences. */
const CLOSED_LOADED_MS = (CLOSED_GRACE_DAYS + 1) * DAY_MS;

/** The catalogs of the tenants that this process serves, updated by change notices. */
export function createCatalog(
  storage: Storage,
  notices: Notices,
  caches: Caches,
  now: () => number = Date.now,
): Catalog {
  const entries = caches.create<string, CachedRead<TenantCatalog>>('catalogs', {
    sizeOf: ({ value }) => value.bytes,
    keepsOversized: true, // without it the tenant's answers would need the database
  });
  const reads = createCatalogReads({ entries, load: (tenantId, at) => loadCatalog(storage, tenantId, at), now });
  const versions = createVersionLookup(storage, caches);

  notices.onChange(({ table, tenant_id }) => {
    if (table !== 'api_keys') reads.markStale(tenant_id);
  });
  notices.onGap(() => reads.markAllStale());

  return {
    of: reads.of,
    cached: reads.cached,
    async including(tenantId, named) {
      let tenant = await reads.of(tenantId);
      const ahead = named.filter(
        ({ questionId, version }) => !(version <= (tenant.questions.get(questionId)?.version ?? 0)),
      );
      if (ahead.length > 0 && reads.isAway(tenantId))
        throw new Problem('database-unavailable', 'The question cannot be read right now.', { retryAfterSeconds: 5 });
      if (ahead.length > 0 && (await versions.isAnyPublished(tenantId, ahead))) tenant = await reads.refresh(tenantId);
      const earlier = named.flatMap(name => findPresentRules(name, tenant));
      return earlier.length === 0 ? tenant : withRules(tenant, await versions.findRules(tenantId, earlier));
    },
  };
}

/**
 * Returns the current rules of a question if an earlier version of it is named that is not in memory and the question
 * accepts answers.
 */
function findPresentRules({ questionId, version }: NamedVersion, tenant: TenantCatalog): PresentRules[] {
  const terms = tenant.questions.get(questionId);
  const isMissing = terms?.rules && version < terms.version && !tenant.rulesOf(questionId, version);
  return isMissing ? [{ questionId, version, present: terms.rules as AnswerRules }] : [];
}

/** The catalog with additional rules that were looked up for one request. */
const withRules = (tenant: TenantCatalog, found: ReadonlyMap<string, AnswerRules>): TenantCatalog => ({
  ...tenant,
  rulesOf: (questionId, version) => tenant.rulesOf(questionId, version) ?? found.get(versionKey(questionId, version)),
});

let generations = 0;

async function loadCatalog(storage: Storage, tenantId: string, at: number): Promise<TenantCatalog> {
  const scope = storage.forTenant(tenantId);
  const [tenant, published, deletedIds] = await Promise.all([
    findTenant(scope),
    loadPublishedQuestions(scope, new Date(at - CLOSED_LOADED_MS)),
    listDeletedAnswers(scope, MAX_DELETED_IDS),
  ]);
  const deleted = new Set(deletedIds);
  const live = published.live.map(row => ({
    id: row.id,
    allow_public: row.allow_public,
    frequency: row.frequency,
    cardJsonSuffix: cardJsonSuffix(row),
  }));
  const questions = new Map(published.terms.map(row => [row.id, termsOf(row)]));
  const earlier = gatherRules(published.earlier, questions);
  const ignoringCooldown = new Set(published.terms.filter(row => row.ignore_cooldown).map(({ id }) => id));
  return {
    generation: ++generations,
    cooldownDays: tenant?.cooldown_days ?? DEFAULT_COOLDOWN_DAYS,
    hadCards: Boolean(tenant?.first_card_at),
    live,
    questions,
    ignoringCooldown,
    rulesOf(questionId, version) {
      const terms = questions.get(questionId);
      return terms?.version === version ? terms.rules : earlier.get(questionId)?.get(version);
    },
    isDeleted: answerId => deleted.has(answerId),
    bytes: bytesOf(published, live, deleted.size),
  };
}

const termsOf = ({ version, type, config, repeat, closed_at }: QuestionTermsRow): QuestionTerms => ({
  version,
  repeat,
  closedAt: closed_at,
  rules: config ? answerRules({ type, config }) : undefined,
});

/** Rules of earlier versions by question. Versions that differ only in their texts share one object. */
function gatherRules(
  rows: VersionRulesRow[],
  questions: ReadonlyMap<string, QuestionTerms>,
): Map<string, Map<number, AnswerRules>> {
  const gathered = new Map<string, Map<number, AnswerRules>>();
  for (const row of rows) {
    const present = questions.get(row.question_id)?.rules;
    if (!present) continue;
    const versions = gathered.get(row.question_id) ?? new Map<number, AnswerRules>();
    const rules = earlierRules(present, row.config);
    const same = [present, ...versions.values()].find(known => isSame(known, rules));
    versions.set(row.version, same ?? rules);
    gathered.set(row.question_id, versions);
  }
  return gathered;
}

/** Whether two rules of one question are equal. Besides scale and options, a config has at most five fields. */
const isSame = (one: AnswerRules, other: AnswerRules): boolean => {
  const [a, b] = [one.config as Record<string, unknown>, other.config as Record<string, unknown>];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every(name => name === 'options' || a[name] === b[name]);
};

const CATALOG_BYTES = 1000;
const LIVE_BYTES = 400;
const TERMS_BYTES = 400;
const OPTION_BYTES = 110;
const EARLIER_BYTES = 180;
const DELETED_BYTES = 100;

const bytesOf = ({ terms, earlier }: PublishedQuestions, live: LiveQuestion[], deleted: number): number =>
  CATALOG_BYTES +
  live.reduce((sum, question) => sum + LIVE_BYTES + textBytes(question.cardJsonSuffix), 0) +
  terms.reduce((sum, { config }) => sum + TERMS_BYTES + OPTION_BYTES * countOptions(config), 0) +
  earlier.length * EARLIER_BYTES +
  deleted * DELETED_BYTES;

const countOptions = (config: QuestionTermsRow['config']): number =>
  config && 'options' in config ? config.options.length : 0;
