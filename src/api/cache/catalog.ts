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
import { cardTail } from './card-tail.ts';
import { createVersionLookup, type PresentRules, versionKey } from './version-lookup.ts';

/** A live question as card lists need it. */
export interface LiveQuestion {
  id: string;
  allow_public: boolean;
  frequency: Frequency;
  /** The part of its card that is the same for everyone: the JSON after the id. */
  cardTail: string;
}

/** The terms by which answers to a published question are judged. */
export interface QuestionTerms {
  /** The present version. Every version from 1 on exists. */
  version: number;
  /** How often its card may return to one user. */
  repeat: Frequency['repeat'];
  closedAt: Date | null;
  /** The rules of the present version; absent once the question takes no more answers. */
  rules: AnswerRules | undefined;
}

/** What a process holds of one tenant so that intake and cards need no row: questions, versions, deleted ids. */
export interface TenantCatalog {
  /** Differs between any two catalogs of a process, also between two readings of the same tenant. */
  generation: number;
  cooldownDays: number;
  /** Whether a card was handed out to one of its users before. */
  hadCards: boolean;
  /** Live questions in the order in which cards are handed out. */
  live: LiveQuestion[];
  /** Every question that was ever published. */
  questions: ReadonlyMap<string, QuestionTerms>;
  /** Ids of questions that stand outside the cooldown. */
  ignoringCooldown: ReadonlySet<string>;
  /** The rules of a version, where they are in memory: of the present one and the nine before it. */
  rulesOf(questionId: string, version: number): AnswerRules | undefined;
  isDeleted(answerId: string): boolean;
  /** Estimated bytes of all of this. */
  bytes: number;
}

export interface Catalog {
  /** The tenant's catalog. While the database is away the last one known; rejects when there is none. */
  of(tenantId: string): Promise<TenantCatalog>;
  /** The same at once, where nothing has to be read for it. */
  held(tenantId: string): TenantCatalog | undefined;
  /**
   * A catalog that has the named versions, as far as they exist: earlier ones are read by themselves, and the catalog is
   * read again only if the database has a version that it lacks, the notice of which may be on its way.
   *
   * Rejects with `database-unavailable` when the database cannot be asked: whether they exist is not known then.
   */
  including(tenantId: string, named: NamedVersion[]): Promise<TenantCatalog>;
}

/** Beyond this age a catalog is read again even if no notice came: the net below the notices. */
const MAX_AGE_MS = 60_000;
const MAX_DELETED_IDS = 10_000;
/** How often a database that is away is asked again; nobody who can be served from memory waits for that. */
const RETRY_MS = 1000;
const DAY_MS = 86_400_000;
/** For how long a closed question is loaded with its rules: a day longer than it takes answers, for clocks that differ. */
const CLOSED_LOADED_MS = (CLOSED_GRACE_DAYS + 1) * DAY_MS;

/** A catalog that was read. */
interface Held {
  catalog: TenantCatalog;
  /** When the reading began: the catalog has everything that was committed before. */
  readAt: number;
  number: number;
  /** Whether a change was announced since. */
  isStale: boolean;
  /** When the database was last found to be away; undefined while it is there. */
  awaySince: number | undefined;
}

/** A reading under way. */
interface Reading {
  /** Readings are numbered as they begin. */
  number: number;
  isStale: boolean;
  done: Promise<TenantCatalog>;
  /** The reading after this one, for callers that arrived when this one was already stale. */
  next?: Promise<TenantCatalog>;
}

const isOutage = (error: unknown): boolean => error instanceof Problem && error.kind === 'unavailable';

/** The catalogs of the tenants that this process serves, kept true by change notices. */
export function createCatalog(
  storage: Storage,
  notices: Notices,
  caches: Caches,
  now: () => number = Date.now,
): Catalog {
  const entries = caches.create<string, Held>('catalogs', {
    sizeOf: ({ catalog }) => catalog.bytes,
    keepsOversized: true, // without it the tenant's answers would need the database
  });
  const readings = new Map<string, Reading>();
  /** How many readings have begun. */
  let begun = 0;
  const versions = createVersionLookup(storage, caches);

  notices.onChange(({ table, tenant_id }) => {
    if (table === 'api_keys') return;
    for (const known of [entries.peek(tenant_id), readings.get(tenant_id)]) if (known) known.isStale = true;
  });
  notices.onGap(() => {
    for (const known of [...entries.values(), ...readings.values()]) known.isStale = true;
  });

  const isFresh = ({ isStale, readAt, awaySince }: Held): boolean =>
    !isStale && awaySince === undefined && now() - readAt < MAX_AGE_MS;

  const begin = (tenantId: string): Promise<TenantCatalog> => {
    const startedAt = now();
    const number = ++begun;
    const done = loadCatalog(storage, tenantId, startedAt).then(
      catalog => {
        readings.delete(tenantId);
        entries.set(tenantId, { catalog, readAt: startedAt, number, isStale: reading.isStale, awaySince: undefined });
        return catalog;
      },
      error => {
        readings.delete(tenantId);
        const known = entries.peek(tenantId);
        if (!known || !isOutage(error)) throw error;
        known.awaySince = startedAt;
        return known.catalog;
      },
    );
    const reading: Reading = { number, isStale: false, done };
    readings.set(tenantId, reading);
    return done;
  };

  /** Runs one reading per tenant at a time. Callers that arrive after a change wait for the next reading. */
  const read = (
    tenantId: string,
    isRecent: (reading: Reading) => boolean = ({ isStale }) => !isStale,
  ): Promise<TenantCatalog> => {
    const current = readings.get(tenantId);
    if (!current) return begin(tenantId);
    if (isRecent(current)) return current.done;
    const again = () => read(tenantId, isRecent);
    current.next ??= current.done.then(again, again);
    return current.next;
  };

  const held = (tenantId: string): TenantCatalog | undefined => {
    const known = entries.peek(tenantId);
    const isHit = known !== undefined && isFresh(known);
    entries.count(isHit);
    return isHit ? known.catalog : undefined;
  };

  /** The catalog of a reading that began later than the one of that number. */
  const readAfter = (tenantId: string, last: number): Promise<TenantCatalog> => {
    const known = entries.peek(tenantId);
    if (known && isFresh(known) && known.number > last) return Promise.resolve(known.catalog);
    return read(tenantId, ({ isStale, number }) => !isStale && number > last);
  };

  const of = async (tenantId: string): Promise<TenantCatalog> => {
    const known = entries.peek(tenantId);
    if (known && isFresh(known)) return known.catalog;
    if (known?.awaySince === undefined) return read(tenantId);
    const asked = now() - known.awaySince < RETRY_MS ? undefined : read(tenantId);
    asked?.catch(() => undefined); // a failure that is no outage is met by the next caller, who waits for it
    return known.catalog;
  };

  return {
    of,
    held,
    async including(tenantId, named) {
      let tenant = await of(tenantId);
      const ahead = named.filter(
        ({ questionId, version }) => !(version <= (tenant.questions.get(questionId)?.version ?? 0)),
      );
      if (ahead.length > 0 && entries.peek(tenantId)?.awaySince !== undefined)
        throw new Problem('database-unavailable', 'The question cannot be read right now.', { retryAfterSeconds: 5 });
      if (ahead.length > 0 && (await versions.isAnyPublished(tenantId, ahead)))
        tenant = await readAfter(tenantId, begun);
      const earlier = named.flatMap(name => findPresentRules(name, tenant));
      return earlier.length === 0 ? tenant : withRules(tenant, await versions.findRules(tenantId, earlier));
    },
  };
}

/** The present rules of a question of which an earlier version is named that takes answers and is not in memory. */
function findPresentRules({ questionId, version }: NamedVersion, tenant: TenantCatalog): PresentRules[] {
  const terms = tenant.questions.get(questionId);
  const isMissing = terms?.rules && version < terms.version && !tenant.rulesOf(questionId, version);
  return isMissing ? [{ questionId, version, present: terms.rules as AnswerRules }] : [];
}

/** The catalog with rules that were looked up for one request. */
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
    cardTail: cardTail(row),
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

/** Rules of earlier versions by question; versions of one question that differ in their texts alone share theirs. */
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

/** Whether two rules of one question are the same: beyond scale and options a config has five fields at most. */
const isSame = (one: AnswerRules, other: AnswerRules): boolean => {
  const [a, b] = [one.config as Record<string, unknown>, other.config as Record<string, unknown>];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every(name => name === 'options' || a[name] === b[name]);
};

const HELD_BYTES = 1000;
const LIVE_BYTES = 400;
const TERMS_BYTES = 400;
const OPTION_BYTES = 110;
const EARLIER_BYTES = 180;
const DELETED_BYTES = 100;

const bytesOf = ({ terms, earlier }: PublishedQuestions, live: LiveQuestion[], deleted: number): number =>
  HELD_BYTES +
  live.reduce((sum, question) => sum + LIVE_BYTES + textBytes(question.cardTail), 0) +
  terms.reduce((sum, { config }) => sum + TERMS_BYTES + OPTION_BYTES * countOptions(config), 0) +
  earlier.length * EARLIER_BYTES +
  deleted * DELETED_BYTES;

const countOptions = (config: QuestionTermsRow['config']): number =>
  config && 'options' in config ? config.options.length : 0;
