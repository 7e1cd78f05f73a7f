-- Mails that wait for a mail server, and those whose outcome is less than a day old (docs/decisions/0052).
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
);
create index mails_due on mails (due_at) where due_at is not null;
create index mails_ended on mails (ended_at) where ended_at is not null;
alter table mails enable row level security;
create policy one_tenant on mails to parley_app using (tenant_id = :current_tenant);
create policy every_tenant on mails to parley_worker using (true);
grant select, insert, update, delete on mails to parley_app, parley_worker;

-- Mails by day, of a mailbox or a tenant. `counted` is a digest of either, so the table has no addresses and no rows of tenants.
create table mail_counts (
  day date not null,
  counted bytea not null,
  mails int not null,
  primary key (day, counted)
);
