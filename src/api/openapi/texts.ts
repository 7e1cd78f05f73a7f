/** The introduction of the document. */
export const ABOUT = `Feedback cards, answers and conversations of a tenant's users.

Errors are problem documents (RFC 9457) with a stable \`code\`. Lists are paginated with opaque cursors. \`429\` and \`503\` mean that the request was not accepted: send it again after \`Retry-After\` seconds.

Later versions add members to replies and values to the lists in \`x-extensible-enum\`. Ignore unknown members, and handle unknown values. Requests are strict: an unknown member is refused, and so are U+0000 and lone surrogates in texts, and control characters in identities.

Each operation lists the problems that it has for reasons of its own. Any operation can also reply 400 to a malformed query or body, 401 and 403 by its credentials, 404 for an id in its path, 408 to a request that is not received in time, 413, 415 and 422 by its body, 429, 431, 500, 501 and 503.

A request may also fail before it reaches an operation: 404 for an unknown path, 405 with \`Allow\` for a method that the path does not have.`;

const bearer = { type: 'http', scheme: 'bearer' } as const;

/** The ways to authenticate. */
export const SECURITY_SCHEMES = {
  apiKey: { ...bearer, description: 'An API key, `sk_…`; for servers only' },
  accessToken: {
    ...bearer,
    bearerFormat: 'JWT',
    description: 'Access token signed by your backend with the secret of an API key',
  },
  publicAccessToken: {
    ...bearer,
    bearerFormat: 'JWT',
    description: 'Public access token, issued by Parley for an unverified (claimed) identity',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-parley_session',
    description:
      'Set by the login. Writes require the `X-CSRF-Token` header; operations on a tenant require `Tenant-Id`. If `BASE_URL` starts with `http:` (for development), the cookie is named `parley_session` and is not `Secure`, because browsers accept the prefix `__Host-` only over TLS',
  },
  publicKey: {
    type: 'http',
    scheme: 'basic',
    description: 'User name `api_key`; the password is the id of a public API key',
  },
} as const;
