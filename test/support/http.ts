import { expect } from 'vitest';
import type { TestApi, TestReply, TestRequest } from './api.ts';
import { aQuestion, makeTenant } from './make.ts';

export const JSON_TYPE = { 'content-type': 'application/json' };

const SECURITY = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
};

/** Expects the headers that every reply has. */
export function expectCommonHeaders(headers: Record<string, string>): void {
  expect(headers).toMatchObject(SECURITY);
  expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(headers).not.toHaveProperty('x-powered-by');
  expect(headers).not.toHaveProperty('server');
}

/** The status and the problem code of a reply. */
export const outcome = ({ status, body }: TestReply) => [status, body.code];

/** A new tenant with requests by its server key. */
export async function createCaller(api: TestApi) {
  const tenant = await makeTenant(api);
  const key = tenant.key.apiKey;
  return {
    tenant,
    key,
    get: (path: string, request: TestRequest = {}) => api.request('GET', path, { as: key, ...request }),
    createQuestion: (request: TestRequest = {}) =>
      api.request('POST', '/v1/questions', { as: key, body: aQuestion(), ...request }),
  };
}
