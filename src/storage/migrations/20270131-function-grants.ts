import { Migration } from '@mikro-orm/migrations';

/**
 * The functions that run with the rights of their caller: those that processes call, and those of their statements'
 * triggers, defaults, indexes and constraints.
 */
const FUNCTIONS = [
  'add_choices(jsonb, jsonb)',
  'conversation_start_hash(text, boolean, uuid, text, text, text)',
  'count_results(uuid, uuid, date, date)',
  'counted_values(jsonb)',
  'event_id_at(timestamptz, uuid)',
  'mark_tenant(uuid, text)',
  'place_of_write()',
  'rare_terms_of_answer_words(uuid, text[])',
  'rare_terms_of_message_words(uuid, text[])',
  'tenant_query(uuid, text)',
  'tenant_words(uuid, text)',
  'time_of_write()',
  'type_id(text, uuid)',
  'written_text(text, jsonb)',
  'written_texts(text, jsonb)',
];

/**
 * Grants functions to the roles that until now may call them only as PUBLIC may, which it may not where an administrator
 * has revoked that (`alter default privileges … revoke execute on functions from public`).
 *
 * A function that runs with the rights of its caller does not let a role access more rows.
 */
export class FunctionGrants extends Migration {
  override up(): void {
    for (const name of FUNCTIONS) this.addSql(`grant execute on function ${name} to parley_app, parley_worker`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
