import { numberUuid } from '../domain/ids.ts';
import type { Storage } from './orm.ts';
import type { Session } from './transaction.ts';

/** What an API process says it has made durable in the queue: its flushes from 1 to `written`, without those `voided`. */
export interface Claim {
  producer: string;
  written: number;
  voided: number[];
}

/** What was accepted and is nowhere. */
export interface Losses {
  /** Flushes that are neither recorded nor queued. */
  flushes: number;
  /** Answers that were deleted, and not by Parley. */
  answers: number;
}

/** Which of these flushes the queue holds. */
export type FindHeld = (flushes: string[]) => Promise<Set<string>>;

/** One auditor at a time, on whatever machine. */
const AUDIT_LOCK = 7_310_274_002;
/** How many flushes of one producer one audit looks at; the rest is for the next. */
const MOST_AT_ONCE = 10_000;
const KEPT = '1 day';

/** Writes down what a process has made durable. A claim that is repeated changes nothing. */
export const claimFlushes = (storage: Storage, { producer, written, voided }: Claim): Promise<unknown> =>
  storage.query(
    `insert into flush_producers (id, written, settled, voided, held, claimed_at)
     values ($1, $2, 0, $3, '{}', clock_timestamp())
     on conflict (id) do update set claimed_at = excluded.claimed_at,
       written = greatest(flush_producers.written, excluded.written),
       voided = flush_producers.voided || excluded.voided`,
    [producer, written, voided],
  );

/**
 * Looks for flushes that a process claims and that are neither recorded nor in the queue, and keeps them as lost.
 *
 * The order is what makes it true: claims first, which speak only of what is on disk by then; then the records, then
 * the queue, and for what is in neither the records again, because a flush goes from the queue to the records.
 * Gives the ids found lost now; none when another process is auditing.
 */
export const auditFlushes = (storage: Storage, findHeld: FindHeld): Promise<string[]> =>
  storage.transaction(async session => {
    const [lock] = await session.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1) as taken', [
      AUDIT_LOCK,
    ]);
    if (!lock?.taken) return [];
    const producers = await readOpenClaims(session);
    const open = await findUnrecorded(
      session,
      producers.flatMap(({ producer, numbers }) => numbers.map(number => numberUuid(producer, number))),
    );
    const held = open.length > 0 ? await findHeld(open) : new Set<string>();
    const missing = await findUnrecorded(
      session,
      open.filter(flush => !held.has(flush)),
    );
    const lost = await session.query<{ id: string }>(
      `insert into lost_flushes select id, clock_timestamp() from unnest($1::uuid[]) as id
       on conflict do nothing returning id`,
      [missing],
    );
    for (const producer of producers) await settle(session, producer, held);
    await session.query('delete from lost_flushes lost using recorded_flushes late where late.id = lost.id');
    await session.query(
      `delete from flush_producers
       where settled = written and held = '{}' and claimed_at < clock_timestamp() - $1::interval`,
      [KEPT],
    );
    return lost.map(row => row.id);
  });

/** What is lost at the moment, by every audit so far. */
export async function countLosses(storage: Storage): Promise<Losses> {
  const [row] = await storage.query<{ flushes: string; answers: string }>(
    'select (select count(*) from lost_flushes) as flushes, count_vanished_answers() as answers',
  );
  return { flushes: Number(row?.flushes), answers: Number(row?.answers) };
}

/** The part of a claim that is not settled yet. */
interface OpenClaim {
  producer: string;
  /** The numbers of the flushes to look for: those still queued at the last audit, and those claimed since. */
  numbers: number[];
  /** The number up to which this audit looks. */
  upTo: number;
}

async function readOpenClaims(session: Session): Promise<OpenClaim[]> {
  type Row = { id: string; settled: string; written: string; voided: string[]; held: string[] };
  const rows = await session.query<Row>(
    "select id, settled, written, voided, held from flush_producers where settled < written or held <> '{}' order by id",
  );
  return rows.map(({ id, ...row }) => {
    const [settled, written] = [Number(row.settled), Number(row.written)];
    const voided = new Set(row.voided.map(Number));
    const upTo = Math.min(written, settled + MOST_AT_ONCE - Math.min(MOST_AT_ONCE, row.held.length));
    const claimed = Array.from({ length: upTo - settled }, (_, index) => settled + 1 + index);
    return { producer: id, upTo, numbers: [...row.held.map(Number), ...claimed.filter(number => !voided.has(number))] };
  });
}

const findUnrecorded = async (session: Session, flushes: string[]): Promise<string[]> =>
  flushes.length === 0
    ? []
    : (
        await session.query<{ id: string }>(
          `select id::text from unnest($1::uuid[]) as claimed(id)
           where not exists (select from recorded_flushes where recorded_flushes.id = claimed.id)`,
          [flushes],
        )
      ).map(row => row.id);

/** Leaves of a claim what the next audit has to look for: what is still queued, and what comes. */
const settle = (session: Session, { producer, numbers, upTo }: OpenClaim, held: ReadonlySet<string>) =>
  session.query(
    `update flush_producers set settled = $2, held = $3,
       voided = array(select distinct number from unnest(voided) as number where number > $2 order by number)
     where id = $1`,
    [producer, upTo, numbers.filter(number => held.has(numberUuid(producer, number)))],
  );
