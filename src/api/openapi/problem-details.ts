import type { ProblemError } from '../../domain/problem.ts';
import type { ProblemCode } from '../../domain/problem-catalog.ts';

/** The parts of a problem document that depend on the request. */
interface ProblemDetails {
  detail: string;
  instance: string;
  errors?: ProblemError[];
  from?: string;
  allowed?: string[];
  oldest_version?: string;
  etag?: string;
  narrow?: string[];
  now?: Record<string, unknown>;
  missed?: unknown[];
  oldest?: number;
}

/** Realistic details of each problem, for the examples of the document. */
export const PROBLEM_DETAILS: Record<ProblemCode, ProblemDetails> = {
  'malformed-request': { detail: 'The Authorization header was sent more than once.', instance: '/v1/questions' },
  'malformed-json': { detail: 'The body is not valid JSON in UTF-8.', instance: '/v1/questions' },
  'unknown-parameter': {
    detail: 'The query has an unknown parameter.',
    instance: '/v1/questions',
    errors: [{ parameter: 'limt', code: 'unknown-parameter', detail: 'Must be one of limit, cursor, status.' }],
  },
  'repeated-parameter': {
    detail: 'A query parameter is repeated.',
    instance: '/v1/questions',
    errors: [{ parameter: 'limit', code: 'repeated-parameter', detail: 'Must appear only once.' }],
  },
  'invalid-cursor': {
    detail: 'The cursor was not issued for this list with these filters.',
    instance: '/v1/questions',
  },
  'tenant-missing': { detail: 'Requests with a session require the Tenant-Id header.', instance: '/v1/questions' },
  'credentials-missing': {
    detail: 'The request has neither an Authorization header nor a session.',
    instance: '/v1/questions',
  },
  'credentials-invalid': { detail: 'The API key is unknown, expired or revoked.', instance: '/v1/questions' },
  'session-ended': { detail: 'The session has expired or was ended.', instance: '/v1/questions' },
  'login-failed': { detail: 'The e-mail address, password or code is wrong.', instance: '/v1/session' },
  'link-required': {
    detail: 'An account with this address exists. Log in with its password to link it.',
    instance: '/v1/oidc/callback',
  },
  'email-missing': {
    detail: 'The identity provider sent no valid address in OIDC_EMAIL_CLAIM. Claims received: iss, sub, name.',
    instance: '/v1/oidc/callback',
  },
  'email-unverified': {
    detail: 'The identity provider does not state that the address is verified, or states that it is not.',
    instance: '/v1/oidc/callback',
  },
  'email-mismatch': {
    detail: 'The invitation is for another address than the one of the identity provider.',
    instance: '/v1/oidc/callback',
  },
  'not-invited': {
    detail: 'No account has this address. Ask for an invitation.',
    instance: '/v1/oidc/callback',
  },
  'state-mismatch': {
    detail: 'The login was not begun in this browser, or more than ten minutes ago.',
    instance: '/v1/oidc/callback',
  },
  'provider-refused': {
    detail: 'The identity provider refused the login, or its reply is not valid.',
    instance: '/v1/oidc/callback',
  },
  'totp-required': {
    detail: 'The password is correct. Send an authenticator code in `totp`.',
    instance: '/v1/session',
  },
  'malformed-token': { detail: 'The token does not have three parts.', instance: '/v1/cards' },
  'bad-header': { detail: '`cty` must be `svc-fpa;v=1`.', instance: '/v1/cards' },
  'unknown-issuer': { detail: '`iss` is not an active API key.', instance: '/v1/cards' },
  'bad-signature': { detail: 'The signature does not match.', instance: '/v1/cards' },
  'subject-mismatch': { detail: '`sub` is not the tenant of the key in `iss`.', instance: '/v1/cards' },
  'token-expired': { detail: 'The token expired at 2026-11-21T06:00:00.000Z.', instance: '/v1/cards' },
  'lifetime-too-long': { detail: '`exp` is more than an hour ahead.', instance: '/v1/cards' },
  'not-yet-valid': { detail: '`nbf` is in the future.', instance: '/v1/cards' },
  'bad-identity': { detail: '`grants.identity` must be a string.', instance: '/v1/cards' },
  'insufficient-scope': { detail: 'The API key lacks the scope questions:write.', instance: '/v1/questions' },
  'not-allowed': {
    detail: 'Only the mailed link of an invitation accepts `not_my_account`.',
    instance: '/v1/invitations/qH3vYc8kTz5mWn1r/accept',
  },
  'csrf-failed': {
    detail: 'The X-CSRF-Token header is missing or belongs to another session.',
    instance: '/v1/questions',
  },
  'cross-site-request': {
    detail: 'Only pages under https://parley.example.com can send this request.',
    instance: '/v1/session',
  },
  'not-a-member': { detail: 'You are not a member of the tenant in `Tenant-Id`.', instance: '/v1/questions' },
  'public-access-restricted': { detail: 'Public access tokens cannot be used here.', instance: '/v1/conversations' },
  'api-key-not-public': {
    detail: 'The API key is a server key.',
    instance: '/v1/tenants/tenant_01jdpnx3r0e008000000000001/issuers/public/auth/token',
  },
  'origin-not-allowed': {
    detail: 'The origin is not among the allowed origins of the public API key.',
    instance: '/v1/tenants/tenant_01jdpnx3r0e008000000000001/issuers/public/auth/token',
  },
  'resource-not-found': {
    detail: 'The question was not found.',
    instance: '/v1/questions/question_01jdpnx3r0e008000000000001',
  },
  'link-not-valid': { detail: 'The link is unknown, expired or already used.', instance: '/v1/setup' },
  'method-not-allowed': { detail: 'This path supports GET, POST.', instance: '/v1/questions' },
  'method-unknown': { detail: 'The HTTP method is unknown.', instance: '/v1/questions' },
  'invalid-transition': {
    detail: 'The question is closed and cannot be live.',
    instance: '/v1/questions/question_01jdpnx3r0e008000000000001/resume',
    from: 'closed',
    allowed: ['archived'],
  },
  'upgrade-unfinished': {
    detail:
      'Follow-ups need all API processes to run this version; one of version 0.1.0 was seen in the last minute. Finish the update and try again.',
    instance: '/v1/questions/question_01jdpnx3r0e008000000000001/publish',
    oldest_version: '0.1.0',
  },
  'immutable-field': {
    detail: 'Type, scale and option ids of a published question cannot change.',
    instance: '/v1/questions/question_01jdpnx3r0e008000000000001',
    errors: [{ pointer: '/config/scale', code: 'immutable-field', detail: 'Cannot change once published.' }],
  },
  'limit-reached': { detail: 'A tenant can have at most 2,000 questions.', instance: '/v1/questions' },
  'last-owner': {
    detail: 'The member is the only owner of the tenant.',
    instance: '/v1/members/member_01jdpnx3r0e008000000000001',
  },
  'member-exists': { detail: 'The person is already a member of the tenant.', instance: '/v1/members' },
  'totp-active': { detail: 'An authenticator is already active.', instance: '/v1/me/totp' },
  'totp-inactive': { detail: 'No authenticator is enrolled.', instance: '/v1/me/totp/confirm' },
  'idempotency-key-in-use': {
    detail: 'The first request with this Idempotency-Key is still in progress.',
    instance: '/v1/questions',
  },
  'message-not-editable': {
    detail: 'The message was written more than 15 minutes ago.',
    instance: '/v1/conversations/conversation_01jdpnx3r0e008000000000001/messages/message_01jdpnx3r0e008000000000001',
  },
  'message-conflict': {
    detail: 'The client_message_id was used for a message with another text.',
    instance: '/v1/conversations',
  },
  'conversation-changed': {
    detail: 'Changed meanwhile: status.',
    instance: '/v1/conversations/conversation_01jdpnx3r0e008000000000001',
    now: { status: 'resolved' },
  },
  'conversation-moved': {
    detail: 'A message was written meanwhile.',
    instance: '/v1/conversations/conversation_01jdpnx3r0e008000000000001/messages',
    missed: [],
  },
  'rotation-running': {
    detail: 'The API key was rotated before, and its previous secrets are valid until 2026-11-21T07:00:00.000Z.',
    instance: '/v1/api-keys/key_01jdpnx3r0e008000000000001/rotate',
  },
  'conversation-deleted': {
    detail: 'The conversation that was started with this client_message_id was deleted.',
    instance: '/v1/conversations',
  },
  'events-expired': {
    detail: 'The events after 12 are no longer kept. The oldest is 4711.',
    instance: '/v1/events',
    oldest: 4711,
  },
  'precondition-failed': {
    detail: 'If-Match does not match the current version of the resource.',
    instance: '/v1/questions/question_01jdpnx3r0e008000000000001',
    etag: '"EZ9MrUzPRmNPfCQKRfUa1YUnvG0"',
  },
  'body-too-large': { detail: 'The body is larger than 256 KB.', instance: '/v1/answers' },
  'headers-too-large': { detail: 'The headers are larger than 16 KB.', instance: '' },
  'request-timed-out': { detail: 'The request was not received in time.', instance: '' },
  'unsupported-media-type': { detail: 'Send Content-Type: application/json (in UTF-8).', instance: '/v1/questions' },
  'validation-failed': {
    detail: 'The body does not match the schema: /colour.',
    instance: '/v1/questions',
    errors: [
      {
        pointer: '/colour',
        code: 'unknown-field',
        detail: 'This field is not known here. Remove it or correct its name.',
      },
    ],
  },
  'idempotency-key-reused': { detail: 'The Idempotency-Key was used for another request.', instance: '/v1/questions' },
  'rate-limit-exceeded': { detail: 'More than 1000 requests in 60 s.', instance: '/v1/questions' },
  'queue-unavailable': { detail: 'The queue cannot confirm answers right now.', instance: '/v1/answers' },
  'database-unavailable': { detail: 'The database cannot be reached right now.', instance: '/v1/questions' },
  'query-too-expensive': {
    detail: 'The query took longer than 5 s.',
    instance: '/v1/answers',
    narrow: ['question_id', 'state'],
  },
  'provider-unavailable': {
    detail: 'The identity provider cannot be reached.',
    instance: '/v1/oidc/login',
  },
  'service-overloaded': { detail: 'The server is overloaded.', instance: '/v1/questions' },
  'service-stopping': { detail: 'The server is shutting down.', instance: '/v1/answers' },
  'internal-error': { detail: 'Unexpected server error. Report the `request_id`.', instance: '/v1/questions' },
};
