import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestTenant } from '../support/make.ts';

/** Valid and invalid tokens of a backend, by the kinds of the contract. */
const TOKENS: Record<string, (tenant: TestTenant, user: string) => Promise<string>> = {
  good: (tenant, user) => tenant.sign(user),
  short: (tenant, user) => tenant.sign(user, { claims: { exp: Math.floor(Date.now() / 1000) + 30 } }),
  expired: (tenant, user) => tenant.sign(user, { claims: { exp: Math.floor(Date.now() / 1000) - 600 } }),
  forged: (tenant, user) => tenant.sign(user, { key: { ...tenant.key, secret: 'not the secret of this key' } }),
};

/** The tenant's backend (specification 4.3). It accepts any user name. */
export async function createTenantBackend(tenant: TestTenant): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(async (request, response) => {
    const user = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
    const kind = new URL(request.url ?? '', 'http://localhost').searchParams.get('token') ?? 'good';
    const sign = TOKENS[kind];
    if (request.method !== 'POST' || !user || !sign) return void response.writeHead(403).end();
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ access_token: await sign(tenant, user) }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/svc/auth/token`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

interface ConversationItem {
  id: string;
  last_message: { preview: string; author_type: string };
}

/** A team that replies to messages with the word "please" until it is stopped. */
export function createTeam(baseUrl: string, tenant: TestTenant): AsyncDisposable {
  const headers = { Authorization: `Bearer ${tenant.key.apiKey}`, 'Content-Type': 'application/json' };
  let isOver = false;
  async function look(): Promise<void> {
    const reply = await fetch(`${baseUrl}/v1/conversations?status=open&limit=100`, { headers });
    const { data } = (await reply.json()) as { data: ConversationItem[] };
    for (const { id, last_message } of data) {
      if (last_message.author_type !== 'user' || !/\bplease\b/.test(last_message.preview)) continue;
      const body = JSON.stringify({ body: `The team has read: ${last_message.preview}` });
      await fetch(`${baseUrl}/v1/conversations/${id}/messages`, { method: 'POST', headers, body });
    }
  }
  const working = (async () => {
    while (!isOver) {
      await look();
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      isOver = true;
      await working;
    },
  };
}
