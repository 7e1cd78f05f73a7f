import { Migration } from '@mikro-orm/migrations';

/** What the team looks for: words in answers and conversations, tags, assignees, what is unread (docs/decisions/0017); `20261202-indexes` has the indexes. */
export class Search extends Migration {
  override up(): void {
    this.createWords();
    this.createSearch();
    this.addSql('insert into schema_state values (6, 1)');
  }

  /** Words as they stand in any language, and the tenant's id as a word among them: an index of words knows no tenant. */
  private createWords(): void {
    this.addSql(`
create function tenant_words(tenant uuid, said text) returns tsvector
language sql immutable parallel safe
as $$ select array_to_tsvector(array[tenant::text]) || to_tsvector('simple'::regconfig, said) $$`);
    this.addSql(`
create function tenant_query(tenant uuid, wanted text) returns tsquery
language sql immutable parallel safe
as $$
  select (quote_literal(tenant::text) || ' & ' || string_agg(
    '''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''' || case when length(lexeme) > 2 then ':*' else '' end,
    ' & '))::tsquery
  from unnest(to_tsvector('simple'::regconfig, wanted))
$$`);
  }

  /**
   * The conversations of such subjects and messages, at most so many of each; fewer are all that there are.
   *
   * Row-level security lets no index of words be used: its operator might tell of rows that it was shown. This looks
   * with the owner's rights, for the tenant of the connection alone, and is planned anew for each question.
   */
  private createSearch(): void {
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql(`
create function search_conversations(wanted text, at_most int) returns setof uuid
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
  return query execute '
    (select id from conversations
     where tenant_id = $1 and subject <> '''' and tenant_words(tenant_id, subject) @@ $2 limit $3)
    union all
    (select conversation_id from messages
     where tenant_id = $1 and kind <> ''event'' and tenant_words(tenant_id, body) @@ $2 limit $3)'
  using ${tenant}, tenant_query(${tenant}, wanted), at_most;
end $$`);
    this.addSql('revoke all on function search_conversations(text, int) from public');
    this.addSql('grant execute on function search_conversations(text, int) to parley_app');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
