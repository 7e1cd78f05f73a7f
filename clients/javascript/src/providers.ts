import { checkBaseUrl, checkUrl } from './base-url.ts';
import { errorFrom, ParleyError } from './errors.ts';
import { fillPath } from './path.ts';
import type { Provider } from './tokens.ts';
import type { Credential } from './types.ts';
import { exchange, openWire, type Wire } from './wire.ts';

/**
 * Creates a provider that requests tokens from your backend (specification 4.3): `POST` without a body, response `{"access_token"}`.
 *
 * `init` authenticates the user to your backend, for example `{headers: {Authorization}}` or `{credentials: 'include'}`.
 * Pass a function to evaluate it for each call. Throws `insecure-url`.
 */
export function tokenEndpoint(url: string, init: RequestInit | (() => RequestInit) = {}): Provider {
  const page = (globalThis as { location?: { href: string } }).location?.href;
  const address = checkUrl(url, page);
  return async () => {
    const response = await fetch(address, { method: 'POST', ...(typeof init === 'function' ? init() : init) });
    const text = await response.text();
    if (!response.ok) throw errorFrom(response.status, response.headers, text, Date.now());
    return JSON.parse(text) as Credential;
  };
}

export interface PublicTokenOptions {
  baseUrl: string;
  tenantId: string;
  /** ID of a public key. */
  keyId: string;
  /** The user id that the app claims; evaluated for each token. */
  userId: () => string;
  wire?: Partial<Wire>;
}

/** Creates a provider for apps without a backend (specification 4.2): restricted tokens for unverified users. */
export function publicTokens({ baseUrl, tenantId, keyId, userId, wire }: PublicTokenOptions): Provider {
  const url = checkBaseUrl(baseUrl) + fillPath('/v1/tenants/{id}/issuers/public/auth/token', [tenantId]);
  if (!keyId.startsWith('key_')) throw new ParleyError('invalid-argument', 'keyId must be the id of a public API key.');
  return async () => {
    const { json } = await exchange(openWire(wire), {
      method: 'POST',
      url,
      headers: { Authorization: `Basic ${btoa(`api_key:${keyId}`)}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ user_id: userId() }),
    });
    return json as Credential;
  };
}
