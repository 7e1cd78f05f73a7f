import { type AnswerRules, earlierRules } from '../domain/questions.ts';
import type { Caches } from '../platform/caches.ts';
import { createGroupCommit, type GroupCommit } from '../platform/group-commit.ts';
import type { Storage } from '../storage/orm.ts';
import {
  findPresentVersions,
  findVersionRules,
  type NamedVersion,
  type VersionRulesRow,
} from '../storage/questions.ts';

/** What answers name and no catalog has: looked up by key, one query at a time for each tenant, and kept. */
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

/** A question's version as one text. */
export const versionKey = (questionId: string, version: number): string => `${questionId} ${version}`;

/** Heap bytes of the rules of a version, and of each option, which they share with the other versions at best. */
const RULES_BYTES = 500;
const OPTION_BYTES = 150;
/** How much one query looks up: ten of the largest syncs. */
const MAX_NAMED = 1000;

export function createVersionLookup(storage: Storage, caches: Caches): VersionLookup {
  const known = caches.create<string, AnswerRules>('question_versions', { sizeOf: bytesOf });

  const findPresent = byTenant(async (tenantId, named) => {
    const ids = [...new Set(named.map(({ questionId }) => questionId))];
    const rows = await findPresentVersions(storage.forTenant(tenantId), ids);
    return new Map(rows.map(({ id, version }) => [id, version]));
  });
  const findVarying = byTenant(async (tenantId, named) => {
    const rows = await findVersionRules(storage.forTenant(tenantId), named);
    return new Map(rows.map(row => [versionKey(row.question_id, row.version), row]));
  });

  const readRules = async (tenantId: string, named: PresentRules[]): Promise<Map<string, AnswerRules>> => {
    const rows: ReadonlyMap<string, VersionRulesRow> = await findVarying(tenantId, named);
    const found = new Map<string, AnswerRules>();
    for (const { questionId, version, present } of named) {
      const key = versionKey(questionId, version);
      const row = rows.get(key);
      if (row) found.set(key, earlierRules(present, row.config));
    }
    for (const [key, rules] of found) known.set(`${tenantId} ${key}`, rules);
    return found;
  };

  return {
    async isAnyPublished(tenantId, named) {
      const versions = await findPresent(tenantId, named);
      return named.some(({ questionId, version }) => version <= (versions.get(questionId) ?? 0));
    },
    async findRules(tenantId, named) {
      const found = new Map<string, AnswerRules>();
      const missing = named.filter(({ questionId, version }) => {
        const key = versionKey(questionId, version);
        const rules = known.peek(`${tenantId} ${key}`);
        known.count(rules !== undefined);
        if (rules) found.set(key, rules);
        return !rules;
      });
      return missing.length === 0 ? found : new Map([...found, ...(await readRules(tenantId, missing))]);
    },
  };
}

const bytesOf = ({ config }: AnswerRules): number =>
  RULES_BYTES + ('options' in config ? OPTION_BYTES * config.options.length : 0);

/** Runs a query for what many ask at once: while one is under way for a tenant, all who come wait for the next together. */
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
