import type { OneOrMore } from '../types.ts';
import type { EventType } from '../webhooks/events.ts';

export interface NewWebhook {
  /** https, a public address. */
  url: string;
  description?: string;
  event_types: EventType[];
  /** `full` (default) contains the object as it is when the event is sent, up to 20 KB; `thin` only its address. */
  payload?: 'full' | 'thin';
  /** Whether an event is sent only after the previous one was delivered. */
  ordered?: boolean;
}

export interface WebhookPatch extends Partial<NewWebhook> {
  status?: Webhook['status'];
  /** Only with the status `enabled`: `continue` (default) first sends the events since it was disabled, `now` skips them. */
  resume?: 'continue' | 'now';
}

export interface Webhook extends Required<NewWebhook> {
  id: string;
  status: 'enabled' | 'disabled';
  /** Who disabled it: the team, the receiver by status 410, or Parley after 5 days without a success. */
  disabled_reason: 'manual' | 'gone' | 'failing' | null;
  /** Events that are not delivered yet, and the age of the oldest. */
  lag: { events: number; seconds: number };
  /** Until when requests are also signed with the previous secret. */
  previous_secret_until: string | null;
  created_at: string;
  updated_at: string;
}

/** With its secret, `whsec_…`, which is returned only once. */
export type WebhookWithSecret = Webhook & { secret: string };

export interface DeliveryQuery {
  limit?: number;
  cursor?: string;
  status?: OneOrMore<Delivery['status']>;
  /** Only of events after this `sequence`. */
  after?: number;
}

/** An attempt to send an event to a webhook. */
export interface Delivery {
  id: string;
  event_id: string;
  /** Null for a test. */
  sequence: number | null;
  type: EventType | 'webhook.test';
  attempt: number;
  /** When the request was sent, or will be sent at the earliest. */
  at: string;
  status: 'delivered' | 'failed' | 'waiting';
  response_status: number | null;
  duration_ms: number | null;
  /** Why there was no response. */
  error: string | null;
  /** The first KB of the response; null if it is empty, and once the object of the event is deleted. */
  response: string | null;
}

export interface WebhookReplay {
  from: string;
  /** Defaults to now. */
  to?: string;
  /** Defaults to those of the webhook. */
  types?: EventType[];
}
