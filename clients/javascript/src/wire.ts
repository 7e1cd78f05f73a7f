import { errorFrom, ParleyError } from './errors.ts';

/** Everything that comes from outside: the network, the time, chance. Tests bring their own. */
export interface Wire {
  fetch: typeof fetch;
  /** Milliseconds since 1970. */
  now(): number;
  /** 0 ≤ x < 1. */
  random(): number;
  sleep(ms: number): Promise<void>;
  /** How long one attempt may take. */
  timeoutMs: number;
}

/** The world as it is, with what is given in place of its parts. */
export const openWire = (parts: Partial<Wire> = {}): Wire => ({
  fetch: (input, init) => globalThis.fetch(input, init), // looked up each time: apps wrap it after this was loaded
  now: Date.now,
  random: Math.random,
  sleep: ms => new Promise(resolve => setTimeout(resolve, ms)),
  timeoutMs: 30_000,
  ...parts,
});

/** A request as it goes out. */
export interface Outgoing {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | undefined;
  /** Whether it goes on when the page is closed; the browser then takes at most 64 KB. */
  keepalive?: boolean | undefined;
}

/** A reply that is a success. */
export interface Reply {
  status: number;
  headers: Headers;
  /** The body; undefined with 204 and 304. */
  json: unknown;
}

const noReply = (cause: unknown): ParleyError =>
  new ParleyError('no-reply', 'The server could not be reached, or its reply broke off.', { retryable: true, cause });

/** Sends a request once. Throws a `ParleyError` for whatever is no success that can be read. */
export async function exchange(wire: Wire, { url, ...init }: Outgoing): Promise<Reply> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), wire.timeoutMs);
  try {
    const { response, text } = await receive(wire, url, { ...init, redirect: 'manual', signal: limit.signal });
    return read(response, text, wire.now());
  } finally {
    clearTimeout(timer);
  }
}

async function receive(wire: Wire, url: string, init: object): Promise<{ response: Response; text: string }> {
  try {
    const response = await wire.fetch(url, init);
    return { response, text: await response.text() };
  } catch (cause) {
    throw noReply(cause);
  }
}

function read({ status, headers }: Response, text: string, now: number): Reply {
  if (status === 204 || status === 304) return { status, headers, json: undefined };
  if (status < 200 || status > 299) throw errorFrom(status, headers, text, now);
  try {
    return { status, headers, json: JSON.parse(text) };
  } catch (cause) {
    const requestId = headers.get('X-Request-Id');
    throw new ParleyError('unreadable', 'The reply is not JSON: is the base URL that of Parley?', {
      status,
      requestId,
      cause,
    });
  }
}
