import type { Browser, Page } from 'playwright-core';
import { decodeQR } from 'qr/decode.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathTo } from '../../dashboard/paths.ts';
import { totpCode, totpStep } from '../../src/platform/totp.ts';
import { expectNoViolations, openPage, panel, type Watched } from '../support/browser.ts';
import { hasBrowser } from '../support/chromium.ts';
import { type OpenDashboard, openDashboard } from '../support/dashboard.ts';
import type { Installation } from '../support/installation.ts';
import { createMailServer, type TestMailServer } from '../support/mail.ts';
import { createProvider, type TestProvider } from '../support/oidc.ts';
import { freePort, runCommand } from '../support/process.ts';
import { asPerson, join, PASSWORD, setUp, signIn } from '../support/team.ts';
import { waitFor } from '../support/wait.ts';

const ADA = 'ada@acme.example';
const SECOND_PASSWORD = 'another long password';
const THIRD_PASSWORD = 'the third long password';

/** Decodes a picture in a browser: its size and the bytes of its pixels. */
const pixelsOf = (png: Buffer): string => `(async () => {
  const bitmap = await createImageBitmap(await (await fetch('data:image/png;base64,${png.toString('base64')}')).blob());
  const { width, height } = bitmap;
  const surface = new OffscreenCanvas(width, height).getContext('2d');
  surface.drawImage(bitmap, 0, 0);
  return { width, height, pixels: [...surface.getImageData(0, 0, width, height).data] };
})()`;

/** The text of the QR code in a picture, as a camera reads it. */
async function scan(browser: Browser, picture: Buffer): Promise<string> {
  await using reader = await openPage(browser);
  const { width, height, pixels } = await reader.page.evaluate<{ width: number; height: number; pixels: number[] }>(
    pixelsOf(picture),
  );
  return decodeQR({ width, height, data: Uint8ClampedArray.from(pixels) });
}

describe.runIf(hasBrowser())('an account', { timeout: 240_000 }, () => {
  let mails: TestMailServer;
  let provider: TestProvider;
  let dashboard: OpenDashboard;
  let installation: Installation;
  let browser: Browser;
  let ada: Watched;
  let page: Page;
  let secret: string;
  let codes: string[];
  const open = (path: string, of?: Page) => dashboard.open(path, of);
  const isInside = (of: Page) => of.getByRole('navigation', { name: 'Pages' }).waitFor();
  const isOutside = (of: Page) => of.getByRole('heading', { name: 'Sign in' }).waitFor();

  beforeAll(async () => {
    const PORT = String(await freePort());
    provider = await createProvider(`http://localhost:${PORT}/v1/oidc/callback`);
    mails = await createMailServer();
    const mail = { SMTP_URL: mails.url, MAIL_FROM: 'Parley <parley@acme.example>' };
    dashboard = await openDashboard({ PORT, ...mail, ...provider.settings, OIDC_NAME: 'Acme ID' });
    ({ installation, browser, person: ada, page } = dashboard);
    await setUp(page, installation.setupLink);
  }, 300_000);
  afterAll(async () => {
    await dashboard?.[Symbol.asyncDispose]();
    await mails?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
  });

  test('the second factor is set up with a code, a wrong one shows an error, and the recovery codes are shown once', async () => {
    await open(pathTo('me'));
    const part = panel(page, /^Two-factor authentication/);
    await part.getByLabel('Password').fill('not the password');
    await part.getByRole('button', { name: 'Set up' }).click();
    await part.getByRole('alert').getByText('Login failed').waitFor();
    await part.getByLabel('Password').fill(PASSWORD);
    await part.getByRole('button', { name: 'Set up' }).click();
    await part.getByText('Scan this code with your authenticator app', { exact: false }).waitFor();
    secret = (await part.locator('code').first().textContent()) ?? '';
    expect(await part.getByRole('link', { name: 'Open in authenticator app' }).getAttribute('href')).toContain(secret);
    const picture = await part.getByRole('img', { name: 'QR code for your authenticator app' }).screenshot();
    const scanned = await scan(browser, picture);
    expect(scanned).toMatch(/^otpauth:\/\/totp\//);
    expect(new URL(scanned).searchParams.get('secret')).toBe(secret.replaceAll(' ', ''));
    await expectNoViolations(ada);
    await part.getByLabel('Authentication code').fill('000000');
    await part.getByRole('button', { name: 'Turn on' }).click();
    await part.getByRole('alert').getByText('The code is not valid for the enrolled authenticator.').waitFor();
    await part.getByLabel('Authentication code').fill(totpCode(secret, totpStep(new Date())));
    await part.getByRole('button', { name: 'Turn on' }).click();
    await part.getByText('Store these codes', { exact: false }).waitFor();
    codes = await part.locator('li code').allTextContents();
    expect(codes).toHaveLength(10);
    await expectNoViolations(ada);
    await part.getByRole('button', { name: 'Done' }).click();
    await part.getByText('On', { exact: true }).waitFor();
    for (const shown of [secret, codes[0] as string]) expect(await page.content()).not.toContain(shown);
  });

  test('a login requires the code, shows an error for a wrong one, and accepts the next one and each recovery code once', async () => {
    await using second = await openPage(browser);
    await signIn(second.page, installation.baseUrl, ADA);
    const field = second.page.getByLabel('Authentication code');
    await field.waitFor();
    await waitFor(async () => (await field.and(second.page.locator(':focus')).count()) === 1);
    await expectNoViolations(second);
    const enter = async (of: Page, code: string) => {
      await of.getByLabel('Authentication code').fill(code);
      await of.getByRole('button', { name: 'Sign in', exact: true }).click();
    };
    await enter(second.page, '000000');
    await second.page.getByRole('alert').getByText('Login failed').waitFor();
    await expectNoViolations(second);
    await enter(second.page, totpCode(secret, totpStep(new Date()) + 1)); // the current one was used to set it up
    await isInside(second.page);

    await using third = await openPage(browser);
    await signIn(third.page, installation.baseUrl, ADA);
    await enter(third.page, codes[0] as string);
    await isInside(third.page);
    await using fourth = await openPage(browser);
    await signIn(fourth.page, installation.baseUrl, ADA);
    await enter(fourth.page, codes[0] as string);
    await fourth.page.getByRole('alert').getByText('Login failed').waitFor();

    await open(pathTo('me'));
    const sessions = panel(page, 'Sessions').getByRole('row');
    await waitFor(async () => (await sessions.count()) === 4); // the header and three sessions
    await sessions.filter({ hasText: 'This device' }).waitFor();
    await sessions.getByRole('button', { name: 'Sign out' }).first().click();
    await waitFor(async () => (await sessions.count()) === 3);
    await expectNoViolations(ada);
    await Promise.all([second, third].map(({ page: of }) => of.reload()));
    await waitFor(async () => {
      const outside = await Promise.all(
        [second, third].map(({ page: of }) => of.getByRole('heading', { name: 'Sign in' }).count()),
      );
      return outside[0] !== outside[1]; // only one of them was ended
    });
  });

  test('a changed password ends the other sessions, and the second factor is removed with the password only', async () => {
    await using other = await openPage(browser);
    await signIn(other.page, installation.baseUrl, ADA);
    await other.page.getByLabel('Authentication code').fill(codes[1] as string);
    await other.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await isInside(other.page);

    await open(pathTo('me'));
    const part = panel(page, /^Password/);
    const change = async (present: string, next: string) => {
      await part.getByLabel('Current password').fill(present);
      await part.getByLabel('New password').fill(next);
      await part.getByRole('button', { name: 'Change password' }).click();
    };
    await change(PASSWORD, 'short');
    await part.getByText('At least 12 characters.', { exact: true }).waitFor();
    await expectNoViolations(ada);
    await change('not the password', SECOND_PASSWORD);
    await part.getByRole('alert').waitFor();
    await change(PASSWORD, SECOND_PASSWORD);
    await page.getByText('Password changed.', { exact: true }).waitFor();
    await other.page.reload();
    await isOutside(other.page);

    const factor = panel(page, /^Two-factor authentication/);
    await factor.getByLabel('Password').fill(SECOND_PASSWORD);
    await factor.getByRole('button', { name: 'Turn off' }).click();
    await factor.getByText('Off', { exact: true }).waitFor();
  });

  /** Sets a new password through a link, which ends the session, and signs in with it. */
  const resetBy = async (link: string, password: string) => {
    await page.goto(link);
    await page.getByLabel('New password').fill(password);
    await expectNoViolations(ada);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed. Sign in with your new password.').waitFor();
    await isOutside(page);
    await signIn(page, installation.baseUrl, ADA, password);
    await isInside(page);
  };

  test('a link from the command line resets a forgotten password, once', async () => {
    const { stdout } = await runCommand(['password-reset', 'create', '--email', ADA], installation.environment);
    const { link } = JSON.parse(stdout);
    await resetBy(link, THIRD_PASSWORD);
    await using thief = await openPage(browser);
    await thief.page.goto(link);
    await thief.page.getByLabel('New password').fill('the password of a thief');
    await thief.page.getByRole('button', { name: 'Change password' }).click();
    await thief.page.getByRole('alert').waitFor();
    await expectNoViolations(thief);
  });

  test('a link by mail does the same, and an unknown address gets the same reply', async () => {
    await using other = await openPage(browser);
    for (const email of ['nobody@acme.example', ADA]) {
      await other.page.goto(`${installation.baseUrl}/dashboard/login`);
      await other.page.getByRole('link', { name: 'Forgot your password?' }).click();
      await other.page.getByLabel('Email').fill(email);
      await other.page.getByRole('button', { name: 'Send reset link' }).click();
      await other.page.getByText('If an account with this address exists', { exact: false }).waitFor();
      await expectNoViolations(other);
    }
    const letter = (await waitFor(() => mails.letters[0])).replaceAll('=\n', '').replaceAll('=3D', '=');
    expect(mails.letters).toHaveLength(1);
    await resetBy(/http\S+\/dashboard\/reset#\S+/.exec(letter)?.[0] ?? '', PASSWORD);
  });

  test('the identity provider signs in its users, on the page they wanted, and no others', async () => {
    const { link } = await asPerson(page, 'POST', '/v1/members', { email: 'eva@acme.example', role: 'agent' });
    await using eva = await openPage(browser);
    await join(eva.page, link, 'Eva');
    await eva.page.getByRole('button', { name: 'Sign out' }).click();
    await isOutside(eva.page);

    const come = async () => {
      await eva.page.goto(`${installation.baseUrl}/dashboard/questions`);
      await eva.page.getByRole('link', { name: 'Sign in with Acme ID' }).click();
    };
    provider.subject = { sub: 'stranger', email: 'stranger@acme.example', email_verified: true };
    await come();
    await eva.page.getByRole('alert').getByText('You have no account yet').waitFor();
    await eva.page.getByRole('alert').getByText('not-invited').waitFor();
    await expectNoViolations(eva);
    await eva.context.clearCookies(); // the provider would remember the other person
    provider.subject = { sub: 'eva', email: 'eva@acme.example', email_verified: true };
    await come();
    await eva.page.getByRole('alert').getByText('You already have an account.', { exact: false }).waitFor();
    await expectNoViolations(eva);
    await eva.page.getByLabel('Email').fill('eva@acme.example');
    await eva.page.getByLabel('Password').fill(PASSWORD);
    await eva.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await isInside(eva.page);
    await eva.page.getByRole('button', { name: 'Sign out' }).click();
    await isOutside(eva.page);
    await come();
    await eva.page.getByRole('heading', { level: 1, name: 'Questions' }).waitFor();
    expect(new URL(eva.page.url()).pathname).toMatch(/^\/dashboard\/t\/tenant_\w+\/questions$/);
    await expectNoViolations(eva);
    await eva.page.goto(`${installation.baseUrl}/v1/oidc/callback?code=used&state=used`); // as the back button may
    await isInside(eva.page);
  });

  test('every refusal of the identity provider has a text of its own', async () => {
    await using other = await openPage(browser);
    const textFor = async (code: string) => {
      await other.page.goto(`${installation.baseUrl}/dashboard/login?error=${code}`);
      const alert = other.page.getByRole('alert');
      await alert.getByText(code, { exact: true }).waitFor();
      return (await alert.locator('strong').textContent()) ?? '';
    };
    const general = await textFor('constructor');
    const codes = ['email-missing', 'email-unverified', 'email-mismatch', 'not-invited', 'state-mismatch'];
    codes.push('provider-unavailable', 'provider-refused', 'link-not-valid', 'rate-limit-exceeded');
    const texts = new Set<string>();
    for (const code of codes) texts.add(await textFor(code));
    expect(texts.size).toBe(codes.length);
    expect(texts).not.toContain(general);
    await expectNoViolations(other);
  });

  test('signing out everywhere asks for confirmation and ends all sessions', async () => {
    await using other = await openPage(browser);
    await signIn(other.page, installation.baseUrl, ADA);
    await isInside(other.page);
    await open(pathTo('me'));
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    const question = page.getByRole('alertdialog', { name: 'Sign out everywhere?' });
    await question.getByRole('button', { name: 'Sign out everywhere' }).click();
    await isOutside(page);
    await other.page.reload();
    await isOutside(other.page);
    await expectNoViolations(ada);
  });
});
