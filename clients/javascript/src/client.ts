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
  /** Base URL of Parley: `https://…`, or `http://localhost` in development. */
  baseUrl: string;
  /** Provides the current user's token. */
  provider: Provider;
  /** Retry policy of failed calls. */
  retry?: Partial<RetryPolicy>;
  /** Overrides of network, clock and random numbers, for tests or a custom `fetch`. */
  wire?: Partial<Wire>;
}

/** Client for the current user of an app. Every call rejects with a `ParleyError`. */
export interface Client extends CardReader, Conversations {
  /** The base of every path. */
  readonly baseUrl: string;
  /** Network, clock and random numbers in use. */
  readonly wire: Wire;
  /** Sends a request as the current user. */
  request(call: Call): Promise<Reply>;
  /** Sends a `keepalive` request with the cached token; undefined if there is none for that user. */
  requestBeyondPage(call: Call & { owner: Owner }): Promise<Reply> | undefined;
  /** The current user, read from the token. */
  owner(): Promise<Owner>;
  /** The user of the cached token, without a call to the provider. */
  heldOwner(): Owner | undefined;
  /** Returns the user as the server authenticates them. */
  whoAmI(): Promise<Me>;
  /**
   * Updates the user's attributes that the tenant allows apps to set; `null` removes one, others are unchanged.
   *
   * Resolves with all of them. Public tokens: `forbidden`.
   */
  patchMyAttributes(attributes: AttributesPatch): Promise<Attributes>;
  /** Reads an answer of the user; `not-found` until it is stored. */
  readAnswer(id: string): Promise<Answer | AnswerStatus>;
  /**
   * Call this when the user changes: drops the token and all cached data, and requests a new token.
   *
   * Answers in an outbox stay there until their user signs in again.
   */
  logout(): void;
  /** Registers a logout listener; returns a function that removes it. */
  onLogout(listener: () => void): () => void;
}

/** Creates a client for the users of an app: tokens, cards, conversations. Throws `insecure-url`. */
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
        if (call.method === 'GET') visit.check(); // never return a previous user's data
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
