import type { Operations, Schemas } from './schema.ts';

/** A person's account with their memberships. */
export type Account = Schemas['Account'];
export type Membership = Account['memberships'][number];
export type MemberRole = Membership['role'];

/** Response of `GET /v1/me` to a session cookie. */
export type SessionMe = Extract<Schemas['Me'], { credential: 'session' }>;

export type ApiKey = Schemas['ApiKey'];
export type NewApiKey = Operations['POST /v1/api-keys']['body'];
/** Includes the secrets, which are returned only once. */
export type ApiKeyWithSecrets = Operations['POST /v1/api-keys']['response'];

export type Results = Schemas['Results'];
export type Score = Schemas['Score'];

export type QuestionWithResults = Schemas['QuestionListItem'];
export type VersionWithChanges = Schemas['QuestionVersion'];
export type OpenInvitation = Schemas['InvitationNotice'];
export type Identity = Schemas['IdentityProfile'];
export type AuditEntry = Schemas['AuditEntry'];
export type Tenant = Schemas['Tenant'];
export type Invitation = Schemas['Invitation'];
export type SentInvitation = Schemas['SentInvitation'];
export type Member = Schemas['Member'];

export type Webhook = Schemas['Webhook'];
export type NewWebhook = Operations['POST /v1/webhooks']['body'];
/** Includes the secret, which is returned only once. */
export type WebhookWithSecret = Operations['POST /v1/webhooks']['response'];
export type Delivery = Schemas['Delivery'];
export type EventType = Schemas['EventType'];
export type FeedEvent = Schemas['Event'];
