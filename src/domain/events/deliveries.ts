import { z } from 'zod';
import { DAY_MS } from '../durations.ts';
import { toTypeId, typeIdOut } from '../ids.ts';
import { TimestampOut } from '../text.ts';
import { EVENT_TYPES } from './events.ts';

/** The type of the event that `POST …/test` sends. It is not in the feed. */
export const TEST_TYPE = 'webhook.test';

/** The time from a failed attempt to the next one, in seconds. The last one repeats. */
export const RETRY_DELAYS_S = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;
/** The part of a delay by which it varies, so that the retries of many webhooks spread. */
const JITTER = 0.1;
/** Maximum `Retry-After` that is honoured. */
const MAX_RETRY_AFTER_S = 86_400;
/** The number of failures in a row from which a webhook gets one attempt at a time. */
export const FAILING_FROM = 5;
/** The number of days without a success after which a webhook is disabled. */
export const DISABLED_AFTER_DAYS = 5;
/** The part of a response that is kept, in bytes. */
export const KEPT_RESPONSE_BYTES = 1024;
/** The largest request that contains the object. */
export const FULL_PAYLOAD_BYTES = 20 * 1024;

export const DeliveryStatus = z.enum(['delivered', 'failed', 'waiting']);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

export const Delivery = z
  .object({
    id: typeIdOut('delivery'),
    event_id: typeIdOut('event').meta({ description: '`webhook-id` of the request' }),
    sequence: z
      .int()
      .nullable()
      .meta({ description: 'Position of the event in the feed; null for a test', example: 4711 }),
    type: z.enum([...EVENT_TYPES, TEST_TYPE]).meta({ example: 'answer.completed' }),
    attempt: z.int().min(1).meta({ description: 'Number of the attempt; a replay starts again at 1' }),
    at: TimestampOut.meta({ description: 'When the request was sent, or will be sent at the earliest' }),
    status: DeliveryStatus,
    response_status: z.int().nullable().meta({ example: 204 }),
    duration_ms: z.int().nullable().meta({ example: 87 }),
    error: z.string().nullable().meta({ description: 'Why there was no response, such as `ECONNREFUSED`' }),
    response: z.string().nullable().meta({
      description: 'The first KB of the response; null if it is empty, and once the object of the event is deleted',
      example: '',
    }),
  })
  .meta({ id: 'Delivery', description: 'An attempt to send an event to a webhook' });

/** An attempt as it is stored. */
export interface StoredDelivery {
  id: string;
  event_id: string;
  sequence: number | null;
  type: string;
  attempt: number;
  at: Date;
  status: DeliveryStatus;
  response_status: number | null;
  duration_ms: number | null;
  error: string | null;
  response: string | null;
}

/** Returns an attempt as the API shows it. */
export const presentDelivery = ({ id, event_id, ...row }: StoredDelivery) => ({
  id: toTypeId('delivery', id),
  event_id: toTypeId('event', event_id),
  sequence: row.sequence,
  type: row.type,
  attempt: row.attempt,
  at: row.at,
  status: row.status,
  response_status: row.response_status,
  duration_ms: row.duration_ms,
  error: row.error,
  response: row.response,
});

/**
 * Returns when the attempt after a failed one is due: by the schedule, or at `Retry-After` (seconds, or a date) if that
 * is later. `random` is from 0 to 1.
 */
export function nextAttemptAt(attempt: number, now: Date, retryAfter: string | undefined, random: number): Date {
  const delay = RETRY_DELAYS_S[Math.min(attempt, RETRY_DELAYS_S.length) - 1] as number;
  const jittered = delay * (1 + JITTER * (2 * random - 1));
  const asked = Math.min(retryAfterSeconds(retryAfter, now), MAX_RETRY_AFTER_S);
  return new Date(now.getTime() + Math.round(1000 * Math.max(jittered, asked)));
}

function retryAfterSeconds(value: string | undefined, now: Date): number {
  if (value === undefined) return 0;
  if (/^\d{1,10}$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? 0 : Math.max(0, (date - now.getTime()) / 1000);
}

/** How an attempt ended, as a label of the metric. */
export type Outcome = 'delivered' | 'status' | 'timeout' | 'connection' | 'url-not-allowed' | 'expired';

/** The parts of a finished attempt that count for its webhook. */
interface Judged {
  item: { type: string };
  outcome: Outcome;
  status: number | null;
  at: Date;
}

/** The failures of a webhook since its last success. */
interface Failures {
  failures: number;
  failing_since: Date | null;
}

/** Returns the failures in a row after some attempts, and whether they are a reason to disable the webhook. */
export function judgeAttempts({ failures, failing_since }: Failures, attempts: readonly Judged[], now: Date) {
  let [count, since] = [failures, failing_since];
  let disable: 'gone' | 'failing' | undefined;
  for (const { item, outcome, status, at } of attempts) {
    if (outcome === 'delivered') [count, since, disable] = [0, null, undefined];
    else if (outcome !== 'expired' && item.type !== TEST_TYPE) {
      count++;
      since ??= at;
      if (status === 410) disable = 'gone';
    }
  }
  if (since && count > 0 && now.getTime() - since.getTime() >= DISABLED_AFTER_DAYS * DAY_MS) disable ??= 'failing';
  return { failures: count, failing_since: since, disable: attempts.length > 0 ? disable : undefined };
}

const utf8 = new TextDecoder();

/** Returns the kept part of a response, as text that PostgreSQL can store; null if it is empty. */
export const keptResponse = (body: Uint8Array): string | null =>
  utf8.decode(body.subarray(0, KEPT_RESPONSE_BYTES)).replaceAll('\u0000', '\uFFFD') || null;

/** The object of an event, as the event shows it. */
interface ShownObject {
  type: string;
  id: string | null;
  verified?: boolean;
  conversation_id?: string;
}

const COLLECTIONS: Record<string, string> = {
  answer: 'answers',
  conversation: 'conversations',
  question: 'questions',
  api_key: 'api-keys',
  webhook: 'webhooks',
};

/** Returns the address of an object in the API, of a message that of its conversation; null without one. */
export function hrefOf(baseUrl: string, { type, id, verified, conversation_id }: ShownObject): string | null {
  if (type === 'tenant') return `${baseUrl}/v1/tenant`;
  if (type === 'message') return conversation_id ? `${baseUrl}/v1/conversations/${conversation_id}/messages` : null;
  if (id === null) return null;
  if (type === 'identity')
    return `${baseUrl}/v1/identities/${encodeURIComponent(id)}${verified === false ? '?verified=false' : ''}`;
  return COLLECTIONS[type] ? `${baseUrl}/v1/${COLLECTIONS[type]}/${id}` : null;
}

/** An event with, perhaps, its object. */
interface ShownEvent {
  object: ShownObject;
  data: object & { object?: unknown };
}

/** Returns the body of a request: the event with its object if there is one that fits, else with the object's address. */
export function deliveryBody(baseUrl: string, event: ShownEvent): string {
  const full = JSON.stringify(event);
  if ('object' in event.data && Buffer.byteLength(full) <= FULL_PAYLOAD_BYTES) return full;
  const { object, ...data } = event.data;
  return JSON.stringify({ ...event, data: { ...data, href: hrefOf(baseUrl, event.object) } });
}
