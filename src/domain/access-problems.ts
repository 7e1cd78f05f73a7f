import type { ProblemEntry } from './problem-kinds.ts';

/** The problems of credentials, logins and rights, by their public code: a part of `PROBLEMS`. */
export const ACCESS_PROBLEMS = {
  'credentials-missing': {
    kind: 'unauthenticated',
    title: 'Missing credentials',
    meaning: 'Send `Authorization: Bearer` with an API key (`sk_…`) or an access token. In the dashboard, log in.',
    example: { detail: 'The request has neither an Authorization header nor a session.' },
  },
  'credentials-invalid': {
    kind: 'unauthenticated',
    title: 'Invalid credentials',
    meaning: 'The API key or the Basic credentials are unknown, expired, revoked, or belong to another tenant.',
    example: { detail: 'The API key is unknown, expired or revoked.' },
  },
  'session-ended': {
    kind: 'unauthenticated',
    title: 'The session has ended',
    meaning: 'The session expired, or was ended here or from another device. Log in again.',
    example: { detail: 'The session has expired or was ended.' },
  },
  'login-failed': {
    kind: 'unauthenticated',
    title: 'Login failed',
    meaning: 'The e-mail address, password or code is wrong. For security, the response does not reveal which.',
    example: { detail: 'The e-mail address, password or code is wrong.', instance: '/v1/session' },
  },
  'link-required': {
    kind: 'unauthenticated',
    title: 'The account is not linked to the identity provider',
    meaning:
      'An account with this e-mail address exists. Log in with its password in the same browser within ten minutes to link it; from then on the identity provider works for this account too. If you do not know the password, reset it first. The account has not been changed.',
    example: {
      detail: 'An account with this address exists. Log in with its password to link it.',
      instance: '/v1/oidc/callback',
    },
  },
  'email-missing': {
    kind: 'unauthenticated',
    title: 'The identity provider sent no e-mail address',
    meaning:
      'A new person needs an address. The provider sent none in the claim `OIDC_EMAIL_CLAIM`, or one that is not valid. Fill in the address of the person there, and release it for the scope `email`.',
    example: {
      detail: 'The identity provider sent no valid address in OIDC_EMAIL_CLAIM. Claims received: iss, sub, name.',
      instance: '/v1/oidc/callback',
    },
  },
  'email-unverified': {
    kind: 'unauthenticated',
    title: 'The identity provider has not verified the e-mail address',
    meaning:
      'The claim `email_verified` is missing or false. If it is false, verify the address at the provider. If your directory never sends it, as Microsoft Entra ID, the operator can set `OIDC_TRUST_EMAIL=issuer`.',
    example: {
      detail: 'The identity provider does not state that the address is verified, or states that it is not.',
      instance: '/v1/oidc/callback',
    },
  },
  'email-mismatch': {
    kind: 'unauthenticated',
    title: 'The invitation is for another e-mail address',
    meaning:
      'The identity provider has another address for the person than the invitation. Log in there as the invited person, or ask for an invitation to the other address.',
    example: {
      detail: 'The invitation is for another address than the one of the identity provider.',
      instance: '/v1/oidc/callback',
    },
  },
  'not-invited': {
    kind: 'unauthenticated',
    title: 'No account and no invitation',
    meaning:
      'The identity provider confirmed the person, but no account belongs to them. Ask a member of the team for an invitation, and open its link.',
    example: { detail: 'No account has this address. Ask for an invitation.', instance: '/v1/oidc/callback' },
  },
  'state-mismatch': {
    kind: 'unauthenticated',
    title: 'The login was not started in this browser',
    meaning:
      'The login was started in another browser, more than ten minutes ago, or under another address than `BASE_URL`, or it was completed before. Start it again on the login page.',
    example: {
      detail: 'The login was not begun in this browser, or more than ten minutes ago.',
      instance: '/v1/oidc/callback',
    },
  },
  'provider-refused': {
    kind: 'unauthenticated',
    title: 'The identity provider refused the login',
    meaning:
      'The provider refused the person or the client, or its reply failed validation. The server log has the reason: `login through the identity provider refused`.',
    example: {
      detail: 'The identity provider refused the login, or its reply is not valid.',
      instance: '/v1/oidc/callback',
    },
  },
  'totp-required': {
    kind: 'unauthenticated',
    title: 'An authenticator code is required',
    meaning: 'The password is correct. Repeat the login with an authenticator code or a recovery code in `totp`.',
    example: { detail: 'The password is correct. Send an authenticator code in `totp`.', instance: '/v1/session' },
  },
  'malformed-token': {
    kind: 'unauthenticated',
    title: 'The access token is not a compact JWT',
    meaning:
      'A token has three parts in unpadded base64url and at most 4 KB. The first two parts are JSON objects in UTF-8 (RFC 7515 section 3.1).',
    example: { detail: 'The token does not have three parts.', instance: '/v1/cards' },
  },
  'bad-header': {
    kind: 'unauthenticated',
    title: 'The access token header is invalid',
    meaning:
      'The header must be `{"alg":"HS256","typ":"JWT","cty":"svc-fpa;v=1"}`. `kid` is ignored; other parameters are rejected.',
    example: { detail: '`cty` must be `svc-fpa;v=1`.', instance: '/v1/cards' },
  },
  'unknown-issuer': {
    kind: 'unauthenticated',
    title: 'The issuer of the access token is unknown',
    meaning: '`iss` must be the id of one of your API keys that is neither revoked nor expired.',
    example: { detail: '`iss` is not an active API key.', instance: '/v1/cards' },
  },
  'bad-signature': {
    kind: 'unauthenticated',
    title: 'The access token signature is invalid',
    meaning:
      'Sign with HS256 and the secret of the API key in `iss`. The HMAC key is the UTF-8 text of the secret; do not decode it.',
    example: { detail: 'The signature does not match.', instance: '/v1/cards' },
  },
  'subject-mismatch': {
    kind: 'unauthenticated',
    title: 'The access token is for another tenant',
    meaning: '`sub` must be the id of the tenant that owns the key in `iss`.',
    example: { detail: '`sub` is not the tenant of the key in `iss`.', instance: '/v1/cards' },
  },
  'token-expired': {
    kind: 'unauthenticated',
    title: 'The access token has expired',
    meaning: '`exp` must be a time in the future, in seconds since 1970 (60 s of leeway). Sign a new token.',
    example: { detail: 'The token expired at 2026-11-21T06:00:00.000Z.', instance: '/v1/cards' },
  },
  'lifetime-too-long': {
    kind: 'unauthenticated',
    title: 'The access token lifetime is too long',
    meaning: '`exp` may be at most one hour ahead (60 s of leeway).',
    example: { detail: '`exp` is more than an hour ahead.', instance: '/v1/cards' },
  },
  'not-yet-valid': {
    kind: 'unauthenticated',
    title: 'The access token is not valid yet',
    meaning: '`nbf` or `iat` is more than 60 s in the future. Check the clock of the machine that signs tokens.',
    example: { detail: '`nbf` is in the future.', instance: '/v1/cards' },
  },
  'bad-identity': {
    kind: 'unauthenticated',
    title: 'The access token has no valid identity',
    meaning:
      '`grants.identity` must be a string of 1 to 256 characters in NFC, without control characters. Send integer ids as strings.',
    example: { detail: '`grants.identity` must be a string.', instance: '/v1/cards' },
  },
  'insufficient-scope': {
    kind: 'forbidden',
    title: 'Insufficient permissions',
    meaning: 'Use another kind of credential, an API key with the scope named in `detail`, or ask for another role.',
    example: { detail: 'The API key lacks the scope questions:write.' },
  },
  'not-allowed': {
    kind: 'forbidden',
    title: 'Not allowed for this link',
    meaning:
      'Only the mailed link of an invitation accepts `not_my_account`, and only while no account has proven the address. Accept the invitation with the password of the account; if it is lost, reset it.',
    example: {
      detail: 'Only the mailed link of an invitation accepts `not_my_account`.',
      instance: '/v1/invitations/qH3vYc8kTz5mWn1r/accept',
    },
  },
  'csrf-failed': {
    kind: 'forbidden',
    title: 'Missing or wrong CSRF token',
    meaning: 'Writes with a session must send `X-CSRF-Token`, as returned by the login or by `GET /v1/me`.',
    example: { detail: 'The X-CSRF-Token header is missing or belongs to another session.' },
  },
  'cross-site-request': {
    kind: 'forbidden',
    title: 'Cross-site request rejected',
    meaning:
      'Sessions work only in the dashboard. Open it at the address in BASE_URL, or use an API key in your own code.',
    example: { detail: 'Only pages under https://parley.example.com can send this request.', instance: '/v1/session' },
  },
  'not-a-member': {
    kind: 'forbidden',
    title: 'Not a member of this tenant',
    meaning: '`Tenant-Id` must be one of the tenants in `memberships` of `GET /v1/me`.',
    example: { detail: 'You are not a member of the tenant in `Tenant-Id`.' },
  },
  'public-access-restricted': {
    kind: 'forbidden',
    title: 'Not allowed with a public access token',
    meaning:
      'Public tokens only claim their identity. They can read cards, send answers and check whether an answer was stored.',
    example: { detail: 'Public access tokens cannot be used here.', instance: '/v1/conversations' },
  },
  'api-key-not-public': {
    kind: 'forbidden',
    title: 'The API key is not public',
    meaning:
      'Only a public API key can issue public access tokens. With a server key, sign access tokens in your backend.',
    example: {
      detail: 'The API key is a server key.',
      instance: '/v1/tenants/tenant_01jdpnx3r0e008000000000001/issuers/public/auth/token',
    },
  },
  'origin-not-allowed': {
    kind: 'forbidden',
    title: 'Origin not allowed',
    meaning: 'Add the origin to the allowed origins of the public API key.',
    example: {
      detail: 'The origin is not among the allowed origins of the public API key.',
      instance: '/v1/tenants/tenant_01jdpnx3r0e008000000000001/issuers/public/auth/token',
    },
  },
} as const satisfies Record<string, ProblemEntry>;
