import { checkBaseUrl } from './base-url.ts';
import type { Call } from './call.ts';
import { type CardReader, createCardReader } from './cards.ts';
import { type Ask, type Conversations, createConversations } from './conversations.ts';
import { ParleyError, userChanged } from './errors.ts';
import { fillPath, type Query, withQuery } from './path.ts';
import { persist, REQUEST_POLICY, type RetryPolicy } from './retry.ts';
import { createTokenCache, isSameOwner, type Owner, type Provider, type Token } from './tokens.ts';
import type { Answer, AnswerStatus, Attributes, AttributesPatch, Me } from './types.ts';
import { exchange, openWire, type Reply, type Wire } from './wire.ts';

export interface ClientOptions {
  /** Where Parley is: `https://…`, or `http://localhost` while developing. */
  baseUrl: string;
  /** Gives the present user's token. */
  provider: Provider;
  /** How often a call is repeated that got no reply. */
  retry?: Partial<RetryPolicy>;
  /** Parts of the world to replace, in tests or where `fetch` needs a companion. */
  wire?: Partial<Wire>;
}

/** Parley as one user of an app sees it. Every call rejects with a `ParleyError`. */
export interface Client extends CardReader, Conversations {
  /** The base of every path. */
  readonly baseUrl: string;
  /** The network, time and chance that it works with. */
  readonly wire: Wire;
  /** Sends a request as the present user. */
  request(call: Call): Promise<Reply>;
  /** Sends a request that outlives the page, with the token at hand; undefined where there is none of that user. */
  requestBeyondPage(call: Call & { owner: Owner }): Promise<Reply> | undefined;
  /** The present user, as its token says. */
  owner(): Promise<Owner>;
  /** The user of the token at hand, without asking anybody. */
  heldOwner(): Owner | undefined;
  /** Who the server takes the user for. */
  whoAmI(): Promise<Me>;
  /**
   * Says something of the user, by the attributes that the tenant lets apps set; `null` removes one, the rest stays.
   *
   * Resolves with all of these. Not with a public token: `forbidden`.
   */
  patchMyAttributes(attributes: AttributesPatch): Promise<Attributes>;
  /** An answer of the user's, once it is stored; `not-found` before. */
  readAnswer(id: string): Promise<Answer | AnswerStatus>;
  /**
   * To be called when the user changes: forgets the token and all that was read, and asks the provider anew.
   *
   * Answers that are still in an outbox stay there until their own user comes back.
   */
  logout(): void;
  /** Calls back at each logout, until the returned function is called. */
  onLogout(listener: () => void): () => void;
}

/** A client for the users of an app: tokens, cards, conversations. Throws `insecure-url`. */
export function createClient(options: ClientOptions): Client {
  const baseUrl = checkBaseUrl(options.baseUrl);
  const wire = openWire(options.wire);
  const policy = { ...REQUEST_POLICY, ...options.retry };
  const tokens = createTokenCache(options.provider, wire.now);
  const listeners = new Set<() => void>();

  const send = (call: Call, token: Token, keepalive?: boolean): Promise<Reply> =>
    exchange(wire, {
      method: call.method,
      url: baseUrl + withQuery(call.path, call.query ?? {}),
      headers: {
        Authorization: `Bearer ${token.text}`,
        ...(call.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...call.headers?.(token),
      },
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      keepalive,
    });

  async function request(call: Call): Promise<Reply> {
    const visit = tokens.visit();
    let owner = call.owner;
    const sendAs = async (token: Token): Promise<Reply> => {
      owner ??= token;
      if (!isSameOwner(owner, token)) throw userChanged();
      try {
        const reply = await send(call, token);
        if (call.method === 'GET') visit.check(); // what belongs to the user before is not shown to the next one
        return reply;
      } catch (error) {
        visit.check();
        throw error;
      }
    };
    let refused: Token | undefined;
    return persist(wire, call.retry ?? policy, async () => {
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

  const ask: Ask = async <T>(method: string, path: string, body?: unknown, query?: Query) =>
    (await request({ method, path, ...(query ? { query } : {}), ...(body === undefined ? {} : { body }) })).json as T;
  const cards = createCardReader(request);

  return {
    baseUrl,
    wire,
    request,
    requestBeyondPage(call) {
      const token = tokens.held();
      return token && isSameOwner(call.owner, token) ? send(call, token, true) : undefined;
    },
    owner: () => tokens.visit().token(),
    heldOwner: () => tokens.held(),
    whoAmI: () => ask('GET', '/v1/me'),
    patchMyAttributes: async attributes =>
      (await ask<{ attributes: Attributes }>('PATCH', '/v1/me/attributes', { attributes })).attributes,
    readAnswer: async id => ask('GET', fillPath('/v1/answers/{id}', [id])),
    logout() {
      cards.forget();
      tokens.logout();
      for (const listener of [...listeners]) listener();
    },
    onLogout(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    listCards: cards.listCards,
    ownerOf: cards.ownerOf,
    ...createConversations(ask),
  };
}
