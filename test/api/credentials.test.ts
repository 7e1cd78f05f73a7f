import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { createApi, type TestRequest } from '../support/api.ts';
import { makeTenant } from '../support/make.ts';
import { issueToken } from '../support/tokens.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());
const tenant = await makeTenant(api);

const KINDS = ['api-key', 'access-token', 'public-access-token'] as const;
const NO_ID = '00000000000000000000000000';
const pathOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_, name) => (name === 'id' ? NO_ID : `x_${NO_ID}`));

describe('every endpoint', () => {
  let credentials: Record<(typeof KINDS)[number], string>;

  beforeAll(async () => {
    const key = await tenant.addKey({ kind: 'public' });
    credentials = {
      'api-key': tenant.key.apiKey,
      'access-token': await tenant.sign('user|42'),
      'public-access-token': (await issueToken(api, tenant, key.id)).body.access_token,
    };
  });

  const guarded = OPERATIONS.filter(operation => operation.credentials.length > 0);

  test.each(guarded.map(operation => [operation.id, operation] as const))(
    '%s rejects callers without credentials and with unsupported kinds of credentials',
    async (_, operation) => {
      const ask = (request: TestRequest) =>
        api.request(operation.method.toUpperCase(), pathOf(operation.path), request);
      const anonymous = await ask({});
      expect([anonymous.status, anonymous.body.code]).toEqual([401, 'credentials-missing']);
      for (const kind of KINDS) {
        const reply = await ask({ as: credentials[kind] });
        if (operation.credentials.includes(kind)) expect(reply.status).not.toBe(403);
        else
          expect([kind, reply.status, reply.body.code]).toEqual([
            kind,
            403,
            kind === 'public-access-token' ? 'public-access-restricted' : 'insufficient-scope',
          ]);
      }
    },
  );

  test('accepts a public token only for cards, answers and `/v1/me`', () => {
    const open = OPERATIONS.filter(operation => operation.credentials.includes('public-access-token'));
    expect(open.map(operation => operation.id).sort()).toEqual(['listCards', 'readAnswer', 'recordAnswers', 'whoAmI']);
  });
});
