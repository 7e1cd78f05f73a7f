import { expect } from 'vitest';
import type { TestApi, TestReply } from './api.ts';
import { makeTenant } from './make.ts';

export const expectProblem = (reply: TestReply, status: number, code: string) =>
  expect({ status: reply.status, code: reply.body.code }).toEqual({ status, code });

/** A new tenant, and `ask`, which sends a request below `/v1/questions` with its key. */
export async function makeAsker(api: TestApi) {
  const tenant = await makeTenant(api);
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    api.request(method, `/v1/questions${path}`, { as: tenant.key.apiKey, body, headers });
  return { tenant, ask };
}
