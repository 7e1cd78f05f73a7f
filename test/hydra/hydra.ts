import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '../support/api.ts';
import { freePort } from '../support/process.ts';

/** The client's secret: Hydra and Parley must encode it in the same way. */
export const SECRET = 'long secret with % and + in it';

export interface Hydra extends AsyncDisposable {
  issuer: string;
  /** The claims of the person who logs in next. */
  claims: { sub: string; [claim: string]: unknown };
}

/** Runs Hydra in memory, with a client for each way of authentication, named after it. */
export async function startHydra(program: string, redirectUri: string): Promise<Hydra> {
  const [publicPort, adminPort] = [await freePort(), await freePort()];
  const admin = `http://127.0.0.1:${adminPort}/admin`;
  const send = async (method: string, path: string, body: object): Promise<{ redirect_to: string }> => {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(`${admin}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${response.status} from Hydra at ${path}: ${await response.text()}`);
    return (await response.json()) as { redirect_to: string };
  };

  /** Accepts each login and consent at once. */
  const pages = createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://localhost');
    const body =
      pathname === '/login'
        ? { subject: hydra.claims.sub }
        : { grant_scope: ['openid', 'email', 'profile'], session: { id_token: hydra.claims } };
    const { redirect_to } = await send('PUT', `/oauth2/auth/requests${pathname}/accept${search}`, body);
    response.writeHead(302, { Location: redirect_to }).end();
  }).listen(0, '127.0.0.1');
  await once(pages, 'listening');
  const pagesUrl = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;

  const issuer = `http://127.0.0.1:${publicPort}/`;
  const process = spawn(program, ['serve', 'all', '--dev'], {
    stdio: 'ignore',
    env: {
      DSN: 'memory',
      SECRETS_SYSTEM: 'a system secret of a test',
      SERVE_PUBLIC_HOST: '127.0.0.1',
      SERVE_PUBLIC_PORT: String(publicPort),
      SERVE_ADMIN_HOST: '127.0.0.1',
      SERVE_ADMIN_PORT: String(adminPort),
      SQA_OPT_OUT: 'true',
      URLS_SELF_ISSUER: issuer,
      URLS_LOGIN: `${pagesUrl}/login`,
      URLS_CONSENT: `${pagesUrl}/consent`,
    },
  });
  const hydra: Hydra = {
    issuer,
    claims: { sub: 'nobody' },
    async [Symbol.asyncDispose]() {
      process.kill();
      await once(process, 'exit');
      pages.closeAllConnections();
      await new Promise(resolve => pages.close(resolve));
    },
  };
  await waitFor(() =>
    fetch(`http://127.0.0.1:${adminPort}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  for (const method of ['client_secret_basic', 'client_secret_post'])
    await send('POST', '/clients', {
      client_id: method,
      client_secret: SECRET,
      grant_types: ['authorization_code'],
      response_types: ['code'],
      scope: 'openid email profile',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: method,
    });
  return hydra;
}
