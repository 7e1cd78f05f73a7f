import { type AnswerRules, earlierRules } from '../../domain/questions.ts';
import type { Caches } from '../../platform/caches.ts';
import { createGroupCommit, type GroupCommit } from '../../platform/group-commit.ts';
import type { Storage } from '../../storage/orm.ts';
import {
  findPresentVersions,
  findVersionRules,
  type NamedVersion,
  type VersionRulesRow,
} from '../../storage/questions.ts';

/** Looks up question versions that no catalog holds: by key, with one query at a time per tenant, through a cache. */
export interface VersionLookup {
  /** Whether the database has a published question of one of the ids, in the named version or a later one. */
  isAnyPublished(tenantId: string, named: NamedVersion[]): Promise<boolean>;
  /** The rules of earlier versions by `versionKey`, given those of the present ones. */
  findRules(tenantId: string, named: PresentRules[]): Promise<ReadonlyMap<string, AnswerRules>>;
}

/** An earlier version, and the rules of the question's present one. */
export interface PresentRules extends NamedVersion {
  present: AnswerRules;
}

type Varying = VersionRulesRow['config'];

/** A question's version as one text. */
export const versionKey = (questionId: string, version: number): string => `${questionId} ${version}`;

/** Heap bytes of the varying part of a version's config, with its key. */
const VARYING_BYTES = 200;
/** Versions per query: ten of the largest syncs. */
const MAX_NAMED = 1000;

export function createVersionLookup(storage: Storage, caches: Caches): VersionLookup {
  /** Without scale and options, which would keep those of an old catalog alive. */
  const known = caches.create<string, Varying>('question_versions', { sizeOf: () => VARYING_BYTES });

  const findPresent = byTenant(async (tenantId, named) => {
    const ids = [...new Set(named.map(({ questionId }) => questionId))];
    const rows = await findPresentVersions(storage.forTenant(tenantId), ids);
    return new Map(rows.map(({ id, version }) => [id, version]));
  });
  const findVarying = byTenant(async (tenantId, named) => {
    const rows = await findVersionRules(storage.forTenant(tenantId), named);
    return new Map(rows.map(row => [versionKey(row.question_id, row.version), row]));
  });

  /** From the cache, and from the database where it is missing there. */
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
      known.set(`${tenantId} ${key}`, row.config);
      found.set(key, row.config);
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
        if (varying) rules.set(versionKey(questionId, version), earlierRules(present, varying));
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
