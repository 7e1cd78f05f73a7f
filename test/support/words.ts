import type { TestDatabase } from './database.ts';

/** Returns the texts of a tenant that have no words in the search index. */
export const findUnindexed = ({ query }: TestDatabase, tenantId: string): Promise<{ kind: string; id: string }[]> =>
  query(
    `select 'answer' as kind, id from answers
     where tenant_id = $1 and written_text(comment, "values") is not null and id not in (select id from answer_words)
     union all
     select 'message', id from messages
     where tenant_id = $1 and kind <> 'event' and body <> '' and id not in (select id from message_words)
     union all
     select 'subject', id from conversations
     where tenant_id = $1 and subject <> '' and id not in (select id from message_words)`,
    [tenantId],
  );
