import { constants } from 'node:crypto';
import { lookup as lookUpHosts, Resolver } from 'node:dns/promises';
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Config } from './config.ts';
import { createAddressRule, findUrlFault, hostOf } from './outbound-rules.ts';

/** Time limit for a request from the connection to the end of the response, in milliseconds. */
export const TOTAL_TIMEOUT_MS = 15_000;
/** The part of a response's body that is read, in bytes. */
export const RESPONSE_BYTES = 1024;
/** Less than most servers wait, so that an idle connection is closed by this side first. */
const IDLE_MS = 4000;
const MAX_IDLE_CONNECTIONS = 64;
/** Maximum number of interim responses (1xx) to a request. A server that sends nothing else would keep the process busy. */
const MAX_INTERIM_RESPONSES = 10;
const RESOLVE = { timeout: 2000, tries: 2 };
/** Errors of a name server that has answered: the name does not exist, or has no addresses. */
const UNKNOWN_NAME = ['ENOTFOUND', 'ENODATA'];

/** The URL must not be requested, such as because its name leads to a private address. `message` is the rule. */
export class UrlNotAllowed extends Error {}

/** The response of a server. */
export interface OutboundResponse {
  status: number;
  /** The value of `Retry-After`. */
  retryAfter: string | undefined;
  /** At most the first `RESPONSE_BYTES` of the body. */
  body: Buffer;
}

export interface OutboundRequest {
  headers: Record<string, string>;
  body: string;
  /** Destroys the connection. */
  signal?: AbortSignal;
}

/** The client for URLs that tenants choose. There is no other one. */
export interface Outbound {
  /** Throws `UrlNotAllowed` for a URL that cannot be requested now. A failing name server is no reason. */
  check(url: string): Promise<void>;
  /** Sends a POST request. Throws `UrlNotAllowed`, or the connection's error. Redirects are not followed. */
  post(url: string, request: OutboundRequest): Promise<OutboundResponse>;
  /** Closes idle connections. */
  close(): void;
}

/** Returns the addresses of a host name. Throws the name server's error. */
export type Resolve = (name: string) => Promise<string[]>;

export type OutboundSettings = Pick<Config, 'OUTBOUND_ALLOW' | 'OUTBOUND_HTTP' | 'OUTBOUND_PROXY'>;

export interface OutboundOptions {
  resolve?: Resolve;
  /** Time limit for a request. */
  totalMs?: number;
}

/**
 * Creates the client for URLs that tenants choose, so that these cannot reach private services.
 *
 * The name is resolved once per connection. The connection is refused if any of its addresses is private, local or
 * reserved, and otherwise made to one of these addresses, with the name in SNI, the certificate's check, and `Host`. A
 * name server that changes its answer has no effect. With a proxy, names are resolved and checked there; the rule still
 * applies to each connection that is not made to the proxy.
 */
export function createOutbound(
  settings: OutboundSettings,
  { resolve = resolveName, totalMs = TOTAL_TIMEOUT_MS }: OutboundOptions = {},
): Outbound {
  const proxy = settings.OUTBOUND_PROXY;
  const rules = {
    http: settings.OUTBOUND_HTTP === 'on',
    isAllowed: createAddressRule(settings.OUTBOUND_ALLOW ?? []),
  };

  const resolveAllowed = async (name: string): Promise<string[]> => {
    const addresses = await resolve(name);
    if (addresses.length === 0 || !addresses.every(rules.isAllowed))
      throw new UrlNotAllowed('Must not lead to a private, local or reserved address.');
    return addresses;
  };

  const options = {
    keepAlive: true,
    maxFreeSockets: MAX_IDLE_CONNECTIONS,
    timeout: IDLE_MS,
    lookup: lookupWith(resolveAllowed), // not used for the proxy's own name
    ...(proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }),
  };
  // a server could renegotiate TLS 1.2 without an end; each time costs as much as a new connection
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;
  const agents = { 'http:': new http.Agent(options), 'https:': new https.Agent({ ...options, secureOptions }) };

  const parse = (text: string): URL => {
    const fault = findUrlFault(text, rules);
    if (fault !== undefined) throw new UrlNotAllowed(fault);
    return new URL(text);
  };

  return {
    async check(text) {
      const host = hostOf(parse(text));
      if (proxy !== undefined || isIP(host) !== 0) return;
      try {
        await resolveAllowed(host);
      } catch (error) {
        if (error instanceof UrlNotAllowed) throw error;
        if (UNKNOWN_NAME.includes(codeOf(error)))
          throw new UrlNotAllowed('Must have a host name that can be resolved.');
      }
    },
    async post(text, request) {
      const url = parse(text);
      const agent = agents[url.protocol as keyof typeof agents];
      const send = () => exchange(url, agent, request, totalMs);
      const first = await send().catch((error: Stale) => error);
      if (!(first instanceof Error)) return first;
      if (!first.reused || codeOf(first) !== 'ECONNRESET') throw first;
      return send(); // the server had closed an idle connection
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

/** An error of a request, and whether its connection had served another one. */
type Stale = Error & { reused?: boolean };

/** Returns a function with which Node resolves a name for a connection. It gets only checked addresses. */
const lookupWith =
  (resolve: Resolve): LookupFunction =>
  (name, { all, family }, callback) => {
    resolve(name).then(
      found => {
        const addresses = found.map(address => ({ address, family: isIP(address) }));
        const usable = addresses.filter(one => !family || one.family === family);
        const [first] = usable;
        if (!first) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '');
        else if (all) callback(null, usable);
        else callback(null, first.address, first.family);
      },
      error => callback(error, ''),
    );
  };

/**
 * Resolves a name by the name servers, which, unlike the system's resolver, blocks no thread while a server hangs. A
 * name that they do not know may be in the hosts file.
 */
async function resolveName(name: string): Promise<string[]> {
  const resolver = new Resolver(RESOLVE);
  const families = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = families.flatMap(one => (one.status === 'fulfilled' ? one.value : []));
  if (addresses.length > 0) return addresses;
  const failed = families.map(one => (one as PromiseRejectedResult).reason);
  const reason = failed.find(error => !UNKNOWN_NAME.includes(codeOf(error)));
  if (reason) throw reason;
  return (await lookUpHosts(name, { all: true })).map(({ address }) => address);
}

/** Sends one request and reads the start of its response. A longer body ends the connection. */
const exchange = (
  url: URL,
  agent: http.Agent,
  { headers, body, signal }: OutboundRequest,
  totalMs: number,
): Promise<OutboundResponse> =>
  new Promise((settle, fail) => {
    const { request: open } = url.protocol === 'https:' ? https : http;
    const request = open(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      ...(signal ? { signal } : {}),
    });
    const overdue = setTimeout(() => request.destroy(timedOut(totalMs)), totalMs);
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0; // decides once it has arrived, also if the body is cut off
    let retryAfter: string | undefined;
    let interim = 0;
    request.on('information', () => {
      if (++interim > MAX_INTERIM_RESPONSES) request.destroy(tooManyInterim());
    });
    request.on('response', response => {
      status = response.statusCode ?? 0;
      retryAfter = response.headers['retry-after'];
      response.on('data', (chunk: Buffer) => {
        if (size < RESPONSE_BYTES) chunks.push(chunk);
        size += chunk.length;
        if (size > RESPONSE_BYTES) request.destroy();
      });
      response.on('error', () => undefined); // a body that is cut off
    });
    request.on('error', error => {
      if (status === 0) fail(Object.assign(error, { reused: request.reusedSocket }));
    });
    request.on('close', () => {
      clearTimeout(overdue);
      if (status === 0) fail(Object.assign(new Error('no response'), { code: 'ECONNRESET' }));
      else settle({ status, retryAfter, body: Buffer.concat(chunks).subarray(0, RESPONSE_BYTES) });
    });
    request.end(body); // a text goes out together with the headers, in one write
  });

const timedOut = (ms: number) => Object.assign(new Error(`no response in ${ms / 1000} s`), { code: 'ETIMEDOUT' });

const tooManyInterim = () =>
  Object.assign(new Error(`more than ${MAX_INTERIM_RESPONSES} interim responses`), { code: 'EPROTO' });
