import { Migration } from '@mikro-orm/migrations';
import { CURRENT_TENANT } from '../row-scope.ts';

/**
 * Mails that wait for a mail server, and those whose outcome is less than a day old (docs/decisions/0052). An invitation
 * keeps the state of its mail, which outlives the mail's row.
 */
export class Mails extends Migration {
  override up(): void {
    this.addSql(`
create table mails (
  tenant_id uuid not null,
  id uuid not null,
  kind text not null,
  invitation_id uuid,
  recipient text not null,
  letter_sealed bytea,
  status text not null,
  attempts int not null default 0,
  error text,
  created_at timestamptz(3) not null,
  due_at timestamptz(3),
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3),
  primary key (tenant_id, id)
)`);
    this.addSql('create index mails_due on mails (due_at) where due_at is not null');
    this.addSql('create index mails_ended on mails (ended_at) where ended_at is not null');
    this.addSql('alter table mails enable row level security');
    this.addSql(`create policy one_tenant on mails to parley_app using (tenant_id = ${CURRENT_TENANT})`);
    this.addSql('create policy every_tenant on mails to parley_worker using (true)');
    this.addSql('grant select, insert, update, delete on mails to parley_app, parley_worker');
    this.addSql(
      'alter table invitations add column mail_status text, add column mail_error text, add column mail_at timestamptz(3)',
    );
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
