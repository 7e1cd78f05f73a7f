import type { LeasedWebhook } from '../storage/webhooks/webhook-rounds.ts';

/**
 * How old the settings of a webhook may be when a request starts. A read for each request would cost a third of a
 * delivery.
 */
const SETTINGS_MS = 250;

/** The settings of a webhook that a worker has leased. */
export interface WebhookSettings {
  /** Replaces the known settings by those that were just read, if the lease goes on. Returns the webhook. */
  update(read: LeasedWebhook | undefined): LeasedWebhook | undefined;
  /**
   * Returns whether a webhook of a round still has the settings with which the round was prepared. False also after the lease
   * was lost, and if the settings cannot be read.
   */
  areThoseOf(webhook: LeasedWebhook): Promise<boolean>;
}

/** Returns the settings on which requests depend as a text. */
const settingsOf = ({ url, payload, ordered, event_types, status, ...secrets }: LeasedWebhook): string =>
  JSON.stringify([
    ...[url, payload, ordered, event_types, status, secrets.previous_secret_until],
    secrets.secret_sealed.toString('base64'),
  ]);

/** Returns the settings of a webhook, which are read again by `read` once they are too old. */
export function trackSettings(leased: LeasedWebhook, read: () => Promise<LeasedWebhook | undefined>): WebhookSettings {
  let known = settingsOf(leased);
  let readAt = performance.now();
  let reading: Promise<void> | undefined;

  async function readAgain(): Promise<void> {
    const startedAt = performance.now();
    const present = await read().catch(() => undefined);
    known = present ? settingsOf(present) : '';
    readAt = startedAt;
    reading = undefined;
  }

  return {
    update(webhook) {
      if (webhook) known = settingsOf(webhook);
      readAt = performance.now();
      return webhook;
    },
    async areThoseOf(webhook) {
      if (performance.now() - readAt > SETTINGS_MS) {
        reading ??= readAgain();
        await reading;
      }
      return settingsOf(webhook) === known;
    },
  };
}
