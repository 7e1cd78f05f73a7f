import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { type ClientMetadata, Provider } from 'oidc-provider';
import { freePort } from './process.ts';

/** The user whom the provider logs in without any interaction: the claims of the ID token. */
export interface TestSubject {
  sub: string;
  [claim: string]: unknown;
}

/** Replies to one request instead of the provider. */
type Interception = (request: IncomingMessage, response: ServerResponse) => void;

export interface TestProvider extends AsyncDisposable {
  settings: Record<string, string>;
  /** The currently logged-in user. */
  subject: TestSubject;
  /** The claims of the userinfo endpoint; by default those of the ID token. */
  userinfo: Record<string, unknown> | undefined;
  /** Replies instead of the provider, by the path below the issuer, such as `/me`. */
  interceptions: Map<string, Interception>;
  /** Lets the provider reply to a request that was intercepted. */
  serve: Interception;
  /** Follows the browser's redirects through the provider. Returns the query string of the callback. */
  walk(url: string): Promise<string>;
}

/** Differences between providers. */
export interface ProviderOptions {
  /** A free port by default. */
  port?: number;
  /** The path of the issuer, such as authentik's `/application/o/parley/`. */
  path?: string;
  /** Metadata of Parley's client. */
  client?: Pick<
    ClientMetadata,
    'token_endpoint_auth_method' | 'id_token_signed_response_alg' | 'userinfo_signed_response_alg'
  >;
}

const CLIENT = { client_id: 'parley', client_secret: 'the secret of a test: long, with % and +' };

/** Every claim that a test sends; the provider drops others. */
const CLAIMS = [
  ...['email', 'email_verified', 'emails', 'name', 'preferred_username', 'upn', 'oid', 'tid', 'hd', 'cognito:username'],
  ...['groups', 'given_name', 'family_name'],
];

/** A real OpenID provider. */
export async function createProvider(redirectUri: string, options: ProviderOptions = {}): Promise<TestProvider> {
  const { port = await freePort(), path = '', client } = options;
  const issuer = `http://127.0.0.1:${port}${path}`;
  const signsWith = client?.id_token_signed_response_alg ?? 'RS256';
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri], ...client }],
    claims: { openid: ['sub', ...CLAIMS] },
    conformIdTokenClaims: false,
    cookies: { keys: ['a key of a test'] },
    enabledJWA: { idTokenSigningAlgValues: ['RS256', 'HS256', 'PS256', 'ES256', 'EdDSA'] },
    features: { devInteractions: { enabled: false }, jwtUserinfo: { enabled: true } },
    ...(/^(RS|HS)256$/.test(signsWith) ? {} : { jwks: { keys: [await makeKey(signsWith)] } }), // it has a key for RS256
    interactions: { url: (_, { uid }) => `${path.replace(/\/$/, '')}/interaction/${uid}` },
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    pkce: { required: () => true },
    findAccount: (_, accountId) => ({
      accountId,
      claims: async use => ({
        ...(use === 'userinfo' ? (test.userinfo ?? test.subject) : test.subject),
        sub: accountId,
      }),
    }),
    async loadExistingGrant(ctx) {
      const grant = new provider.Grant({ clientId: CLIENT.client_id, accountId: ctx.oidc.session?.accountId ?? '' });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const callback = provider.callback();
  const serve: Interception = (request, response) => void callback(request, response);
  const server = createServer((request, response) => {
    mountUnder(path.replace(/\/$/, ''), request);
    const at = new URL(request.url ?? '', issuer).pathname;
    const intercept = test.interceptions.get(at);
    if (intercept) return intercept(request, response);
    if (!at.startsWith('/interaction/')) return serve(request, response);
    void provider.interactionFinished(request, response, { login: { accountId: test.subject.sub } });
  }).listen(port, '127.0.0.1');

  const test: TestProvider = {
    settings: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT.client_id, OIDC_CLIENT_SECRET: CLIENT.client_secret },
    subject: { sub: 'nobody' },
    userinfo: undefined,
    interceptions: new Map(),
    serve,
    walk: url => followRedirects(url, redirectUri),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
  return test;
}

/** Returns a private key that signs with an algorithm. */
async function makeKey(alg: string) {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg, use: 'sig' };
}

/** Removes a path from the front of a request's URL, which the provider finds again in `originalUrl`. */
function mountUnder(path: string, request: IncomingMessage & { originalUrl?: string }): void {
  request.originalUrl = request.url ?? '';
  if (request.url?.startsWith(path)) request.url = request.url.slice(path.length);
}

/** Follows redirects as a browser with cookies, up to the callback. Returns its query string. */
export async function followRedirects(url: string, redirectUri: string): Promise<string> {
  const jar = new Map<string, string>();
  for (let at = url, hops = 0; hops < 10; hops++) {
    if (at.startsWith(redirectUri)) return new URL(at).search.slice(1);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, { redirect: 'manual', headers: { Cookie: cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    const location = response.headers.get('Location');
    if (!location) throw new Error(`${response.status} at ${at}: ${await response.text()}`);
    at = new URL(location, at).href;
  }
  throw new Error('the provider sends the browser round and round');
}
