import { checkBaseUrl, checkUrl } from './base-url.ts';
import { ParleyError } from './errors.ts';
import { toJson } from './json.ts';
import { fillPath } from './path.ts';
import type { Provider } from './tokens.ts';
import type { Credential } from './types.ts';
import { exchange, type Outgoing, openWire, type Wire } from './wire.ts';

export interface TokenEndpointOptions {
  /** Also accept `http://` for other hosts. Tokens are then readable for everyone in that network. */
  allowHttp?: boolean;
  wire?: Partial<Wire>;
}

/** Headers and other parts of a request, or a function that returns them for each call. */
export type TokenRequest = RequestInit | (() => RequestInit | Promise<RequestInit>);

/** Checks the address of a backend; a relative one belongs to the page and is resolved when it is used. */
function resolverOf(url: string, allowHttp: boolean): () => string {
  const resolve = (): string => checkUrl(url, { allowHttp, isRelative: true }).href;
  if (/^[a-z][a-z0-9+.-]*:/i.test(url)) resolve();
  return resolve;
}

/**
 * Creates a provider that requests tokens from your backend (specification 4.3): `POST` without a body, response `{"access_token"}`.
 *
 * `init` authenticates the user to your backend, for example `{headers: {Authorization}}` or `{credentials: 'include'}`.
 * Pass a function, which may be async, to evaluate it for each call. A relative URL also works where there is no page,
 * such as during server-side rendering, as long as it is not called. Throws `insecure-url`.
 */
export function tokenEndpoint(url: string, init: TokenRequest = {}, options: TokenEndpointOptions = {}): Provider {
  const resolve = resolverOf(url, options.allowHttp ?? false);
  const wire = openWire(options.wire);
  return async () => {
    const { method = 'POST', headers, ...rest } = typeof init === 'function' ? await init() : init;
    const outgoing = { ...rest, method, url: resolve(), headers: Object.fromEntries(new Headers(headers)) };
    return (await exchange(wire, outgoing as Outgoing)).json as Credential;
  };
}

export interface PublicTokenOptions {
  baseUrl: string;
  tenantId: string;
  /** ID of a public key. */
  keyId: string;
  /** The user id that the app claims; evaluated for each token. */
  userId: () => string;
  /** Also accept `http://` for other hosts. */
  allowHttp?: boolean;
  wire?: Partial<Wire>;
}

/** Creates a provider for apps without a backend (specification 4.2): restricted tokens for unverified users. */
export function publicTokens({ baseUrl, tenantId, keyId, userId, allowHttp, wire }: PublicTokenOptions): Provider {
  const url = checkBaseUrl(baseUrl, allowHttp) + fillPath('/v1/tenants/{id}/issuers/public/auth/token', [tenantId]);
  if (!/^key_/.test(keyId)) throw new ParleyError('invalid-argument', 'keyId must be the id of a public API key.');
  return async () => {
    const { json } = await exchange(openWire(wire), {
      method: 'POST',
      url,
      headers: { Authorization: `Basic ${btoa(`api_key:${keyId}`)}`, 'Content-Type': 'application/json' },
      body: toJson({ user_id: userId() }),
    });
    return { ...(json as Credential), verified: false };
  };
}
