import { stepBytes } from '../../domain/cards/rule-bytes.ts';
import { type AnswerRules, earlierRules, followUpRules, type StepRules } from '../../domain/questions/questions.ts';
import type { Caches } from '../../platform/caches.ts';
import { createGroupCommit, type GroupCommit } from '../../platform/group-commit.ts';
import type { Storage } from '../../storage/database/orm.ts';
import {
  findPresentVersions,
  findVersionRules,
  type NamedVersion,
  type VersionRulesRow,
} from '../../storage/questions/questions.ts';

/**
 * Looks up question versions that are not in the catalog: by key, through a cache, with one query at a time per tenant.
 */
export interface VersionLookup {
  /** Returns whether the database has a published question of one of the ids, in the named version or a later one. */
  isAnyPublished(tenantId: string, named: NamedVersion[]): Promise<boolean>;
  /** Returns the rules of earlier versions by `versionKey`, given those of the current ones. */
  findRules(tenantId: string, named: PresentRules[]): Promise<ReadonlyMap<string, AnswerRules>>;
}

/** An earlier version, with the rules of the question's current one. */
export interface PresentRules extends NamedVersion {
  present: AnswerRules;
}

/** The rules of a version that may differ from those of the current one. */
interface Varying {
  config: VersionRulesRow['config'];
  followUps: StepRules[];
}

/** A question's version as a key. */
export const versionKey = (questionId: string, version: number): string => `${questionId} ${version}`;

/** Heap bytes of the varying part of a version's config, with its key. */
const VARYING_BYTES = 230;
const sizeOf = ({ followUps }: Varying): number => VARYING_BYTES + stepBytes(followUps);
/** Versions per query: ten of the largest syncs. */
const MAX_NAMED = 1000;

export function createVersionLookup(storage: Storage, caches: Caches): VersionLookup {
  /** Excludes scale and options of the question itself, which would keep those of an old catalog in memory. */
  const known = caches.create<string, Varying>('question_versions', { sizeOf });

  const findPresent = byTenant(async (tenantId, named) => {
    const ids = [...new Set(named.map(({ questionId }) => questionId))];
    const rows = await findPresentVersions(storage.forTenant(tenantId), ids);
    return new Map(rows.map(({ id, version }) => [id, version]));
  });
  const findVarying = byTenant(async (tenantId, named) => {
    const rows = await findVersionRules(storage.forTenant(tenantId), named);
    return new Map(rows.map(row => [versionKey(row.question_id, row.version), row]));
  });

  /** Reads from the cache, and the rest from the database. */
  const findAll = async (tenantId: string, named: NamedVersion[]): Promise<ReadonlyMap<string, Varying>> => {
    const found = new Map<string, Varying>();
    const missing = named.filter(({ questionId, version }) => {
      const key = versionKey(questionId, version);
      const varying = known.peek(`${tenantId} ${key}`);
      known.count(varying !== undefined);
      if (varying) found.set(key, varying);
      return !varying;
    });
    if (missing.length === 0) return found;
    const rows = await findVarying(tenantId, missing);
    for (const { questionId, version } of missing) {
      const key = versionKey(questionId, version);
      const row = rows.get(key);
      if (!row) continue;
      const varying = { config: row.config, followUps: row.follow_ups.map(followUpRules) };
      known.set(`${tenantId} ${key}`, varying);
      found.set(key, varying);
    }
    return found;
  };

  return {
    async isAnyPublished(tenantId, named) {
      const versions = await findPresent(tenantId, named);
      return named.some(({ questionId, version }) => version <= (versions.get(questionId) ?? 0));
    },
    async findRules(tenantId, named) {
      const found = await findAll(tenantId, named);
      const rules = new Map<string, AnswerRules>();
      for (const { questionId, version, present } of named) {
        const varying = found.get(versionKey(questionId, version));
        if (varying)
          rules.set(versionKey(questionId, version), earlierRules(present, varying.config, varying.followUps));
      }
      return rules;
    },
  };
}

/** Groups lookups by tenant: those that arrive while a query is running share the next one. */
function byTenant<Result>(
  query: (tenantId: string, named: NamedVersion[]) => Promise<Result>,
): (tenantId: string, named: NamedVersion[]) => Promise<Result> {
  const groups = new Map<string, { commit: GroupCommit<NamedVersion[], Result>; callers: number }>();
  const open = (tenantId: string) => ({
    callers: 0,
    commit: createGroupCommit<NamedVersion[], Result>({
      flush: async items => {
        const result = await query(tenantId, items.flat());
        return items.map(() => result);
      },
      maxInFlight: 1,
      weigh: item => [item.length],
      maxWeights: [MAX_NAMED],
    }),
  });
  return async (tenantId, named) => {
    const group = groups.get(tenantId) ?? open(tenantId);
    groups.set(tenantId, group);
    group.callers++;
    try {
      return await group.commit.add(named);
    } finally {
      if (--group.callers === 0) groups.delete(tenantId);
    }
  };
}
