-- A member of a tenant's team.
create table members (
  tenant_id uuid not null,
  id uuid not null,
  role text not null,
  created_at timestamptz(3) not null,
  account_id uuid not null,
  availability text not null default 'active',
  capacity int not null default 20,
  primary key (tenant_id, id),
  constraint members_account_key unique (tenant_id, account_id)
);
create index members_of_account on members (account_id);
alter table members enable row level security;
create policy one_tenant on members to parley_app using (tenant_id = :current_tenant);
create policy own on members for select to parley_app using (account_id = :current_account);
grant select, insert, update, delete on members to parley_app;

-- Invitations to a team. The mailed link has a token of its own, which proves the address; `mail_…` is the state of the mail.
create table invitations (
  tenant_id uuid not null,
  id uuid not null,
  email text not null,
  role text not null,
  token_hash bytea not null unique,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  mailed_token_hash bytea unique,
  mail_status text,
  mail_error text,
  mail_at timestamptz(3),
  primary key (tenant_id, id),
  constraint invitations_email_key unique (tenant_id, email)
);
alter table invitations enable row level security;
create policy one_tenant on invitations to parley_app using (tenant_id = :current_tenant);
grant select, insert, update, delete on invitations to parley_app;
