import type { TenantStorage } from './orm.ts';
import type { Where } from './sql.ts';

/** Where words are looked for: what users wrote in answers; subjects and messages of conversations. */
const SEARCHES = {
  answers: {
    search: 'search_answers',
    condition:
      'written_text(comment, "values") is not null and tenant_words(tenant_id, written_text(comment, "values")) @@ tenant_query($, $)',
  },
  conversations: {
    search: 'search_conversations',
    condition: `(tenant_words(tenant_id, subject) @@ tenant_query($, $) or exists (select from messages
       where messages.tenant_id = conversations.tenant_id and conversation_id = conversations.id and kind <> 'event'
         and tenant_words(messages.tenant_id, body) @@ tenant_query($, $)))`,
  },
} as const;

/** Up to how many rows the index of words is asked for. Words that more have are found soon by going through the list. */
const MOST_FOUND = 2000;

/**
 * Adds the condition that a row holds every one of these words; each of three characters or more may be the beginning
 * of one. Upper and lower case are the same. Text without a word finds nothing.
 */
export async function whereWords(
  where: Where,
  tenant: TenantStorage,
  table: keyof typeof SEARCHES,
  words: string,
): Promise<void> {
  const { search, condition } = SEARCHES[table];
  const found = await tenant.query<{ id: string }>(`select ${search}($1, $2) as id`, [words, MOST_FOUND + 1]);
  if (found.length <= MOST_FOUND)
    return where.and(
      'id = any($::uuid[])',
      found.map(({ id }) => id),
    );
  const asked = condition
    .split('$')
    .slice(1)
    .map((_, index) => (index % 2 === 0 ? tenant.tenantId : words));
  where.and(condition, ...asked);
}
