import type { LedgerEntry } from './ledger.ts';

/** A row of the database: a stored or quarantined answer with its tenant and identity. */
export interface FoundAnswer {
  tenant: string;
  id: string;
  identity: string;
  /** The number of its latest revision; 1 if absent. */
  revision?: number;
}

/** The service's own counts of a tenant. */
export interface Totals {
  tenant: string;
  stored: number;
  quarantined: number;
}

/** The input of a verdict. */
export interface Evidence {
  sent: LedgerEntry[];
  stored: FoundAnswer[];
  quarantined: FoundAnswer[];
  totals: Totals[];
}

/** A broken promise. */
export type Violation = {
  /**
   * lost: acknowledged but missing. doubled: more than one row, or counted more than once. misplaced: under a tenant or
   * identity that did not send it. unexplained: a row that was never sent, or whose requests were all rejected.
   */
  kind: 'lost' | 'doubled' | 'misplaced' | 'unexplained';
  detail: string;
};

export interface Verdict {
  sent: number;
  acknowledged: number;
  stored: number;
  quarantined: number;
  violations: Violation[];
}

const keyOf = ({ tenant, id, identity }: FoundAnswer): string => `${tenant} ${id} ${identity}`;
const rowKeyOf = ({ tenant, id }: FoundAnswer): string => `${tenant} ${id}`;

/** Compares acknowledged with stored answers, in both directions. */
export function judge({ sent, stored, quarantined, totals }: Evidence): Verdict {
  const violations: Violation[] = [];
  const complain = (kind: Violation['kind'], detail: string) => violations.push({ kind, detail });
  const kept = new Set([...stored, ...quarantined].map(keyOf));
  const known = new Map(sent.map(entry => [keyOf(entry), entry]));
  const knownIds = new Set(sent.map(entry => entry.id));

  for (const entry of sent)
    if (entry.fate === 'acknowledged' && !kept.has(keyOf(entry))) complain('lost', keyOf(entry));
  for (const key of repeated(stored.map(rowKeyOf))) complain('doubled', `two rows: ${key}`);
  for (const row of [...stored, ...quarantined]) {
    const entry = known.get(keyOf(row));
    if (entry && entry.fate !== 'refused') continue;
    if (entry) complain('unexplained', `refused and there all the same: ${keyOf(row)}`);
    else complain(knownIds.has(row.id) ? 'misplaced' : 'unexplained', keyOf(row));
  }
  for (const detail of miscounted(totals, stored, quarantined)) complain('doubled', detail);
  return {
    sent: sent.length,
    acknowledged: sent.filter(entry => entry.fate === 'acknowledged').length,
    stored: stored.length,
    quarantined: quarantined.length,
    violations,
  };
}

function* repeated(keys: string[]): Iterable<string> {
  const seen = new Set<string>();
  for (const key of keys) {
    if (seen.has(key)) yield key;
    seen.add(key);
  }
}

/**
 * Totals that do not match the rows. Each revision of an answer is stored at most once: a larger total means that a job
 * counted twice, although the primary key prevented a second row.
 */
function* miscounted(totals: Totals[], stored: FoundAnswer[], quarantined: FoundAnswer[]): Iterable<string> {
  const rows = sumByTenant(stored, () => 1);
  const revisions = sumByTenant(stored, ({ revision = 1 }) => revision);
  const kept = sumByTenant(quarantined, () => 1);
  for (const { tenant, ...counted } of totals) {
    const limits = {
      stored: [rows.get(tenant) ?? 0, revisions.get(tenant) ?? 0],
      quarantined: [kept.get(tenant) ?? 0, kept.get(tenant) ?? 0],
    } as const;
    for (const total of ['stored', 'quarantined'] as const) {
      const [least, most] = limits[total];
      if (counted[total] < least || counted[total] > most)
        yield `${tenant} counts ${counted[total]} ${total} and has ${least} rows of ${most} revisions`;
    }
  }
}

function sumByTenant(found: FoundAnswer[], numberOf: (answer: FoundAnswer) => number): Map<string, number> {
  const sums = new Map<string, number>();
  for (const answer of found) sums.set(answer.tenant, (sums.get(answer.tenant) ?? 0) + numberOf(answer));
  return sums;
}
