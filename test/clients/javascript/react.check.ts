import { join } from 'node:path';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { createClient, createOutbox, tokenEndpoint } from '../../../clients/javascript/src/index.ts';
import { Feedback } from '../../../clients/javascript/src/react/index.ts';
import { createApi, createWorker, waitFor } from '../../support/api.ts';
import { openPage } from '../../support/browser.ts';
import { hasBrowser, openBrowser } from '../../support/chromium.ts';
import { makeTenant, publishQuestion } from '../../support/make.ts';
import { bundle, servePage } from './page-server.ts';

const QUESTION = { type: 'nps', title: 'How likely are you to recommend us?', frequency: { ignore_cooldown: true } };

test('the component renders on a server, where nothing is sent', () => {
  const client = createClient({
    baseUrl: 'https://feedback.example.com',
    provider: tokenEndpoint('/v1/svc/auth/token'),
  });
  const outbox = createOutbox(client);
  const html = renderToString(createElement(Feedback, { client, outbox, limit: 3, className: 'feedback' }));
  expect(html).toBe('<parley-feedback limit="3" class="feedback"></parley-feedback>');
  outbox.close();
});

test.runIf(hasBrowser())('an app built by Vite shows a card under a strict policy, and learns the answer', async () => {
  await using stack = new AsyncDisposableStack();
  const api = stack.use(await createApi());
  stack.use(await createWorker(api));
  const tenant = await makeTenant(api);
  await publishQuestion(api, tenant, QUESTION);
  const server = stack.use(
    await servePage(tenant, await bundle(join(import.meta.dirname, 'react-app/main.ts')), api.baseUrl),
  );
  const browser = await openBrowser();
  stack.defer(() => browser.close());
  const { page } = stack.use(await openPage(browser));
  const counted: string[] = [];
  page.on('request', request => request.url().endsWith('/unread-count') && counted.push(request.method()));
  await page.goto(`${server.url}/?user=user%7C1&base=${encodeURIComponent(api.baseUrl)}`);
  await page.getByText('1 cards, 0 unread').waitFor();
  await page.getByRole('radio', { name: '9 of 10' }).check();
  await page.getByLabel('Anything to add?').fill('Great.');
  const router = page.getByRole('button', { name: 'Other page' });
  await router.click();
  await page.getByRole('radio').first().waitFor({ state: 'detached' });
  await router.click(); // the router removes and renders the component, which goes on with the answer
  await page.getByRole('radio', { name: '9 of 10', checked: true }).waitFor();
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('Thank you for your feedback.').waitFor();
  const learnt = await page.evaluate(() => (window as never as { answers: unknown[] }).answers);
  expect(learnt).toEqual([{ state: 'completed', values: { main: 9 }, comment: 'Great.' }]);
  const stored = await waitFor(async () => {
    const { body } = await api.request('GET', '/v1/answers?state=completed', { as: tenant.key.apiKey });
    return body.data.length === 1 && body.data;
  });
  expect(stored[0]).toMatchObject({ identity: 'user|1', values: { main: 9 }, comment: 'Great.' });
  expect(stored[0].metadata).toMatchObject({ plan: 'pro', card_locale: 'en', platform: 'web' });
  expect(counted.filter(method => method === 'GET').length).toBeLessThan(5); // an endless interval has no pauses in browsers
});
