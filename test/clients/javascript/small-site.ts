import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Card, NewAnswer } from '../../../clients/javascript/src/index.ts';
import { tokenFor } from './network.ts';

/** A site with the app of `page/app.ts`, and a server of Parley that returns these cards and keeps the answers. */
export interface SmallSite extends AsyncDisposable {
  cards: Card[];
  /** The answers in the order of their arrival, repeated ones too. */
  answers: NewAnswer[];
  /** URL of a page, of `user|1` unless it has another `user`; `host` is `127.0.0.1` or `localhost`, which browsers treat as different sites. */
  url(path: string, host?: string): string;
}

const APP = '<parley-feedback></parley-feedback><script type="module" src="/app.js"></script>';
const pageOf = (body: string): string =>
  `<!doctype html><html lang="en"><title>App</title><link rel="icon" href="data:,"><body>${body}`;

/** Pages by path; `app` is the URL of the app. */
const PAGES: Record<string, (app: string) => string> = {
  '/': () => APP,
  '/two': () =>
    `<parley-feedback question="question_2"></parley-feedback>${APP.replace('>', ' question="question_1">')}`,
  '/left': () => '<h1>Another page</h1>',
  '/sandbox': app => `<iframe sandbox="allow-scripts" width="400" height="600" src="${app}"></iframe>`,
  '/third-party': app => `<iframe width="400" height="600" src="${app}"></iframe>`,
  '/small-third-party': app => `<iframe width="400" height="100" src="${app}"></iframe>`,
  '/srcdoc': () => `<iframe width="400" height="600" srcdoc='${APP}'></iframe>`,
};

/** Serves the site; all is readable for all origins, as an app's own server would allow for its sandboxed frames. */
export async function serveSmallSite(app: string): Promise<SmallSite> {
  const site = { cards: [] as Card[], answers: [] as NewAnswer[] };
  async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    response.setHeaders(
      new Map(['Origin', 'Headers', 'Expose-Headers'].map(each => [`Access-Control-Allow-${each}`, '*'])),
    );
    response.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, If-None-Match');
    const send = (type: string, body: string, status = 200) =>
      void response.writeHead(status, { 'Content-Type': type }).end(body);
    const sendJson = (body: object, status?: number) => send('application/json', JSON.stringify(body), status);
    if (request.method === 'OPTIONS') return send('text/plain', '');
    if (pathname === '/app.js') return send('text/javascript', app);
    if (pathname === '/v1/svc/auth/token') {
      const user = `${request.headers.authorization}`.replace('Bearer ', '');
      return sendJson({ access_token: tokenFor(user, Date.now() / 1000 + 3000) });
    }
    if (pathname === '/v1/cards') return sendJson({ data: site.cards, poll_after_s: 60 });
    if (pathname === '/v1/answers') {
      const { answers } = (await json(request)) as { answers: NewAnswer[] };
      site.answers.push(...answers);
      return sendJson({ results: answers.map(({ id, revision }) => ({ id, revision, status: 'accepted' })) }, 202);
    }
    const page = PAGES[pathname];
    const host = searchParams.get('frame');
    if (page) return send('text/html', pageOf(page(`http://${host}/?${searchParams}`.replace(/&/g, '&amp;'))));
    response.writeHead(404).end();
  }
  const server = createServer((request, response) => void reply(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(site, {
    url(path: string, host = '127.0.0.1') {
      const query = new URLSearchParams({ user: 'user|1', base: `http://127.0.0.1:${port}` });
      return `http://${host}:${port}${path}${path.includes('?') ? '&' : '?'}${query}&frame=127.0.0.1:${port}`;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  });
}
