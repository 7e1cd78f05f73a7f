import { Agent, request } from 'node:http';
import { withClient } from '../../src/platform/postgres-client.ts';
import { answerOf } from '../faults/load.ts';
import { askValkey } from '../faults/stores.ts';
import type { FaultTenant } from '../faults/world.ts';

/** Repeats an action a number of times per second, ignoring errors, until the returned function is called. */
export function keepOn(perSecond: number, act: () => Promise<unknown>): () => void {
  const timer = setInterval(() => void act().catch(() => undefined), 1000 / perSecond);
  return () => clearInterval(timer);
}

/** Changes a setting of Valkey. */
export const configureValkey = (url: string, name: string, value: string): Promise<unknown> =>
  askValkey(url, redis => redis.config('SET', name, value));

/** Sets Valkey's memory limit so that this share of it is in use. The returned function removes the limit. */
export async function fillValkey(url: string, part: number): Promise<() => Promise<unknown>> {
  const used = await askValkey(url, async redis => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]));
  await configureValkey(url, 'maxmemory', String(Math.round(used / part)));
  return () => configureValkey(url, 'maxmemory', '0');
}

/** Locks a table in a transaction until the returned function is called. */
export async function lockTable(url: string, name: string, mode: string): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: reportLock } = Promise.withResolvers<void>();
  const ended = withClient(url, async client => {
    await client.query('begin');
    await client.query(`lock table ${name} in ${mode} mode`);
    reportLock();
    await released;
  });
  await locked;
  return () => {
    release();
    return ended;
  };
}

/** Clients that each repeatedly send a hundred answers to a question that does not exist. */
export function overload(baseUrl: string, tenant: FaultTenant, clients: number): () => void {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const nowhere = { ...tenant, questionId: tenant.questionId.replace(/.{4}$/, '0000') };
  const body = JSON.stringify({
    answers: Array.from({ length: 100 }, (_, index) => answerOf(nowhere, `user|${index}`)),
  });
  const headers = {
    Authorization: `Bearer ${tenant.apiKey}`,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  let on = true;
  const send = () => {
    if (!on) return;
    const sent = request(`${baseUrl}/v1/answers`, { agent, method: 'POST', headers }, response =>
      response.resume().once('end', send),
    );
    sent.once('error', () => setTimeout(send, 100)).end(body);
  };
  for (let client = 0; client < clients; client++) send();
  return () => {
    on = false;
    agent.destroy();
  };
}
