import type { Call } from './call.ts';
import { ParleyError, userChanged } from './errors.ts';
import { toJson } from './json.ts';
import { withQuery } from './path.ts';
import type { RetryPolicy } from './policy.ts';
import { persist } from './retry.ts';
import { isSameOwner, type Owner, type Token, type TokenCache } from './tokens.ts';
import { exchange, type Reply, type Wire } from './wire.ts';

export interface UserRequests {
  /** Sends a request as the current user; never as another one, nor returns data of a previous one. */
  request(call: Call): Promise<Reply>;
  /** Sends a `keepalive` request with the cached token; undefined if there is none for that user. */
  requestBeyondPage(call: Call & { owner: Owner }): Promise<Reply> | undefined;
}

interface Parts {
  baseUrl: string;
  wire: Wire;
  policy: RetryPolicy;
  tokens: TokenCache;
}

/** Sends requests with the tokens of a cache. */
export function createUserRequests({ baseUrl, wire, policy, tokens }: Parts): UserRequests {
  const send = (call: Call, token: Token, keepalive?: boolean): Promise<Reply> => {
    const outgoing = {
      method: call.method,
      url: baseUrl + withQuery(call.path, call.query ?? {}),
      headers: {
        Authorization: `Bearer ${token.text}`,
        ...(call.body ? { 'Content-Type': 'application/json' } : {}),
        ...call.headers?.(token),
      },
      body: toJson(call.body), // undefined without a body
      keepalive,
    };
    return exchange(wire, outgoing, call.options);
  };

  async function request(call: Call): Promise<Reply> {
    const visit = tokens.visit();
    let owner = call.owner;
    const sendAs = async (token: Token): Promise<Reply> => {
      owner ??= token;
      if (!isSameOwner(owner, token)) throw userChanged();
      try {
        const reply = await send(call, token);
        if (call.method === 'GET') visit.check(); // never return a previous user's data
        return reply;
      } catch (error) {
        visit.check();
        throw error;
      }
    };
    let refused: Token | undefined;
    const { method, operation, options } = call;
    return persist({ wire, policy, about: { method, operation }, options }, async () => {
      const token = await visit.token();
      try {
        return await sendAs(token);
      } catch (error) {
        if (refused || !(error instanceof ParleyError) || error.kind !== 'unauthenticated') throw error;
        refused = token;
        return sendAs(await visit.replace(token));
      }
    });
  }

  return {
    request,
    requestBeyondPage(call) {
      const token = tokens.held();
      return token && isSameOwner(call.owner, token) ? send(call, token, true) : undefined;
    },
  };
}
