import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
import { freePort } from './process.ts';

/** The user whom the provider logs in without any interaction. */
export interface TestSubject {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
}

export interface TestProvider extends AsyncDisposable {
  settings: Record<string, string>;
  /** The currently logged-in user. */
  subject: TestSubject;
  /** Follows the browser's redirects through the provider. Returns the query string of the callback. */
  walk(url: string): Promise<string>;
}

const CLIENT = { client_id: 'parley', client_secret: 'the secret of a test, which is long enough' };

/** A real OpenID provider, on a free port by default. */
export async function createProvider(redirectUri: string, onPort?: number): Promise<TestProvider> {
  const port = onPort ?? (await freePort());
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['a key of a test'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    pkce: { required: () => true },
    findAccount: (_, accountId) => ({ accountId, claims: async () => ({ ...test.subject, sub: accountId }) }),
    async loadExistingGrant(ctx) {
      const grant = new provider.Grant({ clientId: CLIENT.client_id, accountId: ctx.oidc.session?.accountId ?? '' });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const serve = provider.callback();
  const server = createServer((request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void serve(request, response);
    void provider.interactionFinished(request, response, { login: { accountId: test.subject.sub } });
  }).listen(port, '127.0.0.1');

  const test: TestProvider = {
    settings: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT.client_id, OIDC_CLIENT_SECRET: CLIENT.client_secret },
    subject: { sub: 'nobody' },
    async walk(url) {
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
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
  return test;
}
