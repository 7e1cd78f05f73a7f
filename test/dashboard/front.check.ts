import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDashboard } from '../../src/api/site/dashboard.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { expectNoViolations, expectNoViolationsOn, openPage } from '../support/browser.ts';
import { hasBrowser, openBrowser } from '../support/chromium.ts';
import {
  createMailServer,
  type MailingWorker,
  startMailing,
  type TestMailServer,
  tokenInLetter,
} from '../support/mail.ts';
import { makeTenant } from '../support/make.ts';
import { buildDashboard } from '../support/pages.ts';
import { makeMember, PASSWORD, type TestPerson } from '../support/person.ts';
import { waitFor } from '../support/wait.ts';

describe.runIf(hasBrowser())('the pages before the login', () => {
  let api: TestApi;
  let browser: Browser;
  let mails: TestMailServer;
  let mailing: MailingWorker;
  let owner: TestPerson;
  beforeAll(async () => {
    await buildDashboard();
    mails = await createMailServer();
    const mail = { SMTP_URL: mails.url, MAIL_FROM: 'parley@acme.example' };
    api = await createApi({ settings: { BASE_URL: 'http://localhost:3000', ...mail } });
    mailing = startMailing(api);
    owner = await makeMember(api, await makeTenant(api), 'owner'); // else the login shows how to create one
    browser = await openBrowser();
  }, 300_000);
  afterAll(async () => {
    await browser.close();
    await mailing[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
    await mails[Symbol.asyncDispose]();
  });

  /** Invites an address that somebody else has taken. Returns the tokens of the shown and of the mailed link. */
  async function inviteToTaken(email: string) {
    const hostile = await makeMember(api, await makeTenant(api, 'Hostile'), 'owner');
    const invite = async (by: TestPerson) => {
      const body = { email, role: 'agent' };
      const { link } = (await api.request('POST', '/v1/members', { headers: by.headers, body })).body;
      return link.split('#token=')[1] as string;
    };
    const path = `/v1/invitations/${await invite(hostile)}/accept`;
    const taken = await api.request('POST', path, {
      body: { name: 'Mallory', password: 'the password of a squatter' },
    });
    expect(taken.status).toBe(200);
    const shown = await invite(owner);
    const isOwners = (letter: string) => letter.includes(`To: ${email}`) && !letter.includes('Hostile');
    return { shown, mailed: tokenInLetter(await waitFor(() => mails.letters.find(isOwners))) };
  }

  test('without a session every URL shows the login', async () => {
    await using watched = await openPage(browser);
    const { page } = watched;
    await page.goto(`${api.baseUrl}/dashboard/questions`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/dashboard/questions');
    await expectNoViolations(watched);
  });

  test('the login by the identity provider returns to the requested page, with its query', async () => {
    const provider = { OIDC_ISSUER: 'https://login.acme.example', OIDC_CLIENT_ID: 'parley', OIDC_CLIENT_SECRET: 'x' };
    await using sso = await createApi({ sharing: api, settings: { ...provider, OIDC_NAME: 'Acme' } });
    await using watched = await openPage(browser);
    await watched.page.goto(`${sso.baseUrl}/dashboard/people?q=ada+lovelace`);
    const href = await watched.page.getByRole('link', { name: 'Sign in with Acme' }).getAttribute('href');
    expect(new URL(href ?? '', sso.baseUrl).searchParams.get('return_to')).toBe('/dashboard/people?q=ada+lovelace');
  });

  test('the setup link shows its page as soon as the dashboard is built', async () => {
    const router = new Router();
    addDashboard(router, async () => undefined);
    const unbuilt = new Koa().use(router.routes()).listen(0, '127.0.0.1');
    await once(unbuilt, 'listening');
    const reply = await fetch(`http://127.0.0.1:${(unbuilt.address() as AddressInfo).port}/dashboard/setup`);
    unbuilt.close();
    const notBuilt = { status: reply.status, headers: Object.fromEntries(reply.headers), body: await reply.text() };
    await using watched = await openPage(browser);
    const { page } = watched;
    let isBuilt = false;
    await page.route(`${api.baseUrl}/dashboard/setup`, route => (isBuilt ? route.continue() : route.fulfill(notBuilt)));
    await page.goto(`${api.baseUrl}/dashboard/setup#token=x`);
    await page.getByRole('heading', { name: 'The dashboard is not built yet' }).waitFor();
    isBuilt = true;
    await page.locator('#root h1').waitFor();
    expect(page.url()).toBe(`${api.baseUrl}/dashboard/setup#token=x`);
  });

  test('every page passes the checks', async () => {
    await using watched = await openPage(browser);
    const paths = ['login', 'forgotten', 'setup', 'setup#token=x', 'reset#token=x', 'invitation#token=x'];
    await expectNoViolationsOn(watched, paths, async path => {
      await watched.page.goto('about:blank');
      await watched.page.goto(`${api.baseUrl}/dashboard/${path}`);
      await watched.page.getByRole('heading', { level: 1 }).waitFor();
    });
  });

  test('a mailed invitation replaces an account that somebody else made with the address', async () => {
    const { shown, mailed } = await inviteToTaken('eva@acme.example');
    await using watched = await openPage(browser);
    const { page } = watched;
    const show = async (token: string) => {
      await page.goto('about:blank');
      await page.goto(`${api.baseUrl}/dashboard/invitation#token=${token}`);
      await page.getByLabel('Your password').waitFor();
    };
    const notMine = page.getByRole('button', { name: 'This is not my account' });
    await show(shown);
    expect(await notMine.count()).toBe(0);
    await show(mailed);
    await expectNoViolations(watched);
    await notMine.click();
    expect(await page.getByRole('alert').textContent()).toContain('The existing account with eva@acme.example');
    await expectNoViolations(watched);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByLabel('Your password').waitFor();
    await notMine.click();
    await page.getByLabel('Your name').fill('Eva');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Join with a new account' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    const list = await api.request('GET', '/v1/members', { headers: owner.headers });
    expect(list.body.data.map(({ name }: { name: string }) => name)).toContain('Eva');
  });

  test('no other page can frame them, which prevents clickjacking', async () => {
    await using watched = await openPage(browser);
    const { page } = watched;
    await page.goto('about:blank');
    await page.setContent(`<iframe src="${api.baseUrl}/dashboard/login"></iframe>`);
    await expect.poll(() => page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/');
  });

  test('they use the language of the browser, or a selected one', async () => {
    await using watched = await openPage(browser, { locale: 'de-AT' });
    const { page } = watched;
    await page.goto(`${api.baseUrl}/dashboard/login`);
    await page.getByRole('heading', { name: 'Anmelden' }).waitFor();
    expect(await page.getAttribute('html', 'lang')).toBe('de');
    await page.getByLabel('Sprache').selectOption('en');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.getAttribute('html', 'lang')).toBe('en');
  });

  test('the theme is that of the system until one is selected', async () => {
    await using watched = await openPage(browser, { colorScheme: 'dark' });
    const { page } = watched;
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    await page.goto(`${api.baseUrl}/dashboard/login`);
    await page.getByLabel('Theme').waitFor();
    const dark = await ground();
    await page.getByLabel('Theme').selectOption('light');
    await waitFor(async () => (await ground()) !== dark);
    const light = await ground();
    await page.reload();
    await page.getByLabel('Theme').waitFor();
    expect(await ground()).toBe(light);
  });

  test('a rejected login shows an error at the form, with the keyboard only', async () => {
    await using watched = await openPage(browser);
    const { page } = watched;
    await page.goto(`${api.baseUrl}/dashboard/login`);
    await page.getByLabel('Email').focus();
    await page.keyboard.type('nobody@example.com');
    await page.keyboard.press('Tab');
    await page.keyboard.type('not the password');
    await page.keyboard.press('Enter');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/Request/);
    await expectNoViolations(watched);
  });

  test('an empty field shows that it is required', async () => {
    await using watched = await openPage(browser);
    const { page } = watched;
    await page.goto(`${api.baseUrl}/dashboard/setup#token=x`);
    await page.getByRole('button', { name: 'Complete setup' }).click();
    await page.getByText('Required').first().waitFor();
    expect(await page.getByLabel('Company or product name').getAttribute('aria-invalid')).toBe('true');
    await expectNoViolations(watched);
  });
});
