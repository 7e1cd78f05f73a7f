import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import type { Role } from '../../src/domain/team/roles.ts';
import { expectNoViolations, openPage, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import type { Installation } from '../support/installation.ts';
import { runCommand, startProcess } from '../support/process.ts';
import { asBearer, asPerson, join, PASSWORD, type ShownKey, setUp, signToken } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';
import { QUESTIONS } from './question-types.ts';

describe.runIf(hasBrowser())('a tenant', { timeout: 240_000 }, () => {
  let dashboard: OpenDashboard;
  let installation: Installation;
  let browser: Browser;
  let ada: Watched;
  let page: Page;
  let tenantId: string;
  let key: ShownKey;
  const open = (path: string, of?: Page) => dashboard.open(path, of);
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  const ask = (bearer: string, method: string, path: string, body?: unknown) =>
    asBearer(installation.baseUrl, bearer, method, path, body);

  /** Reads the secrets from the dialog, which shows them only once, and closes it. */
  const takeSecrets = async (): Promise<ShownKey> => {
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Done' }).waitFor();
    await expectNoViolations(ada);
    const [id = '', secret = '', api_key = ''] = await dialog.locator('code').allTextContents();
    if (secret) await dialog.getByRole('button', { name: 'Copy .env' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    return { id, secret, api_key };
  };
  /** Expects a secret to be gone from the page and absent from later responses. */
  const expectForgotten = async ({ secret, api_key }: ShownKey) => {
    const bodies: string[] = [];
    page.on('response', async reply => void bodies.push(await reply.text().catch(() => '')));
    expect(await page.content()).not.toContain(secret);
    await open(pathTo('apiKeys'));
    await waitFor(() => bodies.some(body => body.includes('key_')));
    for (const text of [...bodies, await page.content()])
      for (const value of [secret, api_key]) expect(text).not.toContain(value);
    page.removeAllListeners('response');
  };

  beforeAll(async () => {
    dashboard = await openDashboard({}, { timezoneId: 'Asia/Tokyo' });
    ({ installation, browser, person: ada, page } = dashboard);
    await setUp(page, installation.setupLink);
    tenantId = (await asPerson(page, 'GET', '/v1/me')).account.memberships[0].tenant.id;
  }, 300_000);
  afterAll(() => dashboard?.[Symbol.asyncDispose]());

  test('a key with an expiry is created, and its secrets are shown once', async () => {
    await open(pathTo('apiKeys'));
    await page.getByRole('button', { name: 'Create API key' }).first().click();
    await page.getByLabel('Name').fill('backend');
    await page.getByLabel('Expiry date').fill('2099-12-31');
    await page.getByLabel('identities:write').uncheck();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    key = await takeSecrets();
    await row('backend').getByText('31 Dec 2099').waitFor();
    const { data } = await asPerson(page, 'GET', '/v1/api-keys');
    expect(data[0]).toMatchObject({ expires_at: '2099-12-31T14:59:59.999Z', status: 'active' });
    expect(data[0].scopes).not.toContain('identities:write');
    await expectForgotten(key);
  });

  const rotate = async (name: string, hours: string): Promise<ShownKey> => {
    await row(name).getByRole('button', { name: 'Rotate' }).click();
    await expectNoViolations(ada);
    await page.getByLabel('Grace period (hours)').fill(hours);
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    return takeSecrets();
  };

  test('without a grace period the previous value ends immediately', async () => {
    const next = await rotate('backend', '0');
    await ask(next.api_key, 'GET', '/v1/questions');
    await expect(waitFor(() => ask(key.api_key, 'GET', '/v1/questions').then(() => false))).rejects.toThrow(/401/);
    await expectForgotten(next);
    key = next;
  });

  test('with a grace period it has two values, and cannot be rotated again', async () => {
    const next = await rotate('backend', '1');
    expect([next.id, next.secret === key.secret]).toEqual([key.id, false]);
    await row('backend').getByText('Rotating').waitFor();
    for (const { api_key } of [key, next]) await ask(api_key, 'GET', '/v1/questions');
    for (const one of [key, next]) await ask(await signToken(one, tenantId, 'user|1'), 'GET', '/v1/cards');
    expect(await row('backend').getByRole('button', { name: 'Rotate' }).count()).toBe(0);
    await expectForgotten(next);
    key = next;
  });

  test('a public key has no secret, and works only from its origins', async () => {
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name').fill('browser');
    await page.getByLabel('Public').check();
    await page.getByLabel('Allowed origins').fill('https://app.acme.example');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const { id, secret } = await takeSecrets();
    expect(secret).toBe('');
    await row('browser').getByText('https://app.acme.example').waitFor();
    const claim = async (origin: string) => {
      const Authorization = `Basic ${Buffer.from(`api_key:${id}`).toString('base64')}`;
      const address = `${installation.baseUrl}/v1/tenants/${tenantId}/issuers/public/auth/token`;
      const headers = { Authorization, Origin: origin, 'Content-Type': 'application/json' };
      const body = JSON.stringify({ user_id: 'claimed' });
      return (await fetch(address, { method: 'POST', headers, body })).status;
    };
    expect(await claim('https://app.acme.example')).toBe(200);
    expect(await claim('https://evil.example')).toBe(403);

    await row('browser').getByRole('button', { name: 'Origins' }).click();
    const origins = page.getByRole('textbox', { name: 'Allowed origins' });
    await origins.fill('no origin');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await waitFor(async () => (await origins.getAttribute('aria-invalid')) === 'true');
    expect(await page.getByText('Required', { exact: true }).count()).toBe(0); // but the actual error
    await expectNoViolations(ada);
    await origins.fill('https://app.acme.example\nhttps://evil.example');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await row('browser').getByText('https://app.acme.example · https://evil.example').waitFor();
    await waitFor(async () => (await claim('https://evil.example')) === 200);
  });

  test('revoking asks for confirmation and ends a key', async () => {
    await row('browser').getByRole('button', { name: 'Revoke' }).click();
    const question = page.getByRole('alertdialog', { name: 'Revoke “browser”?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    await row('browser').getByText('Active').waitFor();
    await row('browser').getByRole('button', { name: 'Revoke' }).click();
    await question.getByRole('button', { name: 'Revoke' }).click();
    await row('browser').getByText('Revoked').waitFor();
    expect(await row('browser').getByRole('button').count()).toBe(0);
    await expectNoViolations(ada);
  });

  test.each(QUESTIONS)('a question of type $type is written, previewed and kept as a draft', async written => {
    await open(pathTo('newQuestion'));
    await page.getByRole('radio', { name: 'Net Promoter Score', exact: true }).check();
    await page.getByLabel('High end label').fill('Gladly'); // another type is tried first, without losing input
    await page.getByRole('radio', { name: written.name, exact: true }).check();
    await page.getByRole('textbox', { name: 'Question', exact: true }).fill(`A question of type ${written.type}`);
    await written.fill?.(page);
    const card = page.getByRole('group', { name: 'Preview' });
    await card.getByText(`A question of type ${written.type}`).waitFor();
    await waitFor(async () => isDeepStrictEqual(await written.preview(card), written.shown));
    await expectNoViolations(ada);
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByText('Draft', { exact: true }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-2);
    const stored = await ask(key.api_key, 'GET', `/v1/questions/${id}`);
    expect(stored).toMatchObject({ type: written.type, status: 'draft', config: written.config });
  });

  test('missing parts of a question are shown at their fields', async () => {
    await open(pathTo('newQuestion'));
    await page.getByRole('radio', { name: 'Single choice', exact: true }).check();
    await page.getByRole('textbox', { name: 'Question', exact: true }).fill('Which?');
    await page.getByLabel('Option 1', { exact: true }).fill('Red');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await page.getByText('Required', { exact: true }).waitFor();
    expect(await page.getByLabel('Option 2', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Option 2', { exact: true }).fill('Green');
    await page.getByText('How many', { exact: true }).click();
    await page.getByLabel('Priority').fill('5000');
    await page.getByRole('button', { name: 'Save draft' }).click();
    await waitFor(async () => (await page.getByLabel('Priority').getAttribute('aria-invalid')) === 'true');
    await expectNoViolations(ada);
  });

  test('a question is published, paused, resumed, closed after confirmation, cloned, archived, and the copy deleted', async () => {
    const { data } = await asPerson(page, 'GET', '/v1/questions?q=thumbs');
    await open(pathTo('question', { id: data[0].id }));
    const press = (name: string) => page.getByRole('main').getByRole('button', { name, exact: true }).click();
    const stands = async (status: string) => {
      await page.getByRole('main').getByText(status, { exact: true }).first().waitFor();
      await expectNoViolations(ada);
    };
    const cards = async () => (await ask(await signToken(key, tenantId, 'user|1'), 'GET', '/v1/cards')).data.length;
    await press('Publish');
    await page.getByRole('button', { name: 'Publish now' }).click();
    await stands('Live');
    await waitFor(async () => (await cards()) === 1);
    await press('Pause');
    await stands('Paused');
    await waitFor(async () => (await cards()) === 0);
    await press('Resume');
    await stands('Live');
    await press('Close');
    const question = page.getByRole('alertdialog', { name: 'Close this question?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    await stands('Live');
    await press('Close');
    await question.getByRole('button', { name: 'Close question' }).click();
    await stands('Closed');
    await press('Archive');
    await stands('Archived');
    await press('Clone');
    await page.getByText('Question cloned as a draft.').waitFor();
    await stands('Draft');
    expect(page.url()).not.toContain(data[0].id);
    await press('Delete');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete draft' }).click();
    await page.getByRole('heading', { level: 1, name: 'Questions' }).waitFor();
    await page.getByLabel('Status').selectOption('archived');
    await page.getByRole('link', { name: 'A question of type thumbs' }).waitFor();
    await waitFor(async () => (await page.getByRole('row').count()) === 2);
    await page.getByLabel('Search by name or title').fill('no such question');
    await page.getByText('No matching questions').waitFor();
    await expectNoViolations(ada);
  });

  test('an answer in the quarantine shows the reason, is replayed, and is discarded only after confirmation', async () => {
    const { id } = await ask(key.api_key, 'POST', '/v1/questions', { type: 'nps', title: 'How likely?' });
    await ask(key.api_key, 'POST', `/v1/questions/${id}/publish`);
    const answers = [1, 2].map(at => ({
      id: randomUUID(),
      identity: `user|${at}`,
      revision: 1,
      question_id: id,
      question_version: 1,
      state: 'completed',
      values: { main: 9 },
    }));
    const figures = () => ask(key.api_key, 'GET', '/v1/ingestion');
    await ask(key.api_key, 'POST', '/v1/answers', { answers });
    await waitFor(async () => (await figures()).stored === 2);
    {
      // A second process, which does not have these changes yet, accepts contradicting ones.
      await using second = await startProcess('serve', installation.environment);
      await second.awaitProbe('/readyz');
      const atOdds = answers.map(answer => ({ ...answer, values: { main: 1 } }));
      await asBearer(second.baseUrl, key.api_key, 'POST', '/v1/answers', { answers: atOdds });
    }
    await open(pathTo('data'));
    const rows = page.getByRole('row').filter({ hasText: 'Conflicts with a stored answer with the same ID' });
    await waitFor(async () => (await rows.count()) === 2);
    await rows.first().getByText('Answer as received').click();
    await rows.first().getByText('"main": 1').waitFor();
    await expectNoViolations(ada);

    await installation.database.query('delete from answers where id = $1', [answers[0]?.id]);
    await rows
      .filter({ hasText: answers[0]?.id ?? '' })
      .getByRole('button', { name: 'Replay' })
      .click();
    await page.getByText('The answer was queued again.').waitFor();
    await waitFor(async () => (await rows.count()) === 1);
    expect((await ask(key.api_key, 'GET', `/v1/answers/${answers[0]?.id}`)).values).toEqual({ main: 1 });

    await rows.getByRole('button', { name: 'Discard' }).click();
    const question = page.getByRole('alertdialog', { name: 'Discard this answer?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    expect(await rows.count()).toBe(1);
    await rows.getByRole('button', { name: 'Discard' }).click();
    await question.getByRole('button', { name: 'Discard answer' }).click();
    await page.getByText('No quarantined answers').waitFor();
    await expectNoViolations(ada);
  });

  test.each<[Role, string, string[]]>([
    ['admin', 'Grace', ['API keys', 'Audit log', 'New question', 'Quarantine', 'Delete', 'Reply', 'Token inspector']],
    ['agent', 'Linus', ['Reply', 'Token inspector']],
    ['analyst', 'Eva', []],
  ])('%s: has exactly the pages and actions of the role', async (role, name, sees) => {
    const { id } = await ask(await signToken(key, tenantId, `of ${role}`), 'POST', '/v1/conversations', {
      message: 'Hello',
    });
    const { link } = await asPerson(page, 'POST', '/v1/members', { email: `${role}@acme.example`, role });
    await using them = await openPage(browser);
    await join(them.page, link, name);
    const seen: string[] = [];
    const look = async (path: string, ...things: [string, Locator][]) => {
      await open(path, them.page);
      for (const [what, locator] of things) if ((await locator.count()) > 0) seen.push(what);
    };
    const byRole = (kind: 'link' | 'button' | 'heading', what: string): [string, Locator] => [
      what,
      them.page.getByRole(kind, { name: what, exact: true }),
    ];
    await look(pathTo('general'), byRole('link', 'API keys'), byRole('link', 'Audit log'));
    const inspectorAt = sees.includes('API keys') ? 'apiKeys' : 'general';
    await look(pathTo('questions'), byRole('link', 'New question'));
    await look(pathTo('data'), byRole('heading', 'Quarantine'));
    await look(pathTo('conversation', { id }), byRole('button', 'Delete'), byRole('button', 'Reply'));
    await look(pathTo(inspectorAt), byRole('heading', 'Token inspector'));
    await expectNoViolations(them);
    expect(seen).toEqual(sees);

    const mayWriteQuestions = sees.includes('New question');
    const write = asPerson(them.page, 'POST', '/v1/questions', { type: 'nps', title: 'Mine?' });
    if (mayWriteQuestions) expect((await write).status).toBe('draft');
    else await expect(write).rejects.toThrow(/403/);
    if (sees.includes('API keys')) return;
    await open(pathTo('apiKeys'), them.page);
    const alert = them.page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/Request/);
    await expectNoViolations(them);
  });

  test('an admin can neither appoint nor change owners', async () => {
    await using grace = await openPage(browser);
    const { link } = await asPerson(page, 'POST', '/v1/members', { email: 'second@acme.example', role: 'admin' });
    await join(grace.page, link, 'Second');
    await open(pathTo('members'), grace.page);
    const owner = grace.page.getByRole('row').filter({ hasText: 'ada@acme.example' });
    expect(await owner.getByRole('combobox', { name: /^Role/ }).count()).toBe(0);
    expect(await owner.getByRole('button', { name: 'Remove' }).count()).toBe(0);
    const own = grace.page.getByRole('row').filter({ hasText: 'second@acme.example' });
    expect(await own.getByRole('combobox', { name: /^Role/ }).getByRole('option').allTextContents()).toEqual([
      'Admin',
      'Agent',
      'Analyst',
    ]);
    await expectNoViolations(grace);
  });

  test('an owner of two tenants switches between them, and the selection is kept', async () => {
    const command = async (args: string[], input = '') =>
      JSON.parse((await runCommand(args, installation.environment, input)).stdout);
    const beta = await command(['tenant', 'create', '--name', 'Beta']);
    const owner = ['--email', 'ada@acme.example', '--role', 'owner'];
    await command(['member', 'create', '--tenant', beta.id, ...owner], PASSWORD);
    await open(pathTo('question', { id: (await ask(key.api_key, 'GET', '/v1/questions?limit=1')).data[0].id }));
    const tenants = page.getByRole('combobox', { name: 'Tenant', exact: true });
    await tenants.selectOption('Beta');
    await page.getByRole('heading', { level: 1, name: 'Getting started' }).waitFor();
    await open(pathTo('questions'));
    await page.getByText('No questions yet').waitFor();
    await expectNoViolations(ada);
    await open(pathTo('general'));
    await page.getByText(beta.id, { exact: true }).waitFor();
    await tenants.selectOption('Acme');
    await open(pathTo('general'));
    await page.getByText(tenantId, { exact: true }).waitFor();
    await expectNoViolations(ada);
  });
});
