import { type AcceptedAnswer, compareSyncs } from '../../domain/answers/answers.ts';
import type { Rejection } from '../../domain/answers/receipts.ts';
import { Problem } from '../../domain/problem.ts';
import { unnest } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import type { CountedRow, StoredSync } from './counted-answers.ts';
import { COUNTED } from './counted-columns.ts';

export interface Conflict {
  answer: AcceptedAnswer;
  reason: Rejection | 'unstorable' | 'key-revoked';
  detail: string;
}

export interface Settled {
  /** In order of arrival. */
  stored: StoredSync[];
  repeated: AcceptedAnswer[];
  conflicts: Conflict[];
}

const STATEMENT_COLUMNS = {
  tenant_id: 'uuid',
  id: 'uuid',
  identity: 'text',
  identity_verified: 'boolean',
  card_id: 'uuid',
  question_id: 'uuid',
  question_version: 'int',
  revision: 'int',
  state: 'text',
  values: 'jsonb',
  comment: 'text',
  displayed_at: 'timestamptz',
  answered_at: 'timestamptz',
  duration_ms: 'int',
  metadata: 'jsonb',
  content_hash: 'text',
  clock_skew_ms: 'bigint',
  once_per_card: 'boolean',
  received_at: 'timestamptz',
} as const;

const INSERTED = Object.keys(STATEMENT_COLUMNS)
  .map(name => `"${name}"`)
  .join(', ');
const SELECTED = INSERTED.replace('"once_per_card"', 'coalesce(once_per_card, false)');
const OVERWRITTEN = [
  'question_version',
  'revision',
  'state',
  '"values"',
  'comment',
  'displayed_at',
  'answered_at',
  'duration_ms',
  'metadata',
  'content_hash',
  'clock_skew_ms',
  'once_per_card',
  'stored_at',
  'updated_at',
].map(name => `${name} = excluded.${name}`);
/**
 * The contribution of the replaced sync, for `returning`: before version 18, PostgreSQL has no other way to return it.
 */
const SUPERSEDED = `revised_from = ${COUNTED}`;

/**
 * Groups syncs into statements such that syncs of one id are in separate statements, in order. The result is the same
 * as for one statement per sync.
 */
function inTurns(answers: AcceptedAnswer[]): AcceptedAnswer[][] {
  const turns: AcceptedAnswer[][] = [];
  const taken = new Map<string, number>();
  for (const answer of answers) {
    const turn = taken.get(answer.id) ?? 0;
    taken.set(answer.id, turn + 1);
    const inThatTurn = turns[turn];
    if (inThatTurn) inThatTurn.push(answer);
    else turns.push([answer]);
  }
  return turns;
}

export async function upsertAnswers(tx: Transaction, answers: AcceptedAnswer[]): Promise<Settled> {
  const settled: Settled = { stored: [], repeated: [], conflicts: [] };
  const turns = inTurns(answers);
  for (const turn of turns) await upsertTurn(tx, turn, settled);
  if (turns.length > 1) sortByArrival(settled.stored, answers);
  return settled;
}

function sortByArrival(stored: StoredSync[], arrived: readonly AcceptedAnswer[]): void {
  const places = new Map(arrived.map((answer, place) => [answer, place]));
  const indexOf = ({ answer }: StoredSync) => places.get(answer) as number;
  stored.sort((one, other) => indexOf(one) - indexOf(other));
}

export const keyOf = (row: { tenant_id: string; id: string }): string => `${row.tenant_id}${row.id}`;

async function upsertTurn(tx: Transaction, answers: AcceptedAnswer[], settled: Settled): Promise<void> {
  const revisedFrom = await writeTurn(tx, answers);
  const others: AcceptedAnswer[] = [];
  for (const answer of answers) {
    const revised = revisedFrom(answer);
    if (revised === undefined) others.push(answer);
    else settled.stored.push({ answer, revisedFrom: revised });
  }
  if (others.length > 0) await settleOthers(tx, others, settled);
}

/** The number of rows written, and the rows themselves unless all of them are new. */
type Written = { count: number } & (
  | { tenant_id: string; id: string; revised_from: CountedRow | null }
  | { tenant_id: null }
);

/**
 * Upserts answers, and returns the previous contribution of each: null for a new answer, undefined if no row changed.
 *
 * Usually all answers are new. Then the row count is sufficient, which saves PostgreSQL and the worker a returned row
 * per answer.
 */
async function writeTurn(tx: Transaction, answers: AcceptedAnswer[]) {
  const incoming = unnest<AcceptedAnswer>(answers, STATEMENT_COLUMNS);
  const rows = await tx.query<Written>(
    `with written as (
       insert into answers (${INSERTED}, tags, stored_at, updated_at)
       select ${SELECTED}, '{}', clock_timestamp(), clock_timestamp() from ${incoming.sql}
       where not exists (select from deleted_answers gone where gone.tenant_id = incoming.tenant_id and gone.id = incoming.id)
       order by tenant_id, id
       on conflict (tenant_id, id) do update set ${OVERWRITTEN.join(', ')}, ${SUPERSEDED}
       where answers.revision < excluded.revision and answers.state <> 'completed'
         and (answers.identity, answers.identity_verified, answers.card_id, answers.question_id)
           = (excluded.identity, excluded.identity_verified, excluded.card_id, excluded.question_id)
       returning tenant_id, id, revised_from
     )
     select total.count, tenant_id, id, revised_from
     from (select count(*)::int as count from written) as total
     left join written on revised_from is not null or total.count < $${incoming.params.length + 1}`,
    [...incoming.params, answers.length],
  );
  const previous = new Map<string, CountedRow | null>();
  for (const row of rows) if (row.tenant_id !== null) previous.set(keyOf(row), row.revised_from);
  const others = rows[0]?.count === answers.length ? null : undefined;
  if (previous.size === 0) return () => others;
  return (answer: AcceptedAnswer): CountedRow | null | undefined => {
    const revisedFrom = previous.get(keyOf(answer));
    return revisedFrom === undefined ? others : revisedFrom;
  };
}

/** Classifies the answers that changed no row: repeated, deleted since, or in conflict with the stored one. */
async function settleOthers(tx: Transaction, others: AcceptedAnswer[], settled: Settled): Promise<void> {
  const wanted = unnest<AcceptedAnswer>(others, { tenant_id: 'uuid', id: 'uuid' });
  type Known = Omit<AcceptedAnswer, 'values'>;
  const rows = await tx.query<Known>(
    `select tenant_id, id, identity, identity_verified, card_id, question_id, revision, state, content_hash
     from answers join ${wanted.sql} using (tenant_id, id)`,
    wanted.params,
  );
  const known = new Map(rows.map(row => [keyOf(row), row]));
  for (const answer of others) {
    const row = known.get(keyOf(answer));
    const comparison = row ? compareSyncs(row, answer) : 'superseded';
    if (comparison === 'newer')
      throw new Problem('database-unavailable', 'An answer was changed concurrently. The batch is retried.', {
        retryAfterSeconds: 1,
      });
    if (comparison !== 'revision-conflict') settled.repeated.push(answer);
    else
      settled.conflicts.push({
        answer,
        reason: comparison,
        detail: `conflicts with stored revision ${row?.revision}`,
      });
  }
}
