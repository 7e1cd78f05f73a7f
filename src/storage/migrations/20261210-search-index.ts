import { Migration } from '@mikro-orm/migrations';

const TENANT = `nullif(current_setting('parley.tenant', true), '')::uuid`;

/** For functions that return some rows in the order of an index. */
const ORDERED = `set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off`;

/**
 * An index of the words in answers, messages and subjects, in separate tables (docs/decisions/0028).
 *
 * Processes of this version write the words with the text. Texts written by others, and texts that are already stored,
 * are entered in `unindexed_texts` or covered by `search_backlog`, and indexed in the background.
 */
export class SearchIndex extends Migration {
  override up(): void {
    this.createWords();
    this.createBacklog();
    this.removeWordsOfDeleted();
    this.noteUnindexedTexts();
    this.createSearch();
    this.fillBacklog();
    this.addSql('insert into schema_state values (18, 1)');
  }

  /** Small pending lists, because each search reads the whole list. */
  private createWords(): void {
    this.addSql(`
create table answer_words (
  tenant_id uuid not null,
  received_at timestamptz(3) not null,
  id uuid not null,
  words tsvector not null,
  primary key (tenant_id, received_at, id)
)`);
    this.addSql(`
create table message_words (
  tenant_id uuid not null,
  conversation_id uuid not null,
  id uuid not null,
  words tsvector not null,
  primary key (tenant_id, conversation_id, id)
)`);
    for (const table of ['answer_words', 'message_words'])
      this.addSql(`create index ${table}_found on ${table} using gin (words) with (gin_pending_list_limit = 1024)`);
    this.protect('answer_words');
    this.protect('message_words');
    this.addSql('create policy every_tenant on answer_words to parley_worker using (true)');
    this.addSql('grant select, insert, update, delete on answer_words to parley_worker');
  }

  private createBacklog(): void {
    this.addSql(`
create table unindexed_texts (
  tenant_id uuid not null,
  kind text not null,
  id uuid not null,
  primary key (tenant_id, kind, id)
)`);
    this.addSql(`
create table search_backlog (
  tenant_id uuid not null,
  kind text not null,
  before_at timestamptz(3) not null,
  before_id uuid not null,
  primary key (tenant_id, kind)
)`);
    this.protect('unindexed_texts');
    this.protect('search_backlog');
    this.addSql(`
create function tenants_to_index() returns setof uuid
language sql stable security definer set search_path = public, pg_temp
as 'select tenant_id from search_backlog union select tenant_id from unindexed_texts order by 1'`);
    this.addSql('revoke all on function tenants_to_index() from public');
    this.addSql('grant execute on function tenants_to_index() to parley_app');
  }

  private protect(table: string): void {
    this.addSql(`alter table ${table} enable row level security`);
    this.addSql(`create policy one_tenant on ${table} to parley_app using (tenant_id = ${TENANT})`);
    this.addSql(`grant select, insert, update, delete on ${table} to parley_app`);
  }

  /** The words are deleted in the transaction that deletes the text, by any process. Always by the primary key. */
  private removeWordsOfDeleted(): void {
    const remove = (table: string, words: string, key: string) => {
      this.addSql(`
create function remove_words_of_${table}() returns trigger
language plpgsql security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
begin
  delete from ${words} using gone where ${words}.tenant_id = gone.tenant_id and ${key};
  return null;
end $$`);
      this.addSql(`revoke all on function remove_words_of_${table}() from public`);
      this.addSql(`
create trigger remove_words after delete on ${table} referencing old table as gone
for each statement execute function remove_words_of_${table}()`);
    };
    remove('answers', 'answer_words', 'answer_words.received_at = gone.received_at and answer_words.id = gone.id');
    remove(
      'messages',
      'message_words',
      'message_words.conversation_id = gone.conversation_id and message_words.id = gone.id',
    );
    remove('conversations', 'message_words', 'message_words.conversation_id = gone.id');
  }

  /** Records texts written without their words: by the previous version, or manually with psql. */
  private noteUnindexedTexts(): void {
    this.addSql(`
create function note_unindexed_text() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into unindexed_texts values (new.tenant_id, tg_argv[0], new.id) on conflict do nothing;
  return null;
end $$`);
    this.addSql('revoke all on function note_unindexed_text() from public');
    const note = (table: string, kind: string, columns: string, hasText: string) => {
      const foreign = `current_setting('parley.words', true) is distinct from 'kept'`;
      this.addSql(`
create trigger note_unindexed after insert on ${table} for each row
when (${foreign} and ${hasText}) execute function note_unindexed_text('${kind}')`);
      this.addSql(`
create trigger note_unindexed_change after update of ${columns} on ${table} for each row
when (${foreign}) execute function note_unindexed_text('${kind}')`);
    };
    note('answers', 'answer', 'comment, "values"', `written_text(new.comment, new."values") is not null`);
    note('messages', 'message', 'body', `new.kind <> 'event'`);
    note('conversations', 'subject', 'subject', `new.subject <> ''`);
  }

  /**
   * Selects the terms for the index: those in at most one in a hundred of the newest texts.
   *
   * A frequent term would cost its whole posting list, and is found sooner by reading the newest rows. The choice does
   * not depend on the planner's estimates.
   */
  private createChoice(): void {
    const choose = (table: string, order: string) =>
      this.addSql(`
create function rare_terms_of_${table}(tenant uuid, terms text[]) returns tsquery
language sql stable set search_path = public, pg_temp ${ORDERED}
as $$
  select string_agg(term, ' & ')::tsquery from unnest(terms) as term where (
    select count(*) from (
      select words from ${table} where tenant_id = tenant order by ${order} limit 200
    ) as newest where words @@ term::tsquery
  ) <= 2
$$`);
    choose('answer_words', 'received_at desc, id desc');
    choose('message_words', 'conversation_id desc, id desc');
  }

  /**
   * Row-level security prevents the use of the search index, because its operator is not leakproof. So these functions
   * run with the owner's rights, for the connection's tenant, and return only ids. The rows are then read under
   * row-level security.
   */
  private createSearch(): void {
    this.createChoice();
    const search = (name: string, params: string, returns: string, body: string) => {
      this.addSql(`
create function ${name}(${params}) returns ${returns}
language plpgsql stable security definer set search_path = public, pg_temp
set enable_seqscan = off set enable_indexscan = off set enable_indexonlyscan = off as $$
${body}
end $$`);
      const signature = `${name}(${params.replaceAll(/\w+ ([\w[\]]+)/g, '$1')})`;
      this.addSql(`revoke all on function ${signature} from public`);
      this.addSql(`grant execute on function ${signature} to parley_app`);
    };
    search(
      'search_answers',
      'terms text[], before_at timestamptz, before_id uuid, at_most int, newest int',
      'table (found uuid, found_at timestamptz)',
      `declare
  rare tsquery := rare_terms_of_answer_words(${TENANT}, terms);
  ids uuid[];
  times timestamptz[];
begin
  if rare is not null then
    execute 'select coalesce(array_agg(id), ''{}''), array_agg(received_at) from (
      select id, received_at from answer_words where words @@ $1 and (words @@ $2) is true and (tenant_id = $3) is true
        and ((received_at, id) < ($4, $5)) is not false limit $6
    ) as matching' into ids, times
    using rare, array_to_string(terms, ' & ')::tsquery, ${TENANT}, before_at, before_id, at_most + 1;
  end if;
  if ids is null or cardinality(ids) > at_most then return query select null::uuid, null::timestamptz; return; end if;
  return query select * from unnest(ids, times) as matching(id, at) order by at desc, id desc limit newest + 1;`,
    );
    search(
      'search_messages',
      'terms text[], at_most int, newest int',
      'setof uuid',
      `declare
  rare tsquery := rare_terms_of_message_words(${TENANT}, terms);
  ids uuid[];
  hits int;
begin
  if rare is not null then
    execute 'select coalesce(array_agg(distinct conversation_id), ''{}''), count(*) from (
      select conversation_id from message_words
      where words @@ $1 and (words @@ $2) is true and (tenant_id = $3) is true limit $4
    ) as matching' into ids, hits
    using rare, array_to_string(terms, ' & ')::tsquery, ${TENANT}, at_most + 1;
  end if;
  if ids is null or hits > at_most or cardinality(ids) > newest then return next null; return; end if;
  return query select unnest(ids);`,
    );
  }

  private fillBacklog(): void {
    const all = `'infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff'`;
    for (const [kind, table] of [
      ['answer', 'answers'],
      ['message', 'messages'],
      ['subject', 'conversations'],
    ])
      this.addSql(`
insert into search_backlog select id, '${kind}', ${all} from tenants
where exists (select from ${table} where tenant_id = tenants.id)`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
