import { numberUuid } from '../../domain/ids.ts';
import type { Storage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { FLUSHES_AUDITED } from './housekeeping.ts';

/** The flushes that an API process has made durable in the queue: 1 to `written`, without those `voided`. */
export interface Claim {
  producer: string;
  written: number;
  voided: number[];
  /** Flushes in a producer's first claim were made after this time. */
  since: Date;
}

/** Accepted answers that are missing. */
export interface Losses {
  /** Flushes that are neither recorded nor queued. */
  flushes: number;
  /** Answers deleted other than by Parley. */
  answers: number;
}

/** Returns which of these flushes are in the queue. */
export type FindQueued = (flushes: string[]) => Promise<Set<string>>;

/** One auditor at a time, on any machine. */
const AUDIT_LOCK = 7_310_274_002;
/** Flushes of one producer examined per pass and transaction. */
const PASS_SIZE = 10_000;
const KEPT = '1 day';

/** Stores a claim of a process. Repeating it has no effect. */
export const claimFlushes = (storage: Storage, { producer, written, voided, since }: Claim): Promise<unknown> =>
  storage.query(
    `insert into flush_producers (id, written, settled, voided, held, claimed_at, open_since)
     values ($1, $2, 0, $3, '{}', clock_timestamp(), $4)
     on conflict (id) do update set claimed_at = excluded.claimed_at,
       written = greatest(flush_producers.written, excluded.written),
       voided = flush_producers.voided || excluded.voided,
       open_since = case when flush_producers.settled < flush_producers.written or flush_producers.held <> '{}'
         then least(flush_producers.open_since, excluded.open_since) else excluded.open_since end`,
    [producer, written, voided, since],
  );

/** The outcome of an audit. */
export interface Audit {
  /** Ids of flushes found lost by this audit. */
  lost: string[];
  /** Flushes that were too old to examine: their marks may have been removed. */
  skipped: number;
}

/**
 * Finds claimed flushes that are neither recorded nor queued, and stores them as lost.
 *
 * Runs passes until every claim is settled. Flushes that were queued at an earlier audit are examined again in turn,
 * 10,000 per producer and audit, so that an audit costs the same at any backlog. Skipped while another process is
 * auditing.
 */
export async function auditFlushes(storage: Storage, findQueued: FindQueued): Promise<Audit> {
  const audit: Audit = { lost: [], skipped: await skipExpired(storage) };
  for (let recheck = PASS_SIZE, isBehind = true; isBehind; recheck = 0) {
    const pass = await storage.transaction(tx => auditOnce(tx, findQueued, recheck));
    audit.lost.push(...pass.lost);
    isBehind = pass.isBehind;
  }
  return audit;
}

/**
 * Settles old claims without examining them if the marks of their flushes may have been removed. Returns the number of
 * flushes.
 */
async function skipExpired(storage: Storage): Promise<number> {
  const rows = await storage.query<{ flushes: string }>(
    `with expired as (
       select id, written - settled + cardinality(held) as flushes from flush_producers
       where (settled < written or held <> '{}') and open_since < clock_timestamp() - $1::interval for update
     )
     update flush_producers set settled = written, held = '{}', voided = '{}' from expired
     where flush_producers.id = expired.id returning flushes`,
    [FLUSHES_AUDITED],
  );
  return rows.reduce((sum, { flushes }) => sum + Number(flushes), 0);
}

/**
 * Runs one pass. The order makes it correct, because flushes move from the queue to the records: first the claims,
 * which cover only flushes already on disk, then the records, then the queue, and for missing flushes the records
 * again.
 */
async function auditOnce(
  tx: Transaction,
  findHeld: FindQueued,
  recheck: number,
): Promise<{ lost: string[]; isBehind: boolean }> {
  const [lock] = await tx.query<{ taken: boolean; now: Date }>(
    'select pg_try_advisory_xact_lock($1) as taken, clock_timestamp() as now',
    [AUDIT_LOCK],
  );
  if (!lock?.taken) return { lost: [], isBehind: false };
  const producers = await readOpenClaims(tx, recheck);
  const open = await findUnrecorded(
    tx,
    producers.flatMap(({ producer, numbers }) => numbers.map(number => numberUuid(producer, number))),
  );
  const queued = open.length > 0 ? await findHeld(open) : new Set<string>();
  const missing = await findUnrecorded(
    tx,
    open.filter(flush => !queued.has(flush)),
  );
  const lost = await tx.query<{ id: string }>(
    `insert into lost_flushes select id, clock_timestamp() from unnest($1::uuid[]) as id
     on conflict do nothing returning id`,
    [missing],
  );
  for (const producer of producers) await settle(tx, producer, queued, lock.now);
  await tx.query('delete from lost_flushes lost using recorded_flushes late where late.id = lost.id');
  await tx.query(
    `delete from flush_producers
     where settled = written and held = '{}' and claimed_at < clock_timestamp() - $1::interval`,
    [KEPT],
  );
  return { lost: lost.map(row => row.id), isBehind: producers.some(({ upTo, written }) => upTo < written) };
}

/** Returns the current losses of all audits so far. */
export async function countLosses(storage: Storage): Promise<Losses> {
  const [row] = await storage.query<{ flushes: string; answers: string }>(
    'select (select count(*) from lost_flushes) as flushes, count_vanished_answers() as answers',
  );
  return { flushes: Number(row?.flushes), answers: Number(row?.answers) };
}

/** The unsettled part of a claim. */
interface OpenClaim {
  producer: string;
  written: number;
  /** The flushes to look for: some that were queued at an earlier audit, and those claimed since. */
  numbers: number[];
  /** Flushes that were queued at an earlier audit and are left for a later one. */
  deferred: number[];
  /** The last number that this pass examines. */
  upTo: number;
}

async function readOpenClaims(tx: Transaction, recheck: number): Promise<OpenClaim[]> {
  type Row = { id: string; settled: string; written: string; voided: string[]; held: string[] };
  const rows = await tx.query<Row>(
    `select id, settled, written, voided, held from flush_producers
     where settled < written or ($1 > 0 and held <> '{}') order by id`,
    [recheck],
  );
  return rows.map(({ id, ...row }) => {
    const [settled, written] = [Number(row.settled), Number(row.written)];
    const voided = new Set(row.voided.map(Number));
    const held = row.held.map(Number);
    const upTo = Math.min(written, settled + PASS_SIZE);
    const claimed = Array.from({ length: upTo - settled }, (_, index) => settled + 1 + index);
    const numbers = [...held.slice(0, recheck), ...claimed.filter(number => !voided.has(number))];
    return { producer: id, written, numbers, deferred: held.slice(recheck), upTo };
  });
}

const findUnrecorded = async (tx: Transaction, flushes: string[]): Promise<string[]> =>
  flushes.length === 0
    ? []
    : (
        await tx.query<{ id: string }>(
          `select id::text from unnest($1::uuid[]) as claimed(id)
           where not exists (select from recorded_flushes where recorded_flushes.id = claimed.id)`,
          [flushes],
        )
      ).map(row => row.id);

/**
 * Settles a claim except for the flushes to examine in the next audit: deferred ones first, then those still queued.
 */
const settle = (
  tx: Transaction,
  { producer, written, numbers, deferred, upTo }: OpenClaim,
  held: ReadonlySet<string>,
  auditedAt: Date,
) =>
  tx.query(
    `update flush_producers set settled = $2, held = $3,
       voided = array(select distinct number from unnest(voided) as number where number > $2 order by number),
       open_since = case when written = $2 and $4 then $5 else open_since end
     where id = $1`,
    [
      producer,
      upTo,
      [...deferred, ...numbers.filter(number => held.has(numberUuid(producer, number)))],
      upTo === written && deferred.length === 0, // all examined: the remaining ones are not recorded yet
      auditedAt,
    ],
  );
