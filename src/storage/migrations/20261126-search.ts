import { Migration } from '@mikro-orm/migrations';

/**
 * Search for the team: words in answers and conversations, tags, assignees, unread messages (docs/decisions/0017).
 * `20261202-indexes` creates the indexes.
 */
export class Search extends Migration {
  override up(): void {
    this.createWords();
    this.createSearch();
    this.addSql('insert into schema_state values (6, 1)');
  }

  /** Literal words in any language, with the tenant's id as one of them, because the index has no tenant column. */
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
   * Returns conversations with matching subjects and messages, up to a maximum number of each; fewer if there are no
   * more.
   *
   * Row-level security prevents the use of the index, because its operator is not leakproof. This function runs with
   * the owner's rights, only for the tenant of the connection, and is planned for each call.
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
