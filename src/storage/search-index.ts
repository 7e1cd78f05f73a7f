import { toTsvector } from './lexemes.ts';
import type { Storage, TenantStorage } from './orm.ts';
import { unnest, WANTED_IDS } from './sql.ts';
import { listTenantsWith } from './tenants.ts';
import type { Transaction } from './transaction.ts';

/** The searched texts: an answer's comment and text, a message or note, a conversation's subject. */
export type TextKind = 'answer' | 'message' | 'subject';

/**
 * Returns the user-written text of an answer: the comment, and the text or the words of "other" of each step (`written_text`
 * in the database).
 */
export function writtenText({ comment, values }: AnswerText): string {
  const texts = Object.values(values).map(value =>
    typeof value === 'string' ? value : (value as { other_text?: unknown } | null)?.other_text,
  );
  return [comment, ...texts.filter(each => typeof each === 'string')].join('\n');
}

interface AnswerText {
  comment?: string | null | undefined;
  values: Record<string, unknown>;
}

/** Marks the transaction as one that writes the words itself. Call it before writing a text. */
export const KEEP_WORDS = "set_config('parley.words', 'kept', true)";

/** A stored answer whose words are written. */
export interface IndexedAnswer extends AnswerText {
  tenant_id: string;
  id: string;
  /** When the stored row was received. Absent for a revised answer, whose row is then read. */
  first_received_at?: string | undefined;
  /** Whether there may be words of an earlier text. */
  hadWords: boolean;
}

/**
 * Writes the words of stored answers of any tenants, each answer once, in the transaction that stored them. Earlier
 * words of an answer without words are removed.
 */
export async function indexAnswers(tx: Transaction, answers: Iterable<IndexedAnswer>): Promise<void> {
  const added: AnswerWords[] = [];
  const replaced: AnswerWords[] = [];
  const silent: IndexedAnswer[] = [];
  for (const answer of answers) {
    const { tenant_id, id, first_received_at } = answer;
    const words = toTsvector(tenant_id, writtenText(answer));
    if (words !== null) (first_received_at ? added : replaced).push({ tenant_id, id, first_received_at, words });
    else if (answer.hadWords) silent.push(answer);
  }
  await Promise.all([addAnswerWords(tx, added), replaceAnswerWords(tx, replaced), removeAnswerWords(tx, silent)]);
}

interface AnswerWords extends Pick<IndexedAnswer, 'tenant_id' | 'id' | 'first_received_at'> {
  /** As `tsvector` input. */
  words: string;
}

/** Writes the words of new answers, without looking for earlier words, which would be a quarter of the cost. */
async function addAnswerWords(tx: Transaction, rows: AnswerWords[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = { tenant_id: 'uuid', first_received_at: 'timestamptz', id: 'uuid', words: 'text' } as const;
  const incoming = unnest<AnswerWords>(rows, columns);
  await tx.query(
    `insert into answer_words select tenant_id, first_received_at, id, words::tsvector from ${incoming.sql}`,
    incoming.params,
  );
}

async function replaceAnswerWords(tx: Transaction, rows: AnswerWords[]): Promise<void> {
  if (rows.length === 0) return;
  const incoming = unnest<AnswerWords>(rows, { tenant_id: 'uuid', id: 'uuid', words: 'text' });
  await tx.query(
    `insert into answer_words select tenant_id, received_at, id, incoming.words::tsvector
     from ${incoming.sql} join answers using (tenant_id, id) order by 1, 2, 3
     on conflict (tenant_id, received_at, id) do update set words = excluded.words`,
    incoming.params,
  );
}

async function removeAnswerWords(tx: Transaction, rows: { tenant_id: string; id: string }[]): Promise<void> {
  if (rows.length === 0) return;
  const incoming = unnest<{ tenant_id: string; id: string }>(rows, { tenant_id: 'uuid', id: 'uuid' });
  await tx.query(
    `delete from answer_words using ${incoming.sql} join answers using (tenant_id, id)
     where answer_words.tenant_id = answers.tenant_id and answer_words.received_at = answers.received_at
       and answer_words.id = answers.id`,
    incoming.params,
  );
}

/** A message's text, or under the conversation's id its subject. */
export interface ConversationText {
  conversation_id: string;
  id: string;
  text: string;
}

/** Writes the words of one tenant's messages and subjects, replacing earlier ones. */
export async function indexMessages(
  tx: Transaction,
  tenantId: string,
  texts: readonly ConversationText[],
): Promise<void> {
  const rows = texts.map(({ text, ...row }) => ({ ...row, words: toTsvector(tenantId, text) }));
  const empty = rows.filter(({ words }) => words === null).map(({ id }) => id);
  const written = rows.filter(({ words }) => words !== null);
  if (empty.length > 0)
    await tx.query(
      `delete from message_words where tenant_id = $1 and conversation_id = any($2::uuid[]) and id = any($3::uuid[])`,
      [tenantId, rows.map(row => row.conversation_id), empty],
    );
  if (written.length === 0) return;
  const incoming = unnest<(typeof written)[number]>(written, { conversation_id: 'uuid', id: 'uuid', words: 'text' }, 2);
  await tx.query(
    `insert into message_words select $1::uuid, conversation_id, id, words::tsvector from ${incoming.sql} order by 2, 3
     on conflict (tenant_id, conversation_id, id) do update set words = excluded.words`,
    [tenantId, ...incoming.params],
  );
}

/* ——— texts without words: stored before the index existed, or by the previous version ——— */

/** Whether all texts of these kinds of a tenant are indexed. */
export async function isIndexed(tenant: TenantStorage, kinds: readonly TextKind[]): Promise<boolean> {
  const [row] = await tenant.query<{ indexed: boolean }>(
    `select not exists (select from search_backlog where tenant_id = $1 and kind = any($2::text[]))
       and not exists (select from unindexed_texts where tenant_id = $1 and kind = any($2::text[])) as indexed`,
    [tenant.tenantId, kinds],
  );
  return row?.indexed === true;
}

/** Returns the tenants that have texts without words. */
export const listTenantsToIndex = (storage: Storage): Promise<string[]> => listTenantsWith(storage, 'tenants_to_index');

/** Maximum number of rows scanned, and of texts indexed, per transaction. */
const ROWS_AT_ONCE = 2000;
const TEXTS_AT_ONCE = 200;

/** The texts of each kind: which rows have one, newest first. */
const TEXTS: Record<TextKind, { table: string; at: string; hasText: string }> = {
  answer: { table: 'answers', at: 'received_at', hasText: `written_text(comment, "values") is not null` },
  message: { table: 'messages', at: `'infinity'::timestamptz`, hasText: `kind <> 'event' and body <> ''` },
  subject: { table: 'conversations', at: `'infinity'::timestamptz`, hasText: `subject <> ''` },
};

/**
 * Indexes a batch of a tenant's texts without words. Returns the number of rows processed; 0 when there are none left.
 * Several processes may run it: they lock different texts. Completed batches survive a kill.
 */
export async function indexBatch(tenant: TenantStorage): Promise<number> {
  const indexed = await tenant.transaction(tx => indexTexts(tx, tenant.tenantId));
  return indexed > 0 ? indexed : tenant.transaction(tx => advanceBacklog(tx, tenant.tenantId));
}

/** Moves the next rows of the backlog to the texts to be indexed. */
async function advanceBacklog(tx: Transaction, tenantId: string): Promise<number> {
  const [place] = await tx.query<{ kind: TextKind; before_at: string; before_id: string }>(
    `select kind, before_at::text, before_id from search_backlog where tenant_id = $1
     order by kind limit 1 for update skip locked`,
    [tenantId],
  );
  if (!place) return 0;
  const { table, at, hasText } = TEXTS[place.kind];
  const isTimed = place.kind === 'answer';
  const [key, sort] = isTimed ? ['(received_at, id) < ($2, $3)', 'received_at desc, id desc'] : ['id < $3', 'id desc'];
  const [moved] = await tx.query<{ rows: number; at: string | null; id: string | null }>(
    `with passed as materialized (
       select id, ${at} as at, ${hasText} as has_text from ${table}
       where tenant_id = $1 and ${key} and $2::timestamptz is not null order by ${sort} limit ${ROWS_AT_ONCE}
     ), noted as (
       insert into unindexed_texts select $1, $4, id from passed where has_text on conflict do nothing
     )
     select count(*)::int as rows, (array_agg(at::text order by at, id))[1] as at,
       (array_agg(id order by at, id))[1] as id from passed`,
    [tenantId, place.before_at, place.before_id, place.kind],
  );
  if (moved && moved.rows === ROWS_AT_ONCE)
    await tx.query('update search_backlog set before_at = $3, before_id = $4 where tenant_id = $1 and kind = $2', [
      tenantId,
      place.kind,
      moved.at,
      moved.id,
    ]);
  else await tx.query('delete from search_backlog where tenant_id = $1 and kind = $2', [tenantId, place.kind]);
  return Math.max(1, moved?.rows ?? 0);
}

/**
 * Indexes the recorded texts.
 *
 * Their rows are locked, so that a text cannot change between reading it and writing its words. Rows locked by others
 * stay recorded; those that were deleted do not.
 */
async function indexTexts(tx: Transaction, tenantId: string): Promise<number> {
  const noted = await tx.query<{ kind: TextKind; id: string }>(
    `select kind, id from unindexed_texts where tenant_id = $1 order by kind, id limit ${TEXTS_AT_ONCE}
     for update skip locked`,
    [tenantId],
  );
  let indexed = 0;
  for (const kind of Object.keys(TEXTS) as TextKind[]) {
    const ids = noted.filter(text => text.kind === kind).map(({ id }) => id);
    if (ids.length > 0) indexed += await indexKind(tx, tenantId, kind, ids);
  }
  return indexed;
}

async function indexKind(tx: Transaction, tenantId: string, kind: TextKind, ids: string[]): Promise<number> {
  const locked = new Set(await INDEX[kind](tx, tenantId, ids));
  const unlocked = ids.filter(id => !locked.has(id));
  const busy = await tx.query<{ id: string }>(
    `with ${WANTED_IDS} select id from wanted join ${TEXTS[kind].table} using (tenant_id, id)`,
    [tenantId, unlocked],
  );
  const isBusy = new Set(busy.map(({ id }) => id));
  const done = ids.filter(id => !isBusy.has(id));
  await tx.query('delete from unindexed_texts where tenant_id = $1 and kind = $2 and id = any($3::uuid[])', [
    tenantId,
    kind,
    done,
  ]);
  return done.length;
}

/** Writes the words of rows of each kind. Returns the ids of those that could be locked. */
const INDEX: Record<TextKind, (tx: Transaction, tenantId: string, ids: string[]) => Promise<string[]>> = {
  async answer(tx, tenantId, ids) {
    const rows = await tx.query<AnswerText & { tenant_id: string; id: string }>(
      `with ${WANTED_IDS} select tenant_id, id, comment, "values" from wanted join answers using (tenant_id, id)
       for share of answers skip locked`,
      [tenantId, ids],
    );
    await indexAnswers(
      tx,
      rows.map(row => ({ ...row, hadWords: true })),
    );
    return rows.map(({ id }) => id);
  },
  async message(tx, tenantId, ids) {
    const rows = await tx.query<ConversationText>(
      `with ${WANTED_IDS} select conversation_id, id, case when kind = 'event' then '' else body end as text
       from wanted join messages using (tenant_id, id) for share of messages skip locked`,
      [tenantId, ids],
    );
    await indexMessages(tx, tenantId, rows);
    return rows.map(({ id }) => id);
  },
  async subject(tx, tenantId, ids) {
    const rows = await tx.query<ConversationText>(
      `with ${WANTED_IDS} select id as conversation_id, id, subject as text
       from wanted join conversations using (tenant_id, id) for share of conversations skip locked`,
      [tenantId, ids],
    );
    await indexMessages(tx, tenantId, rows);
    return rows.map(({ id }) => id);
  },
};
