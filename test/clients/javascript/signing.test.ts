import { createHmac, timingSafeEqual } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ParleyError } from '../../../clients/javascript/src/index.ts';
import { signToken, type TokenGrant } from '../../../clients/javascript/src/server/index.ts';
import { contract } from '../contract.ts';

interface SignCase {
  name: string;
  key_id: string;
  secret: string;
  tenant_id: string;
  identity: string;
  now: number;
  lifetime_seconds?: number;
  header: object;
  claims: object;
  token: string;
  argument: string;
}

const { sign, refuse, check } = contract('signing') as {
  sign: SignCase[];
  refuse: SignCase[];
  check: { name: string; token: string; secret: string; valid: boolean }[];
};

const HEADER = { alg: 'HS256', typ: 'JWT', cty: 'svc-fpa;v=1' };
const decode = (part = ''): object => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));

/** Whether a token has the header of the specification and a valid signature. */
function isValid(token: string, secret: string): boolean {
  const [header, claims, signature = ''] = token.split('.');
  const digest = Buffer.from(createHmac('sha256', secret).update(`${header}.${claims}`).digest('base64url'));
  const given = Buffer.from(signature);
  const isSigned = digest.length === given.length && timingSafeEqual(digest, given);
  return isSigned && Object.entries(HEADER).every(([name, value]) => (decode(header) as never)[name] === value);
}

const grantOf = ({ key_id, secret, tenant_id, identity, now, lifetime_seconds }: SignCase): TokenGrant => ({
  keyId: key_id,
  secret,
  tenantId: tenant_id,
  identity,
  now,
  ...(lifetime_seconds === undefined ? {} : { lifetimeSeconds: lifetime_seconds }),
});

const camelCase = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

describe('signing.json', () => {
  test.each(check)('the checker of this test: $name', ({ token, secret, valid }) => {
    expect(isValid(token, secret)).toBe(valid);
  });

  test.each(sign)('$name', async request => {
    const token = await signToken(grantOf(request));
    const [header, claims] = token.split('.');
    expect(decode(header)).toEqual(request.header);
    expect(decode(claims)).toEqual(request.claims);
    expect(isValid(token, request.secret)).toBe(true);
    expect(token).toBe(request.token); // this library orders members like the reference
  });

  test.each(refuse)('$name is rejected', async request => {
    const error = await signToken(grantOf(request)).catch(thrown => thrown);
    expect(error).toBeInstanceOf(ParleyError);
    expect(error).toMatchObject({ kind: 'invalid-argument', code: camelCase(request.argument) });
    if (request.secret) expect(error.message).not.toContain(request.secret);
  });

  test('the time defaults to now', async () => {
    const token = await signToken({ ...grantOf(sign[0] as SignCase), now: undefined as never });
    const { exp } = decode(token.split('.')[1]) as { exp: number };
    expect(Math.abs(exp - Date.now() / 1000 - 3600)).toBeLessThan(60);
  });
});
