import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build, type Rolldown } from 'vite';
import type { TestTenant } from '../../support/make.ts';

/** Bundles a module with all its imports into one minified file. */
export async function bundle(entry: string, external: string[] = []): Promise<string> {
  const built = (await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      target: 'es2020',
      modulePreload: false,
      rolldownOptions: { input: entry, external, preserveEntrySignatures: 'strict', output: { format: 'es' } },
    },
  })) as Rolldown.RolldownOutput;
  if (built.output.length !== 1) throw new Error('The bundle is more than one file.');
  return built.output[0].code;
}

export const bundleApp = (): Promise<string> => bundle(join(import.meta.dirname, 'page/app.ts'));

const htmlIn = (language: string): string => `<!doctype html>
<html lang="${language}">
  <head><meta charset="utf-8"><title>App</title><meta name="color-scheme" content="light dark"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"></head>
  <body><main><h1>App</h1><parley-feedback></parley-feedback></main><script type="module" src="/app.js"></script></body>
</html>`;

/** A page with the app in a frame of a width, for browsers whose windows are not that narrow: `/frame?width=320&…`. */
const frameOf = (query: URLSearchParams): string =>
  `<!doctype html><title>Frame</title><iframe width="${Number(query.get('width'))}" height="800" src="/?${query.toString().replace(/&/g, '&amp;')}"></iframe>`;

/** Serves the page of an app, with a backend that signs a token for any user name, under a strict security policy. */
export async function servePage(
  tenant: TestTenant,
  app: string,
  apiUrl: string,
): Promise<AsyncDisposable & { url: string }> {
  const policy = `default-src 'none'; frame-src 'self'; script-src 'self'; img-src data:; connect-src 'self' ${apiUrl}; require-trusted-types-for 'script'`;
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const send = (type: string, body: string) =>
      response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': policy }).end(body);
    if (pathname === '/') return void send('text/html', htmlIn(searchParams.get('lang') ?? 'en'));
    if (pathname === '/frame') return void send('text/html', frameOf(searchParams));
    if (pathname === '/app.js') return void send('text/javascript', app);
    const user = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (pathname !== '/v1/svc/auth/token' || !user) return void response.writeHead(403).end();
    send('application/json', JSON.stringify({ access_token: await tenant.sign(user) }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
