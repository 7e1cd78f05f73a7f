import { SignJWT } from 'jose';
import type { Page } from 'playwright-core';

export const PASSWORD = 'correct horse battery staple';

/** The setup link in the output of a start. */
export const setupLinkIn = (output: string): string | undefined => /http\S+\/dashboard\/setup#\S+/.exec(output)?.[0];

/** Creates the owner and the first tenant through the pages. */
export async function setUp(page: Page, setupLink: string, tenant = 'Acme', name = 'Ada'): Promise<void> {
  await page.goto(setupLink);
  await page.getByLabel('Company or product name').fill(tenant);
  await page.getByLabel('Your name').fill(name);
  await page.getByLabel('Email').fill('ada@acme.example');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Complete setup' }).click();
  await page.getByRole('heading', { name: 'Getting started' }).waitFor();
}

/** Enters email and password on the login page. */
export async function signIn(page: Page, baseUrl: string, email: string, password = PASSWORD): Promise<void> {
  await page.goto(`${baseUrl}/dashboard/login`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Accepts an invitation through its link and waits for the dashboard. */
export async function join(page: Page, link: string, name: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('Your name').fill(name);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

/** Sends a request with the session of the page. */
export const asPerson = (page: Page, method: string, path: string, body?: unknown) =>
  page.evaluate(
    async ([verb, address, sent]) => {
      const me = (await (await fetch('/v1/me')).json()) as {
        csrf_token: string;
        account: { memberships: { tenant: { id: string } }[] };
      };
      const reply = await fetch(address, {
        method: verb,
        headers: {
          'Content-Type': 'application/json',
          'X-CSRF-Token': me.csrf_token,
          'Tenant-Id': me.account.memberships[0]?.tenant.id ?? '',
        },
        ...(sent === undefined ? {} : { body: sent }),
      });
      const text = await reply.text();
      if (!reply.ok) throw new Error(`${verb} ${address}: ${reply.status} ${text}`);
      return text ? JSON.parse(text) : undefined;
    },
    [method, path, body === undefined ? undefined : JSON.stringify(body)] as const,
  );

export interface ShownKey {
  id: string;
  secret: string;
  api_key: string;
}

/** Signs a token like a tenant's backend. */
export const signToken = (key: ShownKey, tenantId: string, identity: string): Promise<string> =>
  new SignJWT({ grants: { identity } })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', cty: 'svc-fpa;v=1' })
    .setIssuer(key.id)
    .setSubject(tenantId)
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(key.secret));

/** Sends a request with a bearer credential, like an app or a server. */
export async function asBearer(baseUrl: string, bearer: string, method: string, path: string, body?: unknown) {
  const reply = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}
