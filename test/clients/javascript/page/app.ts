/** An app with the feedback view, opened by the tests in a browser: `/?user=…&base=…`. */
import { defineFeedback } from '../../../../clients/javascript/src/feedback/index.ts';
import {
  type Client,
  createClient,
  createOutbox,
  type Outbox,
  tokenEndpoint,
} from '../../../../clients/javascript/src/index.ts';

declare global {
  interface Window {
    parley: { client: Client; outbox: Outbox; user: string; errors: string[] };
  }
}

const query = new URLSearchParams(location.search);
const client = createClient({
  baseUrl: query.get('base') ?? '',
  provider: tokenEndpoint('/v1/svc/auth/token', () => ({ headers: { Authorization: `Bearer ${window.parley.user}` } })),
  retry: { baseMs: 50 },
});
const outbox = createOutbox(client, { retry: { baseMs: 50 } });
window.parley = { client, outbox, user: query.get('user') ?? '', errors: [] };

addEventListener('parley-error', event => {
  window.parley.errors.push(String((event as CustomEvent).detail.error));
});
defineFeedback();
for (const view of document.querySelectorAll('parley-feedback')) Object.assign(view, { client, outbox });
