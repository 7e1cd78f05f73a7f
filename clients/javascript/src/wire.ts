import type { Attempt } from './attempt.ts';
import { withDefaults } from './defaults.ts';
import { errorFrom, ParleyError, unreadable } from './errors.ts';
import { startTimer } from './limit.ts';
import { listen } from './listen.ts';
import { SDK } from './version.ts';

/** External dependencies: network, clock and random numbers. Replaceable in tests. */
export interface Wire {
  fetch: typeof fetch;
  /** Milliseconds since 1970. */
  now(): number;
  /** 0 ≤ x < 1. */
  random(): number;
  sleep(ms: number): Promise<void>;
  /** Timeout of one attempt, and of each call of the token provider. */
  timeoutMs: number;
  onAttempt?: ((attempt: Attempt) => void) | undefined;
}

/** The defaults with overrides. */
export const openWire = (parts: Partial<Wire> = {}, onAttempt = parts.onAttempt): Wire =>
  withDefaults<Wire>(
    {
      fetch: (input, init) => globalThis.fetch(input, init), // looked up per call: apps may wrap `fetch` after this module is loaded
      now: Date.now,
      random: Math.random,
      sleep: ms => new Promise(resolve => startTimer(resolve, ms)),
      timeoutMs: 30_000,
    },
    { ...parts, onAttempt },
  );

/** An outgoing request. */
export interface Outgoing {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | undefined;
  /** Whether it continues after the page is closed; limited to 64 KB by browsers. */
  keepalive?: boolean | undefined;
}

/** A successful response. */
export interface Reply {
  status: number;
  headers: Headers;
  /** Parsed body; undefined for 204 and 304. */
  json: unknown;
}

/** `User-Agent` on Node, Deno and Bun. In a browser it would need a preflight, and pages may not set it everywhere. */
const userAgent = (): Record<string, string> => {
  const { process, document } = globalThis as { process?: { versions?: { node?: string } }; document?: unknown };
  return process?.versions?.node && !document ? { 'User-Agent': SDK } : {};
};

/** Time limit and cancellation of one request. */
export interface Bounds {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Sends a request once. Throws a `ParleyError` unless the response is a readable success. */
export async function exchange(wire: Wire, { url, ...init }: Outgoing, bounds: Bounds = {}): Promise<Reply> {
  const limit = new AbortController();
  const stop = () => limit.abort();
  const timer = startTimer(stop, bounds.timeoutMs ?? wire.timeoutMs);
  const unlisten = bounds.signal && listen(bounds.signal, 'abort', stop);
  try {
    const headers = { ...userAgent(), ...init.headers };
    const [response, text] = await receive(wire, url, { ...init, headers, redirect: 'manual', signal: limit.signal });
    return read(response, text, wire.now());
  } finally {
    clearTimeout(timer);
    unlisten?.();
  }
}

async function receive(wire: Wire, url: string, init: object): Promise<[response: Response, text: string]> {
  try {
    const response = await wire.fetch(url, init);
    return [response, await response.text()];
  } catch (cause) {
    throw new ParleyError('no-reply', 'The server did not send a complete response.', { retryable: true, cause });
  }
}

function read({ status, headers }: Response, text: string, now: number): Reply {
  const isEmpty = [204, 304].includes(status);
  if (!isEmpty && (status < 200 || status > 299)) throw errorFrom(status, headers, text, now);
  try {
    // every content of Parley is an object
    return { status, headers, json: isEmpty ? undefined : JSON.parse(/^\s*{/.test(text) ? text : '') };
  } catch (cause) {
    throw unreadable(status, headers, cause);
  }
}
