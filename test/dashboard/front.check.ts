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
import { makeTenant } from '../support/make.ts';
import { buildDashboard } from '../support/pages.ts';
import { makeMember } from '../support/person.ts';
import { waitFor } from '../support/wait.ts';

describe.runIf(hasBrowser())('the pages before the login', () => {
  let api: TestApi;
  let browser: Browser;
  beforeAll(async () => {
    await buildDashboard();
    api = await createApi({ settings: { BASE_URL: 'http://localhost:3000' } });
    await makeMember(api, await makeTenant(api), 'owner'); // else the login shows how to create one
    browser = await openBrowser();
  }, 300_000);
  afterAll(async () => {
    await browser.close();
    await api[Symbol.asyncDispose]();
  });

  test('without a session every URL shows the login', async () => {
    await using watched = await openPage(browser);
    const { page } = watched;
    await page.goto(`${api.baseUrl}/dashboard/questions`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/dashboard/questions');
    await expectNoViolations(watched);
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
