import { ParleyError } from '../errors.ts';
import type { WebhookEvent } from './events.ts';

export { type ErrorKind, ParleyError } from '../errors.ts';
export type * from './events.ts';

/** Headers of a request: of `Request`, or `request.headers` of Node and its frameworks. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

export interface VerifyOptions {
  /** Current time in seconds since 1970, for tests. */
  now?: number;
}

/** How old, and how far ahead, the time of a request may be. */
const TOLERANCE_S = 300;
/** 24 bytes or more, in base64. */
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/;

type Code = 'missing-header' | 'invalid-timestamp' | 'too-old' | 'too-new' | 'wrong-signature' | 'not-an-event';

const refusal = (code: Code, message: string, cause?: unknown): ParleyError =>
  new ParleyError('invalid-webhook', message, { code, cause });

function headerOf(headers: WebhookHeaders, name: string): string {
  const found =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  const value = Array.isArray(found) && found.length === 1 ? found[0] : found;
  if (typeof value === 'string' && value !== '') return value;
  throw refusal('missing-header', `The request has no header ${name}.`);
}

function checkTime(timestamp: string, now: number): void {
  if (!/^\d{1,15}$/.test(timestamp))
    throw refusal('invalid-timestamp', 'The header webhook-timestamp is not a number of seconds.');
  const age = Math.floor(now) - Number(timestamp);
  if (age > TOLERANCE_S) throw refusal('too-old', `The request is ${age} s old; ${TOLERANCE_S} s are allowed.`);
  if (age < -TOLERANCE_S)
    throw refusal(
      'too-new',
      `The time of the request is ${-age} s ahead; ${TOLERANCE_S} s are allowed. Check your clock.`,
    );
}

const decode = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(base64), sign => sign.charCodeAt(0));

function keysOf(secrets: string | readonly string[]): Uint8Array<ArrayBuffer>[] {
  const parts = [secrets].flat().map(secret => SECRET.exec(secret)?.[1]);
  if (parts.length === 0 || parts.includes(undefined))
    throw new ParleyError('invalid-argument', 'secret must be the secret of the webhook, whsec_….', { code: 'secret' });
  return parts.map(part => decode(part as string));
}

function bytesOf(body: string | Uint8Array | ArrayBuffer): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new ParleyError('invalid-argument', 'body must be the bytes or the text of the request, before parsing.', {
    code: 'body',
  });
}

/** Whether one of the signatures was made with one of the keys. WebCrypto compares in constant time. */
async function isSigned(signatures: string[], keys: Uint8Array<ArrayBuffer>[], content: Uint8Array<ArrayBuffer>) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  for (const raw of keys) {
    const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['verify']);
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, decode(signature), content)) return true;
  }
  return false;
}

function read(body: Uint8Array): WebhookEvent {
  try {
    const event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (typeof event.id === 'string' && typeof event.type === 'string') return event;
  } catch (cause) {
    throw refusal('not-an-event', 'The body is not JSON.', cause);
  }
  throw refusal('not-an-event', 'The body is not an event.');
}

/**
 * Returns the event of a request to your webhook, if it was signed with the webhook's secret within the last five minutes (Standard
 * Webhooks). `body` is the body as received, before any parsing; `secret` is `whsec_…`, or several of these while you change it.
 *
 * Rejects with `invalid-webhook` if the request is not from Parley (`code` is the reason): reply 400. With `invalid-argument` if an argument is
 * invalid.
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { now = Date.now() / 1000 }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const keys = keysOf(secret);
  const bytes = bytesOf(body);
  const [id, timestamp, given] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(name =>
    headerOf(headers, name),
  ) as [string, string, string];
  checkTime(timestamp, now);
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const content = new Uint8Array(head.length + bytes.length);
  content.set(head);
  content.set(bytes, head.length);
  const signatures = given.split(' ').flatMap(each => SIGNATURE.exec(each)?.[1] ?? []);
  if (!(await isSigned(signatures, keys, content)))
    throw refusal('wrong-signature', 'No signature of the request was made with the secret of the webhook.');
  return read(bytes);
}
