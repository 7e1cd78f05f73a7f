import type { Attempt } from './attempt.ts';
import { checkBaseUrl } from './base-url.ts';
import type { Call, CallOptions } from './call.ts';
import { type CardReader, createCardReader } from './cards.ts';
import { withDefaults } from './defaults.ts';
import { removeDrafts } from './device.ts';
import { fillPath } from './path.ts';
import type { RetryPolicy } from './policy.ts';
import { persist, REQUEST_POLICY } from './retry.ts';
import { createTokenCache, type Owner, type Provider } from './tokens.ts';
import type { Answer, AnswerStatus, Attributes, AttributesPatch, Card, Me } from './types.ts';
import { createUserRequests } from './user-requests.ts';
import { openWire, type Reply, type Wire } from './wire.ts';

export interface ClientOptions {
  /** Base URL of Parley: `https://…`, or `http://localhost` in development. */
  baseUrl: string;
  /** Provides the current user's token. */
  provider: Provider;
  /** Retry policy of failed calls. */
  retry?: Partial<RetryPolicy>;
  /** Called after each attempt of a call, for logs and metrics. Its errors are reported to the console and change nothing. */
  onAttempt?: (attempt: Attempt) => void;
  /** Also accept `http://` for other hosts. Tokens and answers are then readable for everyone in that network. */
  allowHttp?: boolean;
  /** Overrides of network, clock and random numbers, for tests or a custom `fetch`. */
  wire?: Partial<Wire>;
}

/** Client for the current user of an app. Every call rejects with a `ParleyError`; its last argument is `CallOptions`. */
export interface Client extends CardReader {
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
  whoAmI(options?: CallOptions): Promise<Me>;
  /**
   * Updates the user's attributes that the tenant allows apps to set; `null` removes one, others are unchanged.
   *
   * Resolves with all of them. Public tokens: `forbidden`.
   */
  patchMyAttributes(attributes: AttributesPatch, options?: CallOptions): Promise<Attributes>;
  /** Reads an answer of the user; `not-found` until it is stored. */
  readAnswer(id: string, options?: CallOptions): Promise<Answer | AnswerStatus>;
  /**
   * Call this when the user changes: drops the token, all cached data and unfinished cards on this device, and requests a new token.
   *
   * Answers in an outbox stay there until their user signs in again.
   */
  logout(): void;
  /**
   * Registers a listener for cards whose trigger has occurred; it returns whether it shows the card. Only with
   * `addTriggers` of `parley-feedback/triggers`. Returns a function that removes the listener.
   *
   * `hide` is called when the user leaves the page that such a card is limited to; it returns whether it has hidden the card, which
   * `listener` then receives again on return. A card that the user has begun to answer should stay.
   */
  onTriggered?(listener: (card: Card) => boolean, hide?: (card: Card) => boolean): () => void;
  /** Registers a logout listener; returns a function that removes it. */
  onLogout(listener: () => void): () => void;
}

/** Creates a client for the users of an app: tokens and cards. Throws `insecure-url`. */
export function createClient(options: ClientOptions): Client {
  const baseUrl = checkBaseUrl(options.baseUrl, options.allowHttp);
  const wire = openWire(options.wire, options.onAttempt);
  const policy = withDefaults(REQUEST_POLICY, options.retry);
  const tokens = createTokenCache(options.provider, wire);
  const listeners = new Set<() => void>();

  const { request, requestBeyondPage } = createUserRequests({ baseUrl, wire, policy, tokens });
  const ask = async <T>(call: Call): Promise<T> => (await request(call)).json as T;
  const { forget, ...cards } = createCardReader(request);

  return {
    ...cards,
    baseUrl,
    wire,
    request,
    requestBeyondPage,
    owner: () => persist({ wire, policy }, tokens.visit().token),
    heldOwner: tokens.held,
    whoAmI: options => ask({ operation: 'whoAmI', method: 'GET', path: '/v1/me', options }),
    async patchMyAttributes(attributes, options) {
      const asked = { operation: 'patchMyAttributes', method: 'PATCH', path: '/v1/me/attributes', options };
      return (await ask<{ attributes: Attributes }>({ ...asked, body: { attributes } })).attributes;
    },
    readAnswer: async (id, options) =>
      ask({ operation: 'readAnswer', method: 'GET', path: fillPath('/v1/answers/{id}', [id]), options }),
    logout() {
      forget();
      removeDrafts(baseUrl);
      tokens.logout();
      for (const listener of [...listeners]) listener();
    },
    onLogout(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
