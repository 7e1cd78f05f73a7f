/**
 * An app with the feedback view, opened by the tests in a browser: `/?user=…&base=…`, with `&triggers` if it tracks events and
 * `&placement=…` if it places cards. `&later=…` sets the clock forward, in milliseconds.
 */
import { addTexts, defineFeedback } from '../../../../clients/javascript/src/feedback/index.ts';
import {
  type Client,
  createClient,
  createOutbox,
  type Outbox,
  tokenEndpoint,
} from '../../../../clients/javascript/src/index.ts';
import { addPlacements } from '../../../../clients/javascript/src/placements/index.ts';
import { de } from '../../../../clients/javascript/src/texts/de.ts';
import { addTriggers, type TriggerClient } from '../../../../clients/javascript/src/triggers/index.ts';

declare global {
  interface Window {
    parley: {
      client: Client & Partial<TriggerClient>;
      outbox: Outbox;
      user: string;
      errors: string[];
      databases: IDBDatabase[];
    };
  }
}

/** Every database that the page opens. */
const databases: IDBDatabase[] = [];
const open = IDBFactory.prototype.open;
IDBFactory.prototype.open = function (...args) {
  const request = open.apply(this, args);
  request.addEventListener('success', () => databases.push(request.result));
  return request;
};

const query = new URL(document.baseURI).searchParams; // in a `srcdoc` frame, that of the page around it
const client = createClient({
  baseUrl: query.get('base') ?? '',
  provider: tokenEndpoint('/v1/svc/auth/token', () => ({ headers: { Authorization: `Bearer ${window.parley.user}` } })),
  retry: { baseMs: 50 },
  wire: { now: () => Date.now() + Number(query.get('later')) },
});
if (query.has('triggers')) addTriggers(client);
const outbox = createOutbox(client, { retry: { baseMs: 50 } });
window.parley = { client, outbox, user: query.get('user') ?? '', errors: [], databases };

addEventListener('parley-error', event => {
  window.parley.errors.push(String((event as CustomEvent).detail.error));
});
if (query.has('below')) (document.querySelector('h1') as HTMLElement).style.marginBottom = '3000px';
addTexts('de', de);
const placement = query.get('placement');
if (placement) addPlacements();
defineFeedback();
for (const view of document.querySelectorAll('parley-feedback')) {
  if (placement) view.setAttribute('placement', placement);
  Object.assign(view, { client, outbox });
}
