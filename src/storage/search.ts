import type { TenantStorage } from './orm.ts';
import type { Where } from './sql.ts';

/** Up to how many rows the indexes of words are asked for. Words that more have are found soon by going through the list. */
const MOST_FOUND = 2000;

/** The limit keeps PostgreSQL from looking through all messages at once in order to answer for every conversation. */
const HAS_WORDS = `(tenant_words(tenant_id, subject) @@ tenant_query($, $) or (select true from messages
  where messages.tenant_id = conversations.tenant_id and conversation_id = conversations.id and kind <> 'event'
    and tenant_words(messages.tenant_id, body) @@ tenant_query($, $) limit 1))`;

/**
 * Adds the condition that a conversation holds every one of these words, in its subject or in one message; each of three
 * characters or more may be the beginning of one. Upper and lower case are the same. Text without a word finds nothing.
 */
export async function whereWords(where: Where, { tenantId, query }: TenantStorage, words: string): Promise<void> {
  const found = await query<{ id: string }>('select search_conversations($1, $2) as id', [words, MOST_FOUND + 1]);
  if (found.length <= MOST_FOUND)
    where.and(
      'id = any($::uuid[])',
      found.map(({ id }) => id),
    );
  else where.and(HAS_WORDS, tenantId, words, tenantId, words);
}
