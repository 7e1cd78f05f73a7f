import { Webhook } from 'standardwebhooks';

/** The signed parts of a request to a webhook. */
export interface Signed {
  /** The `webhook-id`: the event's id, the same at each attempt. */
  id: string;
  at: Date;
  body: string;
}

/**
 * Returns the headers of a request as Standard Webhooks describes them, signed with each of the secrets (`whsec_…`). A
 * receiver accepts the request if any of the signatures is valid.
 */
export const signatureHeaders = (secrets: readonly string[], { id, at, body }: Signed): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': secrets.map(secret => new Webhook(secret).sign(id, at, body)).join(' '),
});
