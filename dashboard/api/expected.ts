import type { Schemas } from './schema.ts';

/** No parameters. */
type None = Record<never, never>;

/** An operation of the contract in the form of `schema.ts`. */
type Op<Response, Body = undefined, Params = None, Query = None> = {
  params: Params;
  query: Query;
  body: Body;
  response: Response;
};

/**
 * Operations of the contract (sections 2, 3 and 6) that the OpenAPI document does not have yet.
 *
 * Whatever the document has wins over the entry here (`client.ts`); an entry goes when its operation has come.
 */
export interface ExpectedOperations {
  'GET /v1/login-options': Op<LoginOptions>;
  'POST /v1/session': Op<SignedIn, { email: string; password: string; totp?: string }>;
  'DELETE /v1/session': Op<undefined>;
  'POST /v1/setup': Op<SignedIn, NewInstallation>;
  'GET /v1/invitations/{token}': Op<OpenInvitation, undefined, { token: string }>;
  'POST /v1/invitations/{token}/accept': Op<SignedIn, Acceptance, { token: string }>;
  'POST /v1/password-resets': Op<unknown, { email: string }>;
  'POST /v1/password-resets/{token}': Op<undefined, { password: string }, { token: string }>;
  'GET /v1/sessions': Op<Page<PersonSession>>;
  'DELETE /v1/sessions': Op<undefined>;
  'DELETE /v1/sessions/{id}': Op<undefined, undefined, { id: string }>;
  'PATCH /v1/me': Op<Account, { name: string }>;
  'PUT /v1/me/password': Op<undefined, { current_password: string; new_password: string }>;
  'POST /v1/me/totp': Op<{ secret: string; uri: string }, { password: string }>;
  'POST /v1/me/totp/confirm': Op<{ recovery_codes: string[] }, { totp: string }>;
  'POST /v1/me/totp/remove': Op<undefined, { password: string }>;
  'GET /v1/tenant': Op<Tenant>;
  'PATCH /v1/tenant': Op<Tenant, Partial<Omit<Tenant, 'id' | 'created_at'>>>;
  'GET /v1/members': Op<Page<Member>, undefined, None, PageQuery>;
  'POST /v1/members': Op<Invitation & { link: string }, { email: string; role: MemberRole }>;
  'GET /v1/members/invitations': Op<Page<Invitation>, undefined, None, PageQuery>;
  'DELETE /v1/members/invitations/{id}': Op<undefined, undefined, { id: string }>;
  'PATCH /v1/members/{id}': Op<Member, { role: MemberRole }, { id: string }>;
  'DELETE /v1/members/{id}': Op<undefined, undefined, { id: string }>;
  'GET /v1/audit-log': Op<Page<AuditEntry>, undefined, None, PageQuery & { action?: string; actor?: string }>;
  'GET /v1/api-keys': Op<Page<ApiKey>, undefined, None, PageQuery>;
  'POST /v1/api-keys': Op<ApiKeyWithSecrets, NewApiKey>;
  'PATCH /v1/api-keys/{id}': Op<ApiKey, Partial<Pick<NewApiKey, 'name' | 'allowed_origins'>>, { id: string }>;
  'DELETE /v1/api-keys/{id}': Op<undefined, undefined, { id: string }>;
  'POST /v1/api-keys/{id}/rotate': Op<ApiKeyWithSecrets, { overlap_hours: number }, { id: string }>;
  'GET /v1/identities/{identity}': Op<Identity, undefined, { identity: string }, { verified?: string }>;
  'GET /v1/questions/{id}/results': Op<Results, undefined, { id: string }, ResultsQuery>;
}

interface PageQuery {
  limit?: number;
  cursor?: string;
}

export interface Page<Item> {
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
}

export interface LoginOptions {
  password_reset_by_mail: boolean;
  oidc: { name: string; login_url: string } | null;
}

export type MemberRole = 'owner' | 'admin' | 'agent' | 'analyst';

export interface Membership {
  tenant: { id: string; name: string };
  member_id: string;
  role: MemberRole;
}

/** A person, with the tenants that they belong to. */
export interface Account {
  account_id: string;
  email: string;
  name: string;
  totp_enabled: boolean;
  memberships: Membership[];
}

export interface SignedIn {
  member: Account;
  csrf_token: string;
}

/** What `GET /v1/me` gives to the cookie. */
export interface SessionMe {
  credential: 'session';
  account: Account;
  session: { id: string; created_at: string; expires_at: string };
  csrf_token: string;
}

export interface NewInstallation {
  token: string;
  tenant_name: string;
  name: string;
  email: string;
  password: string;
}

export interface OpenInvitation {
  tenant_name: string;
  email: string;
  role: MemberRole;
  account_exists: boolean;
  expires_at: string;
}

export interface Acceptance {
  name: string;
  password: string;
  totp?: string;
}

export interface PersonSession {
  id: string;
  current: boolean;
  user_agent: string | null;
  ip: string | null;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
}

export interface Tenant {
  id: string;
  name: string;
  default_locale: string;
  locales: string[];
  timezone: string;
  cooldown_days: number;
  ip_mode: 'none' | 'truncated' | 'full';
  created_at: string;
}

export interface Member {
  id: string;
  email: string;
  name: string;
  role: MemberRole;
  totp_enabled: boolean;
  created_at: string;
}

export interface Invitation {
  id: string;
  email: string;
  role: MemberRole;
  created_at: string;
  expires_at: string;
}

export interface AuditEntry {
  id: string;
  at: string;
  actor: { type: 'member' | 'api-key' | 'system'; id: string | null; name: string | null };
  action: string;
  target: { id: string | null; name: string | null };
  fields: string[];
  ip: string | null;
  request_id: string | null;
}

export interface ApiKey {
  id: string;
  name: string;
  kind: 'server' | 'public';
  scopes: string[];
  status: 'active' | 'rotating' | 'expired' | 'revoked';
  hint: string;
  allowed_origins: string[];
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}
/** Both are shown this once. */
export type ApiKeyWithSecrets = ApiKey & { secret?: string; api_key?: string };

export interface NewApiKey {
  name: string;
  kind: 'server' | 'public';
  scopes?: string[];
  expires_at?: string;
  allowed_origins?: string[];
}

interface ResultsQuery {
  from?: string;
  to?: string;
  group_by?: 'day' | 'week' | 'month';
  version?: number;
}

/** What the answers of one question say: a score where its type has one, null while nobody answered. */
export interface Score {
  measure: 'nps' | 'csat' | 'mean' | 'positive';
  value: number | null;
  answers: number;
  /** The 95 % interval of an NPS. */
  interval: { low: number; high: number } | null;
}

export interface ValueCount {
  value: number | string | boolean;
  label?: string;
  count: number;
  share: number;
}

interface Tally {
  displays: number;
  answered: number;
  response_rate: number | null;
  score: Score | null;
  values: ValueCount[];
}

export interface Results extends Tally {
  question_id: string;
  type: Schemas['Question']['type'];
  seen: number;
  dismissed: number;
  partial: number;
  completed: number;
  written: number;
  over_time: (Tally & { start: string })[];
  versions: (Tally & { version: number })[];
}

export type QuestionWithResults = Schemas['Question'] & {
  results?: Pick<Tally, 'displays' | 'answered' | 'response_rate' | 'score'> & { answered_7_days: number };
};

export type VersionWithChanges = Schemas['QuestionVersion'] & {
  changes?: { pointer: string; before: unknown; after: unknown }[];
};

export interface Identity {
  identity: string;
  verified: boolean;
  attributes: Record<string, string | number | boolean>;
  locale: string | null;
  platform: string | null;
  app_version: string | null;
  first_seen_at: string | null;
  last_seen_at: string | null;
  answer_count: number;
  conversation_count: number;
}

type AnswerFilter = {
  question_id?: string;
  state?: Schemas['Answer']['state'];
  identity?: string;
  verified?: string;
  tag?: string;
  q?: string;
  written?: 'true';
  version?: number;
};

/** Operations that the document has, with what is being added to them. */
export interface ChangingOperations {
  'GET /v1/questions': Op<Page<QuestionWithResults>, undefined, None, PageQuery & QuestionFilter>;
  'GET /v1/questions/{id}/versions': Op<Page<VersionWithChanges>, undefined, { id: string }, PageQuery>;
  'GET /v1/answers': Op<Page<Schemas['Answer']>, undefined, None, PageQuery & AnswerFilter>;
  'GET /v1/conversations': Op<Page<Schemas['Conversation']>, undefined, None, PageQuery & ConversationFilter>;
  'GET /v1/conversations/unread-count': Op<{ count: number }, undefined, None, { assignee?: string }>;
  'GET /v1/me': Op<SessionMe>;
}

type QuestionFilter = { status?: Schemas['Question']['status']; q?: string; include?: 'results' };

type ConversationFilter = {
  status?: Schemas['Conversation']['status'];
  assignee?: string;
  tag?: string;
  unread?: 'true';
  identity?: string;
  verified?: string;
  q?: string;
};
