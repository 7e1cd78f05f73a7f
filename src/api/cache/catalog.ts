import type { Notices } from '../../coordination/notices.ts';
import { CLOSED_GRACE_DAYS } from '../../domain/answers/answers.ts';
import { cardPlacement } from '../../domain/cards/cards.ts';
import { createAudienceCompiler } from '../../domain/cards/compiled-audiences.ts';
import { compileRules, type Rule } from '../../domain/cards/decisions.ts';
import { conditionBytes, optionBytes, stepBytes } from '../../domain/cards/rule-bytes.ts';
import { DAY_MS } from '../../domain/durations.ts';
import { canonicalJson } from '../../domain/json.ts';
import { indexLocales, type LocaleIndex } from '../../domain/locales.ts';
import { Problem } from '../../domain/problem.ts';
import {
  type AnswerRules,
  answerRules,
  earlierRules,
  followUpRules,
  type StepRules,
} from '../../domain/questions/questions.ts';
import { completeAppearance, drawnAppearance, type Placement } from '../../domain/rules/appearance.ts';
import type { AudienceNode } from '../../domain/rules/audiences.ts';
import type { Frequency } from '../../domain/rules/card-rules.ts';
import { DEFAULT_COOLDOWN_DAYS, DEFAULT_LOCALE } from '../../domain/tenants.ts';
import { type Caches, textBytes } from '../../platform/caches.ts';
import { createTurns } from '../../platform/turns.ts';
import { listDeletedAnswers } from '../../storage/answers/answers.ts';
import type { Storage } from '../../storage/database/orm.ts';
import {
  type LiveQuestionRow,
  loadPublishedQuestions,
  type NamedVersion,
  type PublishedQuestions,
  type QuestionTermsRow,
  type VersionRulesRow,
} from '../../storage/questions/questions.ts';
import { findTenant } from '../../storage/tenants/tenants.ts';
import { shortHash } from '../http/etag.ts';
import { type CardContext, createContextKeys } from './card-contexts.ts';
import { type CardLanguages, renderCards } from './card-json.ts';
import { type CachedRead, createCatalogReads } from './catalog-reads.ts';
import { createVersionLookup, type PresentRules, versionKey } from './version-lookup.ts';

/** The fields of a live question that card lists need. */
export interface LiveQuestion {
  id: string;
  /** Its card in each language, without the id. */
  cards: CardLanguages;
}

/** The rules for accepting answers to a published question. */
export interface QuestionTerms {
  /** The current version. Every version from 1 on exists. */
  version: number;
  /** How often its card may return to one user. */
  repeat: Frequency['repeat'];
  /** Length of the periods of `every_days`. */
  everyDays: number | null;
  closedAt: Date | null;
  /** The rules of the current version; undefined once the question is closed to answers. */
  rules: AnswerRules | undefined;
}

/** The cached data of one tenant, so that intake and cards need no query: questions, versions, deleted ids. */
export interface TenantCatalog {
  /**
   * A hash of everything that decides on cards, of their texts and appearance. It stays the same when a draft, an answer or
   * anything else changes.
   */
  liveDigest: string;
  cooldownDays: number;
  defaultLocale: string;
  /** The languages of live questions. */
  locales: LocaleIndex;
  /** How clients draw cards, as JSON. */
  appearance: string;
  /** Where questions without a placement of their own appear; also in `appearance`. */
  placement: Placement;
  /** Whether one of its users has been shown a card before. */
  hadCards: boolean;
  /** Live questions in the order in which cards are shown. */
  live: LiveQuestion[];
  /** The rule of each live question. */
  rules: Rule[];
  /** A key of the facts about the device that live questions distinguish. */
  contextOf(context: CardContext): string;
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
      if (ahead.length > 0 && !(await reads.isReachable(tenantId)))
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

async function loadCatalog(storage: Storage, tenantId: string, at: number): Promise<TenantCatalog> {
  const scope = storage.forTenant(tenantId);
  const [tenant, published, deletedIds] = await Promise.all([
    findTenant(scope),
    loadPublishedQuestions(scope, new Date(at - CLOSED_LOADED_MS)),
    listDeletedAnswers(scope, MAX_DELETED_IDS),
  ]);
  const drawn = drawnAppearance(completeAppearance(tenant?.appearance ?? {}));
  const deleted = new Set(deletedIds);
  const turns = createTurns();
  const live: LiveQuestion[] = [];
  for (const row of published.live) {
    live.push(toLiveQuestion({ ...row, placement: cardPlacement(row, drawn.placement) }));
    await turns(); // a tenant can have 200 questions in many languages
  }
  const audiences = createAudienceCompiler();
  const rules = compileRules(published.live, audiences);
  const questions = new Map(published.terms.map(row => [row.id, termsOf(row)]));
  const earlier = gatherRules(published.earlier, questions);
  const ignoringCooldown = new Set(published.terms.filter(row => row.ignore_cooldown).map(({ id }) => id));
  const cooldownDays = tenant?.cooldown_days ?? DEFAULT_COOLDOWN_DAYS;
  const defaultLocale = tenant?.default_locale ?? DEFAULT_LOCALE;
  const appearance = JSON.stringify(drawn);
  return {
    liveDigest: shortHash(
      JSON.stringify([
        cooldownDays,
        defaultLocale,
        appearance,
        [...ignoringCooldown].sort(),
        live.map(textParts),
        published.live.map(ruleParts),
      ]),
    ),
    cooldownDays,
    defaultLocale,
    locales: indexLocales(live.flatMap(({ cards }) => [...cards.texts.keys()])),
    appearance,
    placement: drawn.placement,
    hadCards: Boolean(tenant?.first_card_at),
    live,
    rules,
    contextOf: createContextKeys(published.live),
    questions,
    ignoringCooldown,
    rulesOf(questionId, version) {
      const terms = questions.get(questionId);
      return terms?.version === version ? terms.rules : earlier.get(questionId)?.get(version);
    },
    isDeleted: answerId => deleted.has(answerId),
    bytes: bytesOf(published, live, audiences.conditions(), deleted.size),
  };
}

const toLiveQuestion = (row: LiveQuestionRow): LiveQuestion => ({
  id: row.id,
  cards: renderCards(row),
});

const textParts = ({ id, cards }: LiveQuestion) => [
  ...[id, cards.own],
  ...[...cards.texts].map(([locale, { tag }]) => [locale, tag]),
];

/** The rules of a question that decide on its card. Whether it is scheduled or live, the clock decides. */
const ruleParts = ({ audience, start_at, end_at, trigger, frequency, ...rules }: LiveQuestionRow) => [
  ...[audience, start_at, end_at, trigger, frequency],
  ...[rules.sampling_percent, rules.response_limit, rules.allow_public, rules.full_until],
];

const termsOf = ({
  version,
  type,
  config,
  follow_ups,
  repeat,
  every_days,
  closed_at,
}: QuestionTermsRow): QuestionTerms => ({
  version,
  repeat,
  everyDays: every_days,
  closedAt: closed_at,
  rules: config ? answerRules({ type, config, follow_ups }) : undefined,
});

/** Rules of earlier versions by question. Versions that differ only in their texts share one object. */
function gatherRules(
  rows: VersionRulesRow[],
  questions: ReadonlyMap<string, QuestionTerms>,
): Map<string, Map<number, AnswerRules>> {
  const gathered = new Map<string, Map<number, AnswerRules>>();
  const shareSteps = createSharedSteps();
  const shared = new Map<VersionRulesRow['follow_ups'], StepRules[]>();
  for (const { rules } of questions.values()) if (rules) shareSteps(rules.slice(1));
  for (const row of rows) {
    const present = questions.get(row.question_id)?.rules;
    if (!present) continue;
    const versions = gathered.get(row.question_id) ?? new Map<number, AnswerRules>();
    const steps = shared.get(row.follow_ups) ?? shareSteps(row.follow_ups.map(followUpRules));
    shared.set(row.follow_ups, steps);
    const rules = earlierRules(present, row.config, steps);
    const same = [present, ...versions.values()].find(known => isSame(known, rules));
    versions.set(row.version, same ?? rules);
    gathered.set(row.question_id, versions);
  }
  return gathered;
}

/** Whether two rules of one question are equal. Besides scale and options, a config has at most five fields. */
const isSame = (one: AnswerRules, other: AnswerRules): boolean => {
  const [a, b] = [one[0].config as Record<string, unknown>, other[0].config as Record<string, unknown>];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  const haveSameMain = [...names].every(name => name === 'options' || a[name] === b[name]);
  return haveSameMain && one.length === other.length && one.slice(1).every((step, index) => step === other[index + 1]);
};

/** Returns a function that replaces steps by equal ones that it received before: most versions differ in texts only. */
function createSharedSteps(): (steps: StepRules[]) => StepRules[] {
  const known = new Map<string, StepRules>();
  return steps =>
    steps.map(step => {
      const form = canonicalJson(step);
      const same = known.get(form) ?? step;
      known.set(form, same);
      return same;
    });
}

const CATALOG_BYTES = 2800;
const LIVE_BYTES = 1100;
/** An audience without its conditions, which it shares with others. */
const AUDIENCE_BYTES = 400;
const LANGUAGE_BYTES = 200;
const TERMS_BYTES = 400;
const EARLIER_BYTES = 180;
const DELETED_BYTES = 100;

/** A question with recalls also keeps the texts from which personal cards are rendered: about as much again. */
function cardBytes({ texts, recalled }: CardLanguages): number {
  let bytes = 0;
  for (const { json } of texts.values()) bytes += LANGUAGE_BYTES + textBytes(json);
  return recalled.size > 0 ? 2 * bytes : bytes;
}

/** An upper bound: equal steps of several versions are stored once. */
const bytesOf = (
  { live: rows, terms, earlier }: PublishedQuestions,
  live: LiveQuestion[],
  conditions: AudienceNode[],
  deleted: number,
): number =>
  CATALOG_BYTES +
  live.reduce((sum, { cards }) => sum + LIVE_BYTES + cardBytes(cards), 0) +
  rows.reduce((sum, { audience }) => sum + (audience ? AUDIENCE_BYTES : 0), 0) +
  conditions.reduce((sum, condition) => sum + conditionBytes(condition), 0) +
  terms.reduce((sum, row) => sum + TERMS_BYTES + optionBytes(row.config) + stepBytes(row.follow_ups), 0) +
  earlier.reduce((sum, row) => sum + EARLIER_BYTES + stepBytes(row.follow_ups), 0) +
  deleted * DELETED_BYTES;
