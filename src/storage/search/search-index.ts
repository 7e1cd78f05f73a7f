import { unnest } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { toTsvector } from './lexemes.ts';

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
