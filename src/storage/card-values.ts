import { keptValue } from '../domain/cards.ts';
import type { CardKey } from './card-records.ts';
import { cardKeyOf } from './card-records.ts';
import type { Storage } from './orm.ts';
import { unnest } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** Maximum number of answers that one transaction reads. */
const ANSWERS_AT_ONCE = 500;

/** Returns the tenants with answers whose values card records may not have. For the worker, like `keepValues`. */
export const listTenantsWithoutValues = async (storage: Storage): Promise<string[]> =>
  (await storage.query<{ tenant_id: string }>('select tenant_id from card_value_backlog order by tenant_id')).map(
    ({ tenant_id }) => tenant_id,
  );

interface OldAnswer extends CardKey {
  id: string;
  at: string;
  value: unknown;
}

/**
 * Adds the values of a tenant's next answers, newest first, to card records without one. Returns the number of answers read;
 * 0 when there are none left. Completed batches survive a kill, and another worker skips a tenant in progress.
 */
export const keepValues = (storage: Storage, tenantId: string): Promise<number> =>
  storage.transaction(async tx => {
    const [mark] = await tx.query<{ before_at: string; before_id: string }>(
      'select before_at::text, before_id from card_value_backlog where tenant_id = $1 for update skip locked',
      [tenantId],
    );
    if (!mark) return 0;
    const answers = await lockAnswers(tx, tenantId, mark);
    await addValues(tx, answers);
    const last = answers.at(-1);
    if (last && answers.length === ANSWERS_AT_ONCE)
      await tx.query('update card_value_backlog set before_at = $2, before_id = $3 where tenant_id = $1', [
        ...[tenantId, last.at, last.id],
      ]);
    else await tx.query('delete from card_value_backlog where tenant_id = $1', [tenantId]);
    return answers.length;
  });

/** Locks answers before their cards, and in order of their ids, as other transactions do. Returns them newest first. */
async function lockAnswers(
  tx: Transaction,
  tenantId: string,
  mark: { before_at: string; before_id: string },
): Promise<(OldAnswer & { answered: boolean })[]> {
  const rows = await tx.query<OldAnswer & { answered: boolean }>(
    `with wanted as materialized (
       select tenant_id, id from answers where tenant_id = $1 and (received_at, id) < ($2, $3)
       order by received_at desc, id desc limit ${ANSWERS_AT_ONCE}
     )
     select tenant_id, id, identity, identity_verified, question_id, received_at::text as at,
       state in ('partial', 'completed') as answered, "values"->'main' as value
     from wanted join answers using (tenant_id, id) order by tenant_id, id for share of answers`,
    [tenantId, mark.before_at, mark.before_id],
  );
  const order = ({ at, id }: OldAnswer) => `${Date.parse(at).toString().padStart(16, '0')} ${id}`;
  return rows.toSorted((one, other) => (order(one) < order(other) ? 1 : -1));
}

/** Sets the value of records that have none, in key order. Of several answers to a card the newest is kept. */
async function addValues(tx: Transaction, answers: readonly (OldAnswer & { answered: boolean })[]): Promise<void> {
  const newest = new Map<string, CardKey & { last_answer_id: string; last_value: unknown }>();
  for (const { answered, id, value, ...answer } of answers) {
    const { tenant_id, identity, identity_verified, question_id } = answer;
    const card = { tenant_id, identity, identity_verified, question_id };
    const key = cardKeyOf(card);
    if (answered && !newest.has(key)) newest.set(key, { ...card, last_answer_id: id, last_value: keptValue(value) });
  }
  if (newest.size === 0) return;
  const incoming = unnest<CardKey & { last_answer_id: string; last_value: unknown }>([...newest.values()], {
    tenant_id: 'uuid',
    identity: 'text',
    identity_verified: 'boolean',
    question_id: 'uuid',
    last_answer_id: 'uuid',
    last_value: 'jsonb',
  });
  await tx.query(
    `with empty as materialized (
       select record.tenant_id, record.identity, record.identity_verified, record.question_id,
         incoming.last_answer_id, incoming.last_value
       from card_records as record join ${incoming.sql} using (tenant_id, identity, identity_verified, question_id)
       where record.last_answer_id is null and record.answered_at is not null
       order by 1, 2, 3, 4 for update of record
     )
     update card_records as record set last_answer_id = empty.last_answer_id, last_value = empty.last_value from empty
     where (record.tenant_id, record.identity, record.identity_verified, record.question_id)
       = (empty.tenant_id, empty.identity, empty.identity_verified, empty.question_id)`,
    incoming.params,
  );
}
