import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { DIRECTORIES } from '../support/directories.ts';
import { makeTenant } from '../support/make.ts';
import { followRedirects } from '../support/oidc.ts';
import { cookieOf, makeMember, type TestPerson } from '../support/person.ts';
import { type Hydra, SECRET, startHydra } from './hydra.ts';

const CALLBACK = 'https://parley.test/v1/oidc/callback';

/** Hydra sends the same claims in the ID token and in userinfo. */
const SAME_IN_BOTH = Object.entries(DIRECTORIES).filter(([, { userinfo }]) => userinfo === undefined);

let hydra: Hydra;
let shared: TestApi;
let owner: TestPerson;
let count = 0;
beforeAll(async () => {
  const program = process.env.HYDRA;
  if (!program) throw new Error('Set HYDRA to the path of the program (test/hydra/vitest.config.ts).');
  hydra = await startHydra(program, CALLBACK);
  shared = await createApi();
  owner = await makeMember(shared, await makeTenant(shared), 'owner');
});
afterAll(async () => {
  await shared?.[Symbol.asyncDispose]();
  await hydra?.[Symbol.asyncDispose]();
});

/** Logs in with an invitation. Returns `in`, or the code that the login page gets. */
async function logIn(api: TestApi, email: string): Promise<string> {
  const invitation = { headers: owner.headers, body: { email, role: 'agent' } };
  const { link } = (await shared.request('POST', '/v1/members', invitation)).body;
  const begun = await api.request('GET', `/v1/oidc/login?invitation=${link.split('#token=')[1]}`);
  const query = await followRedirects(begun.headers.get('Location') ?? '', CALLBACK);
  const headers = { Cookie: cookieOf(begun.headers.get('Set-Cookie') ?? '') };
  const location = (await api.request('GET', `/v1/oidc/callback?${query}`, { headers })).headers.get('Location') ?? '';
  return location === '/dashboard/' ? 'in' : (location.split('error=')[1] ?? '');
}

describe.each(['client_secret_basic', 'client_secret_post'])('through Hydra, with %s, an invited person of', method => {
  let apis: TestApi[];
  beforeAll(async () => {
    const open = (trust: string, issuer: string) => {
      const client = { OIDC_CLIENT_ID: method, OIDC_CLIENT_SECRET: SECRET };
      return createApi({ sharing: shared, settings: { ...client, OIDC_ISSUER: issuer, OIDC_TRUST_EMAIL: trust } });
    };
    apis = [await open('claim', hydra.issuer), await open('issuer', hydra.issuer.slice(0, -1))];
  });
  afterAll(() => Promise.all(apis.map(api => api[Symbol.asyncDispose]())));

  test.each(SAME_IN_BOTH)('%s', async (_, { idToken, outcomes }) => {
    const found: string[] = [];
    for (const api of apis) {
      const email = `hydra-${count++}@acme.example`;
      hydra.claims = { ...idToken(email), sub: email };
      found.push(await logIn(api, email));
    }
    expect(found).toEqual(outcomes);
  });
});
