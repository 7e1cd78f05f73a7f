-- A person, who may belong to several tenants (docs/decisions/0018). `parley_app` cannot read the columns with credentials.
create table accounts (
  id uuid primary key,
  email text not null unique,
  name text not null,
  password_hash text,
  totp_sealed bytea,
  totp_confirmed_at timestamptz(3),
  totp_last_step int,
  recovery_hashes text[] not null,
  created_at timestamptz(3) not null,
  email_proven_at timestamptz(3)
);
alter table accounts enable row level security;
create policy one_account on accounts to parley_app using (id = :current_account);
create policy team on accounts for select to parley_app using (id in (select account_id from members where tenant_id = :current_tenant));
grant insert on accounts to parley_app;
grant select (id, email, name, totp_confirmed_at, created_at, email_proven_at) on accounts to parley_app;
grant update (name, password_hash, totp_sealed, totp_confirmed_at, totp_last_step, recovery_hashes, email_proven_at)
  on accounts to parley_app;

-- Single-use links for setup and password resets.
create table account_links (
  token_hash bytea primary key,
  purpose text not null,
  account_id uuid,
  expires_at timestamptz(3) not null,
  mailed boolean not null default false
);
alter table account_links enable row level security;

-- A person's subject at an identity provider (OpenID Connect).
create table account_subjects (
  issuer text not null,
  subject text not null,
  account_id uuid not null,
  created_at timestamptz(3) not null,
  primary key (issuer, subject)
);
alter table account_subjects enable row level security;
create policy one_account on account_subjects to parley_app using (account_id = :current_account);
grant select, insert on account_subjects to parley_app;

-- Logins of persons. Only the hash of a token is stored.
create table sessions (
  id uuid primary key,
  account_id uuid not null,
  token_hash bytea not null unique,
  user_agent text not null,
  ip text,
  created_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create index sessions_of_account on sessions (account_id);
alter table sessions enable row level security;
create policy one_account on sessions to parley_app using (account_id = :current_account);
grant select, insert, delete on sessions to parley_app;
grant update (last_seen_at) on sessions to parley_app;
