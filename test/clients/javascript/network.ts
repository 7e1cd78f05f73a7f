import type { Wire } from '../../../clients/javascript/src/index.ts';

/** A sent request. */
export interface Sent {
  method: string;
  url: URL;
  headers: Headers;
  body: unknown;
}

/** A response: a status with optional headers and body, or no reply. */
export type Answered = number | 'no-reply' | { status: number; headers?: Record<string, string>; body?: unknown };

export interface Network extends Wire {
  sent: Sent[];
  /** The requested waits, in milliseconds. They end at once. */
  slept: number[];
  /** Sets the clock, in seconds. */
  setTime(seconds: number): void;
}

/** A network with responses provided by the test, one request at a time, and with its own clock and random numbers. */
export function createNetwork(answer: (sent: Sent, index: number) => Promise<Answered> | Answered): Network {
  const sent: Sent[] = [];
  const slept: number[] = [];
  let time = 0;
  return {
    sent,
    slept,
    timeoutMs: 5000,
    now: () => time,
    random: () => 0.5,
    sleep: async ms => void slept.push(ms),
    setTime: seconds => (time = seconds * 1000),
    async fetch(input, init = {}) {
      const body = init.body === undefined || init.body === null ? undefined : JSON.parse(String(init.body));
      const request = {
        method: init.method ?? 'GET',
        url: new URL(String(input)),
        headers: new Headers(init.headers),
        body,
      };
      const index = sent.push(request) - 1;
      const reply = await answer(request, index);
      if (reply === 'no-reply') throw new TypeError('fetch failed');
      const { status, headers = {}, body: content } = typeof reply === 'number' ? { status: reply } : reply;
      const text = typeof content === 'string' ? content : JSON.stringify(content ?? {});
      return new Response([204, 304].includes(status) ? null : text, { status, headers });
    },
  };
}

/** A token in the format of the contract. Its signature is not checked. */
export function tokenFor(identity: string, expiresAt: number, name = 'token'): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const claims = { iss: 'key_1', sub: 'tenant_1', exp: expiresAt, grants: { identity }, name };
  return `${encode({ alg: 'HS256', typ: 'JWT', cty: 'svc-fpa;v=1' })}.${encode(claims)}.c2ln`;
}
