import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { openPage } from '../support/browser.ts';
import { hasBrowser, openBrowser } from '../support/chromium.ts';

describe.runIf(hasBrowser())('the pages of the API', () => {
  let api: TestApi;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  beforeAll(async () => {
    [api, browser] = await Promise.all([createApi(), openBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await api[Symbol.asyncDispose]();
  });

  test.each([
    ['/docs', '.opblock-summary'],
    ['/problems', 'dt'],
    ['/problems/validation-failed', 'h1'],
  ])('%s loads without an error in the console', async (path, content) => {
    await using watched = await openPage(browser);
    const { page, complaints } = watched;
    const failed: string[] = [];
    page.on('console', message => message.type() === 'error' && failed.push(message.text()));
    page.on('response', reply => reply.status() >= 400 && failed.push(`${reply.status()} ${reply.url()}`));
    await page.goto(`${api.baseUrl}${path}`);
    await page.locator(content).first().waitFor();
    expect([failed, complaints]).toEqual([[], []]);
    // A browser with a window would request /favicon.ico without it.
    expect(await page.locator('link[rel=icon]').count()).toBe(1);
  });
});
