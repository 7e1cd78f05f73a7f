import { z } from 'zod';
import { arrayOf } from '../bounded.ts';
import { rule } from '../field-errors.ts';
import { toTypeId, typeIdOut } from '../ids.ts';
import { fieldFault } from '../problem.ts';
import { Timestamp, TimestampOut, text } from '../text.ts';
import { EventType } from './events.ts';

/** Maximum number of webhooks of a tenant. */
export const MAX_WEBHOOKS = 20;
/** How long attempts are kept. */
export const DELIVERIES_KEPT_DAYS = 30;
/** Maximum number of events that one request replays. */
export const MAX_REPLAYED = 10_000;
/** Maximum time for which a rotated secret may stay valid. */
const MAX_OVERLAP_HOURS = 168;

export const WebhookPayload = z.enum(['full', 'thin']).meta({
  description:
    '`full` contains the object as it is when the event is sent, up to 20 KB; `thin` only its address, `href`',
});

const types = ['answer.completed', 'message.created'];

const EventTypes = arrayOf(EventType)
  .min(1)
  .max(EventType.options.length)
  .refine(types => new Set(types).size === types.length, rule('repeated-item', 'Must not contain a type twice.'))
  .meta({ description: 'The types of events to send', uniqueItems: true });

const webhookFields = {
  url: text(2048, 1, 'https://hooks.example.com/parley').meta({
    description: 'Where events are sent by POST: https, port 443 or from 1024 up, a public address',
    example: 'https://hooks.example.com/parley',
  }),
  description: text(500).meta({ example: 'CRM' }),
  event_types: EventTypes.meta({ example: types }),
  payload: WebhookPayload,
  ordered: z.boolean().meta({
    description: 'Whether an event is sent only after the previous one was delivered; default false',
  }),
};

export const NewWebhook = z
  .strictObject(webhookFields)
  .partial({ description: true, payload: true, ordered: true })
  .meta({ id: 'WebhookInput' });
export type NewWebhook = z.output<typeof NewWebhook>;

export const WebhookPatch = z
  .strictObject({
    ...webhookFields,
    status: z.enum(['enabled', 'disabled']),
    resume: z.enum(['continue', 'now']).meta({
      description:
        'Only with the status `enabled`: `continue` (default) first sends the events since the webhook was disabled, as far as they are kept; `now` skips them',
    }),
  })
  .partial()
  .meta({ id: 'WebhookPatch', example: { status: 'enabled', resume: 'continue' } });
export type WebhookPatch = z.output<typeof WebhookPatch>;

/** Throws 422 for a `resume` without the status that it belongs to. */
export function requireResumable({ status, resume }: WebhookPatch): void {
  if (resume !== undefined && status !== 'enabled')
    throw fieldFault('/resume', 'not-allowed', 'Must be omitted unless "status" is "enabled".');
}

export const WebhookRotation = z
  .strictObject({
    overlap_hours: z
      .number()
      .min(0)
      .max(MAX_OVERLAP_HOURS)
      .default(24)
      .meta({ description: 'Hours for which requests are also signed with the previous secret (0–168)', example: 24 }),
  })
  .meta({ id: 'WebhookRotation' });

export const WebhookReplay = z
  .strictObject({ from: Timestamp, to: Timestamp.optional(), types: EventTypes.optional() })
  .meta({ id: 'WebhookReplay', example: { types: ['answer.completed'] } });

/** Returns the range of a replay, which ends now if it has no end. Throws 422 for one that ends before it begins. */
export function rangeOf({ from, to }: z.output<typeof WebhookReplay>, now: Date): { from: Date; to: Date } {
  if (to === undefined && from >= now) throw fieldFault('/from', 'out-of-range', 'Must be in the past without "to".');
  if (to !== undefined && to <= from) throw fieldFault('/to', 'out-of-range', 'Must be after "from".');
  return { from, to: to ?? now };
}

export const ReplayCount = z
  .object({ count: z.int().min(0).meta({ description: 'Number of events that are sent again' }) })
  .meta({ id: 'ReplayCount', example: { count: 17 } });

const DisabledReason = z.enum(['manual', 'gone', 'failing']).meta({
  description: 'Who disabled it: the team, the receiver by status 410, or Parley after 5 days without a success',
});
export type DisabledReason = z.infer<typeof DisabledReason>;

export const Webhook = z
  .object({
    id: typeIdOut('webhook'),
    url: z.string().meta({ example: 'https://hooks.example.com/parley' }),
    description: z.string().meta({ example: 'CRM' }),
    event_types: z.array(EventType).meta({ example: types }),
    payload: WebhookPayload,
    ordered: z.boolean(),
    status: z.enum(['enabled', 'disabled']),
    disabled_reason: DisabledReason.nullable(),
    lag: z
      .object({
        events: z.int().min(0).meta({
          description:
            'Events that are not delivered yet, including those of other types. At most 10,000 of those that failed are counted',
        }),
        seconds: z.int().min(0).meta({ description: 'Age of the oldest of them' }),
      })
      .meta({ id: 'WebhookLag' }),
    previous_secret_until: TimestampOut.nullable().meta({
      description: 'Until when requests are also signed with the previous secret',
    }),
    created_at: TimestampOut,
    updated_at: TimestampOut,
    secret: z.string().optional().meta({ description: 'Secret of the signatures (`whsec_…`), shown only once' }),
  })
  .meta({ id: 'Webhook', variants: { created: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' } } });

/** A webhook as it is stored. */
export interface StoredWebhook {
  id: string;
  url: string;
  description: string;
  event_types: EventType[];
  payload: z.infer<typeof WebhookPayload>;
  ordered: boolean;
  status: 'enabled' | 'disabled';
  disabled_reason: DisabledReason | null;
  previous_secret_until: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** The backlog of a webhook. */
export interface Lag {
  events: number;
  seconds: number;
}

/** Returns the part of a webhook that only requests change. */
export const webhookSettings = (row: StoredWebhook, now: Date) => ({
  id: toTypeId('webhook', row.id),
  url: row.url,
  description: row.description,
  event_types: row.event_types,
  payload: row.payload,
  ordered: row.ordered,
  status: row.status,
  disabled_reason: row.disabled_reason,
  previous_secret_until:
    row.previous_secret_until && row.previous_secret_until > now ? row.previous_secret_until : null,
  created_at: row.created_at,
  updated_at: row.updated_at,
});

/** Returns a webhook as the API shows it, with its secret if it was just made. */
export const presentWebhook = (row: StoredWebhook, lag: Lag, now: Date, secret?: string) => ({
  ...webhookSettings(row, now),
  lag,
  ...(secret === undefined ? {} : { secret }),
});
