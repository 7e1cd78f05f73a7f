import { DEFAULT_APPEARANCE } from '../../domain/appearance.ts';
import type { IdPrefix } from '../../domain/ids.ts';
import { DEFAULT_SCOPES } from '../../domain/scopes.ts';

const PASSWORD = 'correct horse battery staple';
const CSRF = 'OTgxYmU2NGYtYjc5MS00NGM2LWE4ZTQtZGYxYjE0ZjQ3NjFj';
const EXPIRES = '2026-12-21T07:00:00.000Z';

/** How cards look, with a color of the tenant. */
export const APPEARANCE = { ...DEFAULT_APPEARANCE, theme: 'light', accent: '#0f766e' };

type IdOf = (prefix: IdPrefix) => string;

const accountOf = (idOf: IdOf) => ({
  account_id: idOf('account'),
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  totp_enabled: false,
  memberships: [
    { tenant: { id: idOf('tenant'), name: 'Acme', demo: false }, member_id: idOf('member'), role: 'owner' },
  ],
});

/** Logins and a person's own account. */
function accountExamples(idOf: IdOf, at: string): Record<string, unknown> {
  const account = accountOf(idOf);
  const { email, name } = account;
  return {
    Login: { email, password: PASSWORD },
    LoggedIn: { member: account, csrf_token: CSRF },
    LoginOptions: {
      password_reset_by_mail: true,
      needs_owner: false,
      oidc: { name: 'Acme SSO', login_url: '/v1/oidc/login' },
    },
    Session: {
      id: idOf('session'),
      current: true,
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
      ip: '203.0.113.7',
      created_at: at,
      last_seen_at: at,
      expires_at: EXPIRES,
    },
    Setup: { token: 'T4pEaO2cXkVb', tenant_name: 'Acme', name, email, password: PASSWORD },
    Account: account,
    TenantName: { id: idOf('tenant'), name: 'Nordlicht Coffee (demo)', demo: true },
    AccountPatch: { name: 'Ada King' },
    PasswordChange: { current_password: PASSWORD, new_password: 'tr0ub4dor and three more' },
    PasswordResetRequest: { email },
    PasswordResetRequested: {},
    PasswordReset: { password: PASSWORD },
    PasswordProof: { password: PASSWORD },
    TotpEnrolment: {
      secret: 'JBSWY3DPEHPK3PXP',
      uri: 'otpauth://totp/Parley:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Parley',
    },
    TotpConfirmation: { totp: '492039' },
    RecoveryCodes: { recovery_codes: ['k3f2a-9qpd4', 'm5rt6-x2w7c'] },
  };
}

/** Webhooks and their deliveries. */
function webhookExamples(idOf: IdOf, at: string): Record<string, unknown> {
  const input = {
    url: 'https://hooks.example.com/parley',
    description: 'CRM',
    event_types: ['answer.completed', 'message.created'],
    payload: 'full',
    ordered: false,
  };
  const webhook = {
    id: idOf('webhook'),
    ...input,
    status: 'enabled',
    disabled_reason: null,
    lag: { events: 0, seconds: 0 },
    previous_secret_until: null,
    created_at: at,
    updated_at: at,
  };
  return {
    WebhookInput: input,
    WebhookPatch: { status: 'enabled', resume: 'continue' },
    WebhookRotation: { overlap_hours: 24 },
    WebhookReplay: { from: at, types: ['answer.completed'] },
    ReplayCount: { count: 17 },
    Webhook: webhook,
    'Webhook.created': { ...webhook, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
    Delivery: {
      id: idOf('delivery'),
      event_id: idOf('event'),
      sequence: 4711,
      type: 'answer.completed',
      attempt: 1,
      at,
      status: 'delivered',
      response_status: 204,
      duration_ms: 87,
      error: null,
      response: '',
    },
  };
}

/** Who the credential is, and tokens. */
function tokenExamples(idOf: IdOf, at: string): Record<string, unknown> {
  const claims = { iss: idOf('key'), sub: idOf('tenant'), exp: 1_795_244_400, grants: { identity: 'user|42' } };
  return {
    TestToken: { access_token: 'eyJhbGciOiJIUzI1NiIs…', expires_in: 900 },
    Me: {
      credential: 'access-token',
      tenant_id: idOf('tenant'),
      identity: 'user|42',
      identity_verified: true,
      expires_at: at,
    },
    'Me.session': {
      credential: 'session',
      account: accountOf(idOf),
      session: { id: idOf('session'), created_at: at, expires_at: EXPIRES },
      csrf_token: CSRF,
    },
    PublicTokenRequest: { user_id: 'user|42' },
    PublicToken: {
      access_token: 'eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJrZXkifQ.c2ln',
      token_type: 'Bearer',
      expires_in: 3600,
    },
    InspectRequest: { token: 'eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJrZXkifQ.c2ln' },
    Inspection: {
      valid: false,
      code: 'token-expired',
      detail: 'The token expired at 2026-11-21T06:00:00.000Z.',
      header: { alg: 'HS256', typ: 'JWT', cty: 'svc-fpa;v=1' },
      claims,
      key_kind: 'server',
    },
  };
}

function assignmentExamples(idOf: IdOf): Record<string, unknown> {
  const rule = {
    name: 'Billing',
    when: { tag: 'billing' },
    then: { priority: 'high', assign: { round_robin: [idOf('member')] } },
  };
  return {
    AssignmentRulesInput: { data: [rule] },
    AssignmentRulesPreview: { data: [rule] },
    AssignmentRulesMatches: { count: 12, more: false },
    AssignmentRules: { data: [{ id: idOf('rule'), ...rule }] },
  };
}

/** What has happened. */
const eventExamples = (idOf: IdOf, at: string): Record<string, unknown> => ({
  EventPage: {
    data: [
      {
        id: idOf('event'),
        type: 'conversation.status_changed',
        sequence: 4711,
        timestamp: at,
        tenant_id: idOf('tenant'),
        object: { type: 'conversation', id: idOf('conversation') },
        data: { from: 'open', to: 'resolved', by: { type: 'member', id: idOf('member') } },
      },
    ],
    has_more: true,
    last: 4711,
    oldest: 1200,
    newest: 4711,
  },
});

const keyOf = (idOf: IdOf, at: string) => ({
  id: idOf('key'),
  name: 'Backend',
  kind: 'server',
  scopes: DEFAULT_SCOPES,
  status: 'active',
  hint: 'x7Qk',
  allowed_origins: [],
  created_at: at,
  expires_at: null,
  last_used_at: at,
});

/** The tenant, its members and its keys. */
export function teamExamples(idOf: IdOf, at: string): Record<string, unknown> {
  const grace = { email: 'grace@example.com', role: 'agent' };
  const mail = { status: 'queued', error: '450 4.2.0 Greylisted', at };
  const invitation = { id: idOf('invitation'), ...grace, created_at: at, expires_at: '2026-11-28T07:00:00.000Z' };
  const key = keyOf(idOf, at);
  return {
    ...accountExamples(idOf, at),
    ...tokenExamples(idOf, at),
    ...assignmentExamples(idOf),
    ...eventExamples(idOf, at),
    ...webhookExamples(idOf, at),
    Tenant: {
      id: idOf('tenant'),
      name: 'Acme',
      default_locale: 'en',
      locales: ['en', 'de'],
      timezone: 'Europe/Berlin',
      cooldown_days: 7,
      retention: { answers_days: 730, conversations_days: null },
      ip_mode: 'truncated',
      identity_attributes_allowed: ['plan'],
      auto_resolve_days: 14,
      office_hours: [{ day: 1, from: '09:00', to: '12:30' }],
      reply_targets: { urgent: 60, high: 240 },
      custom_fields: [{ key: 'order_number', label: 'Order number', type: 'text' }],
      appearance: APPEARANCE,
      demo: false,
      created_at: at,
    },
    TenantPatch: { timezone: 'Europe/Berlin', retention: { answers_days: 730 }, appearance: { accent: '#0f766e' } },
    Member: {
      ...{ id: idOf('member'), name: 'Grace Hopper', totp_enabled: true, created_at: at, ...grace },
      ...{ availability: 'active', capacity: 20 },
    },
    MemberPatch: { availability: 'away' },
    InvitationInput: grace,
    MailState: mail,
    Invitation: { ...invitation, mail },
    SentInvitation: {
      ...invitation,
      link: 'https://parley.example.com/dashboard/invitation#token=T4pEaO2cXkVb',
      mail: 'queued',
    },
    InvitationNotice: {
      tenant_name: 'Acme',
      ...grace,
      account_exists: false,
      not_my_account_allowed: false,
      expires_at: invitation.expires_at,
    },
    Acceptance: { name: 'Grace Hopper', password: PASSWORD },
    ApiKeyInput: { name: 'Backend', scopes: ['answers:read', 'questions:write'] },
    ApiKeyPatch: { name: 'Backend, production' },
    ApiKeyRotation: { overlap_hours: 24 },
    ApiKey: key,
    'ApiKey.created': {
      ...key,
      secret: 'Yk8wZ3J5c2VjcmV0LW9mLTMyLWJ5dGVzLWFzLXRleHQ',
      api_key: 'sk_01jdpnx3r0e008000000000001_Q2x…',
    },
    AuditEntry: {
      id: idOf('audit'),
      at,
      actor: { type: 'member', id: idOf('member'), name: 'Grace Hopper' },
      action: 'question.published',
      target: { id: idOf('question'), name: 'NPS' },
      fields: [],
      ip: '203.0.113.0',
      request_id: '4f0c1c52-3a0e-4d6e-9a51-6e3c9e4a7c11',
    },
    Health: { status: 'ok', degraded: [] },
    Readiness: { status: 'ok', degraded: [], version: '0.2.0', commit: '5d1c9f0e7b3a4c2d8e6f1a0b9c8d7e6f5a4b3c2d' },
    OpenApiDocument: { openapi: '3.1.0', info: { title: 'Parley', version: '0.1.0' }, paths: {} },
  };
}
