/** The kind of a problem. Each layer maps it: HTTP to a status, the queue to a retry or an end. */
export type ProblemKind =
  | 'malformed'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'conflict'
  | 'precondition-failed'
  | 'timed-out'
  | 'too-large'
  | 'headers-too-large'
  | 'unsupported-media-type'
  | 'invalid'
  | 'rate-limited'
  | 'not-implemented'
  | 'unavailable'
  | 'internal';

/**
 * Every problem that Parley reports, by its public code (the slug of its `type`, RFC 9457). Codes are never renamed.
 *
 * `meaning` is the text of `/problems/{code}`: the cause, and the remedy.
 */
export const PROBLEMS = {
  'malformed-request': {
    kind: 'malformed',
    title: 'The request could not be read',
    meaning:
      'The HTTP message itself is at fault: a header sent twice, a body that broke off, percent-encoding that is not UTF-8. Fix the client.',
  },
  'malformed-json': {
    kind: 'malformed',
    title: 'The body is not JSON',
    meaning: 'The body must be one JSON object in UTF-8, nested at most 20 levels deep.',
  },
  'unknown-parameter': {
    kind: 'malformed',
    title: 'The query has a parameter that this endpoint does not know',
    meaning: 'Unknown parameters are refused so that a misspelt filter never returns everything. `errors` names it.',
  },
  'repeated-parameter': {
    kind: 'malformed',
    title: 'A query parameter was given twice',
    meaning: 'Each parameter may appear once. `errors` names it.',
  },
  'invalid-cursor': {
    kind: 'malformed',
    title: 'The cursor does not belong to this list',
    meaning:
      'A cursor works only for the list, tenant, caller and filters that it was made for. Start again without one.',
  },
  'tenant-missing': {
    kind: 'malformed',
    title: 'The request does not name its tenant',
    meaning: 'With a session send the header `Tenant-Id`: a person may belong to several tenants.',
  },
  'credentials-missing': {
    kind: 'unauthenticated',
    title: 'The request carries no credentials',
    meaning: 'Send `Authorization: Bearer` with an API key (`sk_…`) or an access token; in the dashboard log in.',
  },
  'credentials-invalid': {
    kind: 'unauthenticated',
    title: 'The credentials are not valid',
    meaning: 'The API key or the Basic credentials are unknown, expired, revoked, or belong to something else.',
  },
  'session-ended': {
    kind: 'unauthenticated',
    title: 'The session has ended',
    meaning: 'It expired, or was ended here or from another device. Log in again.',
  },
  'login-failed': {
    kind: 'unauthenticated',
    title: 'The login failed',
    meaning: 'The e-mail address, the password or the code is wrong; which of them is not told.',
  },
  'link-required': {
    kind: 'unauthenticated',
    title: 'The account is not linked to the identity provider yet',
    meaning:
      'An account with the e-mail address exists. Log in with its password, in the same browser and within ten minutes: that links it, and from then on the identity provider opens it too. Whoever does not know the password sets a new one first. Nothing of the account was changed.',
  },
  'totp-required': {
    kind: 'unauthenticated',
    title: 'The login needs the code of the authenticator',
    meaning: 'The password was right. Send the same login again with `totp`, or with a recovery code in its place.',
  },
  'malformed-token': {
    kind: 'unauthenticated',
    title: 'The access token is not a compact JWT',
    meaning:
      'Three parts of unpadded base64url, at most 4 KB, whose first two are JSON objects in UTF-8 (RFC 7515 section 3.1).',
  },
  'bad-header': {
    kind: 'unauthenticated',
    title: 'The access token has a wrong header',
    meaning: 'The header must be `{"alg":"HS256","typ":"JWT","cty":"svc-fpa;v=1"}`; `kid` is ignored, others refused.',
  },
  'unknown-issuer': {
    kind: 'unauthenticated',
    title: 'The access token names an API key that does not sign here',
    meaning: '`iss` must be the id of one of your API keys that is neither revoked nor expired.',
  },
  'bad-signature': {
    kind: 'unauthenticated',
    title: 'The signature of the access token is wrong',
    meaning: 'Sign with HS256 and the secret of the key that `iss` names; its UTF-8 text is the HMAC key, not decoded.',
  },
  'subject-mismatch': {
    kind: 'unauthenticated',
    title: 'The access token names another tenant',
    meaning: '`sub` must be the id of the tenant that owns the key in `iss`.',
  },
  'token-expired': {
    kind: 'unauthenticated',
    title: 'The access token has expired',
    meaning: '`exp` must be a number of seconds since 1970 that lies in the future (60 s of leeway). Sign a new token.',
  },
  'lifetime-too-long': {
    kind: 'unauthenticated',
    title: 'The access token lives too long',
    meaning: '`exp` may be at most one hour ahead (60 s of leeway).',
  },
  'not-yet-valid': {
    kind: 'unauthenticated',
    title: 'The access token is not valid yet',
    meaning: '`nbf` or `iat` lies in the future by more than 60 s. Check the clock of the machine that signs.',
  },
  'bad-identity': {
    kind: 'unauthenticated',
    title: 'The access token does not name its user',
    meaning:
      '`grants.identity` must be a string of 1 to 256 characters, NFC, without control characters; integer ids as strings.',
  },
  'insufficient-scope': {
    kind: 'forbidden',
    title: 'The credential may not do this',
    meaning: 'Use another kind of credential, an API key with the scope that `detail` names, or ask for another role.',
  },
  'csrf-failed': {
    kind: 'forbidden',
    title: 'The request does not carry the token of its session',
    meaning: 'Writes with a session carry `X-CSRF-Token`, from the reply to the login or from `GET /v1/me`.',
  },
  'cross-site-request': {
    kind: 'forbidden',
    title: 'The request comes from a page of another site',
    meaning: 'Sessions are for the dashboard alone. Open it under the address in BASE_URL; elsewhere use an API key.',
  },
  'not-a-member': {
    kind: 'forbidden',
    title: 'The person is not a member of this tenant',
    meaning: '`Tenant-Id` must name one of the tenants in `memberships` of `GET /v1/me`.',
  },
  'public-access-restricted': {
    kind: 'forbidden',
    title: 'A public access token may not do this',
    meaning:
      'Public tokens only claim their identity: they read cards, write answers and ask whether an answer was stored.',
  },
  'api-key-not-public': {
    kind: 'forbidden',
    title: 'The API key was not created with the Public option',
    meaning: 'Only a public API key issues public access tokens. A server key signs tokens in your backend.',
  },
  'origin-not-allowed': {
    kind: 'forbidden',
    title: 'The key does not serve this origin',
    meaning: 'Add the origin to the allowed origins of the public API key.',
  },
  'resource-not-found': {
    kind: 'not-found',
    title: 'There is nothing here',
    meaning:
      'The path or the id is wrong, or the object belongs to somebody else. Paths are exact in case and slashes.',
  },
  'link-not-valid': {
    kind: 'not-found',
    title: 'The link is not valid',
    meaning: 'It is unknown, too old, or was used. Ask for a new one.',
  },
  'method-not-allowed': {
    kind: 'method-not-allowed',
    title: 'The path does not take this method',
    meaning: 'The `Allow` header lists the methods.',
  },
  'method-unknown': {
    kind: 'not-implemented',
    title: 'The method is not known',
    meaning: 'Use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.',
  },
  'invalid-transition': {
    kind: 'conflict',
    title: 'The state does not allow this step',
    meaning: '`from` is the present state, `allowed` lists the states that can follow it.',
  },
  'immutable-field': {
    kind: 'conflict',
    title: 'A field of a published question can not change',
    meaning: 'Type, scale and option ids stay, so that answers keep their meaning. Clone the question instead.',
  },
  'limit-reached': {
    kind: 'conflict',
    title: 'The tenant has reached a limit',
    meaning: '`detail` names the limit. Close or delete what is not needed, or ask the operator to raise it.',
  },
  'last-owner': {
    kind: 'conflict',
    title: 'A tenant needs an owner',
    meaning: 'Make somebody else an owner first.',
  },
  'member-exists': {
    kind: 'conflict',
    title: 'The person is a member already',
    meaning: 'The e-mail address belongs to somebody who is in the team, or has an account.',
  },
  'totp-active': {
    kind: 'conflict',
    title: 'An authenticator is in use already',
    meaning: 'Remove it before another one is enrolled.',
  },
  'totp-inactive': {
    kind: 'conflict',
    title: 'No authenticator waits for its confirmation',
    meaning: 'Enrol one first: the reply has the secret that the code is made from.',
  },
  'idempotency-key-in-use': {
    kind: 'conflict',
    title: 'A request with this Idempotency-Key is still running',
    meaning: 'Wait for its end, then send the same request again to read its response.',
  },
  'message-not-editable': {
    kind: 'conflict',
    title: 'The message can no longer be changed',
    meaning: 'Its author may edit a message for 15 minutes, and not after it was redacted.',
  },
  'precondition-failed': {
    kind: 'precondition-failed',
    title: 'The resource has changed since you read it',
    meaning: 'Read it again, apply your change to the new version, and send its `ETag` in `If-Match`.',
  },
  'body-too-large': {
    kind: 'too-large',
    title: 'The body is too large',
    meaning: 'At most 256 KB, with a public access token 16 KB. Split the batch.',
  },
  'headers-too-large': {
    kind: 'headers-too-large',
    title: 'The headers are too large',
    meaning: 'Request line and headers may have 16 KB together.',
  },
  'request-timed-out': {
    kind: 'timed-out',
    title: 'The request took too long to arrive',
    meaning:
      'Headers must arrive within 15 seconds, the whole request within 30. Nothing was processed: send it again.',
  },
  'unsupported-media-type': {
    kind: 'unsupported-media-type',
    title: 'The body has a media type that is not taken',
    meaning: 'Send `Content-Type: application/json` in UTF-8, without `Content-Encoding`.',
  },
  'validation-failed': {
    kind: 'invalid',
    title: 'The request does not match the schema',
    meaning: '`errors` names each fault with a JSON pointer (RFC 6901), or the name of a query parameter.',
  },
  'idempotency-key-reused': {
    kind: 'invalid',
    title: 'The Idempotency-Key was used for another request',
    meaning: 'A key belongs to one request for 24 hours. Make a new key for a new request.',
  },
  'rate-limit-exceeded': {
    kind: 'rate-limited',
    title: 'Too many requests',
    meaning: 'The request was not processed and is safe to send again after `Retry-After` seconds.',
  },
  'queue-unavailable': {
    kind: 'unavailable',
    title: 'Answers can not be made durable right now',
    meaning:
      'Nothing of the request is promised. Send it again, with the same answer ids, after `Retry-After` seconds.',
  },
  'database-unavailable': {
    kind: 'unavailable',
    title: 'The database can not be reached right now',
    meaning: 'Send the request again after `Retry-After` seconds.',
  },
  'query-too-expensive': {
    kind: 'unavailable',
    title: 'The query takes too long',
    meaning:
      'It was stopped at its time-out: 5 s for lists and results, 2 s for a search (`q`). `narrow` names the filters that this list has and the request did not use. Sending the same request again costs as much again.',
  },
  'identity-provider-unavailable': {
    kind: 'unavailable',
    title: 'The identity provider can not be reached right now',
    meaning: 'Log in with a password, or try again later. The operator finds the cause in the log.',
  },
  'service-overloaded': {
    kind: 'unavailable',
    title: 'More requests arrive than can be answered',
    meaning: 'The request was not processed and is safe to send again after `Retry-After` seconds.',
  },
  'service-stopping': {
    kind: 'unavailable',
    title: 'The process is stopping',
    meaning: 'Another process answers; send the request again.',
  },
  'internal-error': {
    kind: 'internal',
    title: 'Parley made a mistake',
    meaning: 'This is a bug. Report it with the `request_id`, under which the operator finds it in the log.',
  },
} as const satisfies Record<string, { kind: ProblemKind; title: string; meaning: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

/** One of several faults: its location (JSON pointer or parameter name), code and description. */
export interface ProblemError {
  pointer: string;
  code: string;
  detail: string;
}

export interface ProblemOptions {
  errors?: ProblemError[];
  /** Seconds after which a retry makes sense. */
  retryAfterSeconds?: number;
  /** Further members of the problem document, such as `from` and `allowed`. */
  extra?: Record<string, unknown>;
  cause?: unknown;
}

/** An expected failure with a public code. Any other error is a bug. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly options: ProblemOptions;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.options = options;
  }

  get kind(): ProblemKind {
    return PROBLEMS[this.code].kind;
  }

  get title(): string {
    return PROBLEMS[this.code].title;
  }
}

/** The 404 for a link of setup, invitation or password reset, for any reason. */
export const linkNotValid = (): Problem =>
  new Problem('link-not-valid', 'The link is unknown, too old, or was used already.');

/** The 404 for an object that is missing or belongs to someone else, which look the same. */
export const notFound = (what: string): Problem => new Problem('resource-not-found', `There is no such ${what}.`);

/** The 422 for one field of the body, for a reason that schemas cannot express. */
export const fieldFault = (pointer: string, detail: string): Problem =>
  new Problem('validation-failed', 'The body does not match the schema.', {
    errors: [{ pointer, code: 'invalid', detail }],
  });

/** Returns 1 to 5 seconds at random, so that clients refused together do not retry together. */
export const retrySoon = (): number => 1 + Math.floor(Math.random() * 5);
