import { Migration } from '@mikro-orm/migrations';

/** Derived keys, which outlive `SECRET_KEY` so that it can be replaced. Processes create missing ones. */
export class LastingKeys extends Migration {
  override up(): void {
    this.addSql(`
create table lasting_keys (
  purpose text primary key,
  key_sealed bytea not null,
  created_at timestamptz(3) not null
)`);
    this.addSql('grant select, insert on lasting_keys to parley_app');
    this.createSamples();
    this.addSql('insert into schema_state values (9, 1)');
  }

  /** Returns some of the oldest secrets in use, which show the secret key of the installation. */
  private createSamples(): void {
    this.addSql(`
create function sealed_samples(at_most int) returns table (context text, sealed bytea)
language sql stable security definer set search_path = public, pg_temp
as $$ (select id::text, secret_sealed from api_keys where revoked_at is null order by created_at, id limit at_most)
      union all
      (select id::text, totp_sealed from accounts where totp_sealed is not null order by created_at, id limit at_most) $$`);
    this.addSql('revoke all on function sealed_samples(int) from public');
    this.addSql('grant execute on function sealed_samples(int) to parley_app');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
