import type { ProblemKind } from './problem-kinds.ts';

/**
 * Every problem that Parley reports, by its public code (the slug of its `type`, RFC 9457). Codes are never renamed.
 *
 * `meaning` is the text of `/problems/{code}`: the cause, and the remedy.
 */
export const PROBLEMS = {
  'malformed-request': {
    kind: 'malformed',
    title: 'The HTTP request is malformed',
    meaning:
      'The HTTP message itself is invalid: a duplicate header, a truncated body, or percent-encoding that is not UTF-8. Fix the client.',
  },
  'malformed-json': {
    kind: 'malformed',
    title: 'The body is not valid JSON',
    meaning:
      'The body must be one JSON object in UTF-8, nested at most 20 levels deep, of at most 10,000 members, without two members of the same name in an object.',
  },
  'unknown-parameter': {
    kind: 'malformed',
    title: 'Unknown query parameter',
    meaning:
      'Unknown parameters are rejected so that a misspelled filter never returns unfiltered results. `errors[].parameter` is its name.',
  },
  'repeated-parameter': {
    kind: 'malformed',
    title: 'Repeated query parameter',
    meaning: 'Each parameter may appear only once. `errors[].parameter` is its name.',
  },
  'invalid-cursor': {
    kind: 'malformed',
    title: 'Invalid cursor',
    meaning:
      'A cursor is valid only for the list, tenant, caller and filters it was issued for. Start again without a cursor.',
  },
  'tenant-missing': {
    kind: 'malformed',
    title: 'Missing tenant',
    meaning:
      'Requests with a session must send the `Tenant-Id` header, because a person can belong to several tenants.',
  },
  'credentials-missing': {
    kind: 'unauthenticated',
    title: 'Missing credentials',
    meaning: 'Send `Authorization: Bearer` with an API key (`sk_…`) or an access token. In the dashboard, log in.',
  },
  'credentials-invalid': {
    kind: 'unauthenticated',
    title: 'Invalid credentials',
    meaning: 'The API key or the Basic credentials are unknown, expired, revoked, or belong to another tenant.',
  },
  'session-ended': {
    kind: 'unauthenticated',
    title: 'The session has ended',
    meaning: 'The session expired, or was ended here or from another device. Log in again.',
  },
  'login-failed': {
    kind: 'unauthenticated',
    title: 'Login failed',
    meaning: 'The e-mail address, password or code is wrong. For security, the response does not reveal which.',
  },
  'link-required': {
    kind: 'unauthenticated',
    title: 'The account is not linked to the identity provider',
    meaning:
      'An account with this e-mail address exists. Log in with its password in the same browser within ten minutes to link it; from then on the identity provider works for this account too. If you do not know the password, reset it first. The account has not been changed.',
  },
  'email-missing': {
    kind: 'unauthenticated',
    title: 'The identity provider sent no e-mail address',
    meaning:
      'A new person needs an address. The provider sent none in the claim `OIDC_EMAIL_CLAIM`, or one that is not valid. Fill in the address of the person there, and release it for the scope `email`.',
  },
  'email-unverified': {
    kind: 'unauthenticated',
    title: 'The identity provider has not verified the e-mail address',
    meaning:
      'The claim `email_verified` is missing or false. If it is false, verify the address at the provider. If your directory never sends it, as Microsoft Entra ID, the operator can set `OIDC_TRUST_EMAIL=issuer`.',
  },
  'email-mismatch': {
    kind: 'unauthenticated',
    title: 'The invitation is for another e-mail address',
    meaning:
      'The identity provider has another address for the person than the invitation. Log in there as the invited person, or ask for an invitation to the other address.',
  },
  'not-invited': {
    kind: 'unauthenticated',
    title: 'No account and no invitation',
    meaning:
      'The identity provider confirmed the person, but no account belongs to them. Ask a member of the team for an invitation, and open its link.',
  },
  'state-mismatch': {
    kind: 'unauthenticated',
    title: 'The login was not started in this browser',
    meaning:
      'The login was started in another browser, more than ten minutes ago, or under another address than `BASE_URL`, or it was completed before. Start it again on the login page.',
  },
  'provider-refused': {
    kind: 'unauthenticated',
    title: 'The identity provider refused the login',
    meaning:
      'The provider refused the person or the client, or its reply failed validation. The server log has the reason: `login through the identity provider refused`.',
  },
  'totp-required': {
    kind: 'unauthenticated',
    title: 'An authenticator code is required',
    meaning: 'The password is correct. Repeat the login with an authenticator code or a recovery code in `totp`.',
  },
  'malformed-token': {
    kind: 'unauthenticated',
    title: 'The access token is not a compact JWT',
    meaning:
      'A token has three parts in unpadded base64url and at most 4 KB. The first two parts are JSON objects in UTF-8 (RFC 7515 section 3.1).',
  },
  'bad-header': {
    kind: 'unauthenticated',
    title: 'The access token header is invalid',
    meaning:
      'The header must be `{"alg":"HS256","typ":"JWT","cty":"svc-fpa;v=1"}`. `kid` is ignored; other parameters are rejected.',
  },
  'unknown-issuer': {
    kind: 'unauthenticated',
    title: 'The issuer of the access token is unknown',
    meaning: '`iss` must be the id of one of your API keys that is neither revoked nor expired.',
  },
  'bad-signature': {
    kind: 'unauthenticated',
    title: 'The access token signature is invalid',
    meaning:
      'Sign with HS256 and the secret of the API key in `iss`. The HMAC key is the UTF-8 text of the secret; do not decode it.',
  },
  'subject-mismatch': {
    kind: 'unauthenticated',
    title: 'The access token is for another tenant',
    meaning: '`sub` must be the id of the tenant that owns the key in `iss`.',
  },
  'token-expired': {
    kind: 'unauthenticated',
    title: 'The access token has expired',
    meaning: '`exp` must be a time in the future, in seconds since 1970 (60 s of leeway). Sign a new token.',
  },
  'lifetime-too-long': {
    kind: 'unauthenticated',
    title: 'The access token lifetime is too long',
    meaning: '`exp` may be at most one hour ahead (60 s of leeway).',
  },
  'not-yet-valid': {
    kind: 'unauthenticated',
    title: 'The access token is not valid yet',
    meaning: '`nbf` or `iat` is more than 60 s in the future. Check the clock of the machine that signs tokens.',
  },
  'bad-identity': {
    kind: 'unauthenticated',
    title: 'The access token has no valid identity',
    meaning:
      '`grants.identity` must be a string of 1 to 256 characters in NFC, without control characters. Send integer ids as strings.',
  },
  'insufficient-scope': {
    kind: 'forbidden',
    title: 'Insufficient permissions',
    meaning: 'Use another kind of credential, an API key with the scope named in `detail`, or ask for another role.',
  },
  'not-allowed': {
    kind: 'forbidden',
    title: 'Not allowed for this link',
    meaning:
      'Only the mailed link of an invitation accepts `not_my_account`, and only while no account has proven the address. Accept the invitation with the password of the account; if it is lost, reset it.',
  },
  'csrf-failed': {
    kind: 'forbidden',
    title: 'Missing or wrong CSRF token',
    meaning: 'Writes with a session must send `X-CSRF-Token`, as returned by the login or by `GET /v1/me`.',
  },
  'cross-site-request': {
    kind: 'forbidden',
    title: 'Cross-site request rejected',
    meaning:
      'Sessions work only in the dashboard. Open it at the address in BASE_URL, or use an API key in your own code.',
  },
  'not-a-member': {
    kind: 'forbidden',
    title: 'Not a member of this tenant',
    meaning: '`Tenant-Id` must be one of the tenants in `memberships` of `GET /v1/me`.',
  },
  'public-access-restricted': {
    kind: 'forbidden',
    title: 'Not allowed with a public access token',
    meaning:
      'Public tokens only claim their identity. They can read cards, send answers and check whether an answer was stored.',
  },
  'api-key-not-public': {
    kind: 'forbidden',
    title: 'The API key is not public',
    meaning:
      'Only a public API key can issue public access tokens. With a server key, sign access tokens in your backend.',
  },
  'origin-not-allowed': {
    kind: 'forbidden',
    title: 'Origin not allowed',
    meaning: 'Add the origin to the allowed origins of the public API key.',
  },
  'resource-not-found': {
    kind: 'not-found',
    title: 'Not found',
    meaning:
      'The path or the id is wrong, or the object belongs to another tenant or user. Paths must match exactly, including case and slashes.',
  },
  'link-not-valid': {
    kind: 'not-found',
    title: 'The link is not valid',
    meaning: 'The link is unknown, expired or already used. Request a new one.',
  },
  'method-not-allowed': {
    kind: 'method-not-allowed',
    title: 'Method not allowed',
    meaning: 'The path does not support this method. The `Allow` header lists the supported ones.',
  },
  'method-unknown': {
    kind: 'not-implemented',
    title: 'Unknown method',
    meaning: 'Use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.',
  },
  'invalid-transition': {
    kind: 'conflict',
    title: 'Invalid state transition',
    meaning: '`from` is the current state, `allowed` lists the states that can follow it.',
  },
  'upgrade-unfinished': {
    kind: 'conflict',
    title: 'An older API process is still running',
    meaning:
      'It would refuse answers to the question. `oldest_version` is its version. Finish the update, then wait a minute.',
  },
  'immutable-field': {
    kind: 'conflict',
    title: 'A field of a published question cannot change',
    meaning:
      'Type, scale and option ids are fixed once published, so that answers keep their meaning. Clone the question instead.',
  },
  'limit-reached': {
    kind: 'conflict',
    title: 'Limit reached',
    meaning: '`detail` names the limit. Close or delete objects that you no longer need.',
  },
  'last-owner': {
    kind: 'conflict',
    title: 'A tenant needs an owner',
    meaning: 'Make another member an owner first.',
  },
  'member-exists': {
    kind: 'conflict',
    title: 'Already a member',
    meaning: 'The e-mail address belongs to a member of the team or to an existing account.',
  },
  'totp-active': {
    kind: 'conflict',
    title: 'An authenticator is already active',
    meaning: 'Remove it before you enrol another one.',
  },
  'totp-inactive': {
    kind: 'conflict',
    title: 'No authenticator is enrolled',
    meaning: 'Enrol one first. The response contains the secret for the authenticator app.',
  },
  'idempotency-key-in-use': {
    kind: 'conflict',
    title: 'A request with this Idempotency-Key is in progress',
    meaning: 'Wait until it has finished, then repeat the request to get its response.',
  },
  'message-not-editable': {
    kind: 'conflict',
    title: 'The message can no longer be changed',
    meaning: 'Its author can edit a message for 15 minutes, unless it was redacted.',
  },
  'message-conflict': {
    kind: 'conflict',
    title: 'The client_message_id was used for another text',
    meaning:
      'A `client_message_id` identifies one message: a retry must repeat its text. Generate a new id for each new message.',
  },
  'conversation-changed': {
    kind: 'conflict',
    title: 'A field of the conversation has changed meanwhile',
    meaning:
      '`was` contains a value that is no longer present, so the request was not executed. `now` has the present values of these fields. Show them, and repeat the request with the new values in `was` if the change is still wanted.',
  },
  'conversation-moved': {
    kind: 'conflict',
    title: 'Messages were written meanwhile',
    meaning:
      'A reply or a note was written after the messages in `after`, so the text of this request was not stored. `missed` contains them. Show them, and repeat the request with the newest numbers in `after`, or with `force`.',
  },
  'rotation-running': {
    kind: 'conflict',
    title: 'The previous secret is still valid',
    meaning:
      'An API key or webhook has at most two valid secrets. Wait until the overlap in `detail` has ended, or replace the key or webhook.',
  },
  'conversation-deleted': {
    kind: 'gone',
    title: 'The conversation was deleted',
    meaning:
      'The request writes to a conversation that was deleted, or repeats a `client_message_id` whose conversation was deleted. Do not send it again. To start a new conversation, generate a new id.',
  },
  'events-expired': {
    kind: 'gone',
    title: 'The events are no longer kept',
    meaning: '`after` is older than 30 days. Read the objects, and continue before `oldest`, the first one kept.',
  },
  'precondition-failed': {
    kind: 'precondition-failed',
    title: 'The resource is not in the expected version',
    meaning:
      'With `If-Match`, the resource has changed since you read it: read it again, apply your change to the new version, and send its `ETag`. With `If-None-Match: *`, the resource already exists.',
  },
  'body-too-large': {
    kind: 'too-large',
    title: 'The body is too large',
    meaning: 'The limit is 256 KB, or 16 KB with a public access token. Split the batch.',
  },
  'headers-too-large': {
    kind: 'headers-too-large',
    title: 'The headers are too large',
    meaning: 'The limit is 16 KB for the request line and all headers together.',
  },
  'request-timed-out': {
    kind: 'timed-out',
    title: 'The request took too long to arrive',
    meaning:
      'Headers must arrive within 15 seconds, the whole request within 30. The request was not processed; send it again.',
  },
  'unsupported-media-type': {
    kind: 'unsupported-media-type',
    title: 'Unsupported media type',
    meaning: 'Send `Content-Type: application/json` in UTF-8, without `Content-Encoding`.',
  },
  'validation-failed': {
    kind: 'invalid',
    title: 'The request does not match the schema',
    meaning:
      '`detail` names the first invalid value, and `errors` lists each: by `pointer`, a JSON Pointer (RFC 6901) into the body, or by `parameter`, the name of a query parameter or header. Each has a `code` and a `detail` with the rule.',
  },
  'idempotency-key-reused': {
    kind: 'invalid',
    title: 'The Idempotency-Key was used for another request',
    meaning: 'A key belongs to one request for 24 hours. Generate a new key for each new request.',
  },
  'rate-limit-exceeded': {
    kind: 'rate-limited',
    title: 'Too many requests',
    meaning: 'The request was not processed. Send it again after `Retry-After` seconds.',
  },
  'queue-unavailable': {
    kind: 'unavailable',
    title: 'Answers cannot be made durable right now',
    meaning:
      'The answers are not confirmed. Send the request again, with the same answer ids, after `Retry-After` seconds.',
  },
  'database-unavailable': {
    kind: 'unavailable',
    title: 'The database cannot be reached right now',
    meaning: 'Send the request again after `Retry-After` seconds.',
  },
  'query-too-expensive': {
    kind: 'unavailable',
    title: 'The query takes too long',
    meaning:
      'The query was cancelled at its timeout: 5 s for lists and results, 2 s for a search (`q`). Add one of the filters in `narrow`, which lists those that the request did not use. Do not repeat the request unchanged.',
  },
  'provider-unavailable': {
    kind: 'unavailable',
    title: 'The identity provider cannot be reached right now',
    meaning:
      'The provider could not be reached, or replied with a server error. Log in with a password, or try again later. The server log has the cause.',
  },
  'service-overloaded': {
    kind: 'unavailable',
    title: 'The server is overloaded',
    meaning: 'The request was not processed. Send it again after `Retry-After` seconds.',
  },
  'service-stopping': {
    kind: 'unavailable',
    title: 'The server is shutting down',
    meaning: 'Send the request again; another process will handle it.',
  },
  'internal-error': {
    kind: 'internal',
    title: 'Unexpected server error',
    meaning: 'This is a bug in Parley. Report the `request_id`; the server log has the cause under that id.',
  },
} as const satisfies Record<string, { kind: ProblemKind; title: string; meaning: string }>;

export type ProblemCode = keyof typeof PROBLEMS;
