/** A React app with the component and the hooks, opened by the tests in a browser: `/?user=…&base=…`. */
import { createElement, StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { createClient, createOutbox, tokenEndpoint } from '../../../../clients/javascript/src/index.ts';
import { Feedback, useCards, useUnreadCount } from '../../../../clients/javascript/src/react/index.ts';

const query = new URLSearchParams(location.search);
const user = query.get('user') ?? '';
const client = createClient({
  baseUrl: query.get('base') ?? '',
  provider: tokenEndpoint('/v1/svc/auth/token', async () => ({ headers: { Authorization: `Bearer ${user}` } })),
});
const outbox = createOutbox(client);
const answers: unknown[] = [];
Object.assign(window, { answers });

function App() {
  const { cards, isLoading } = useCards(client);
  const unread = useUnreadCount(client, { everyMs: Number.POSITIVE_INFINITY });
  const [isElsewhere, setElsewhere] = useState(false);
  const onAnswer = ({ state, values, comment }: { state: string; values: object; comment: string | null }) =>
    void answers.push({ state, values, comment });
  return createElement(
    'div',
    {},
    createElement('p', {}, isLoading ? 'loading' : `${cards.length} cards, ${unread ?? '?'} unread`),
    createElement('button', { type: 'button', onClick: () => setElsewhere(before => !before) }, 'Other page'),
    !isElsewhere &&
      createElement(Feedback, { client, outbox, onAnswer, context: { plan: 'pro' }, className: 'feedback' }),
  );
}

createRoot(document.querySelector('main') as HTMLElement).render(createElement(StrictMode, {}, createElement(App)));
