import { hash } from 'node:crypto';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { notFound, Problem } from '../../domain/problem.ts';
import { matchesNone } from '../http/etag.ts';
import { createPages, type PageFile } from './pages.ts';

const BASE = '/dashboard';

/** The dashboard's content security policy: only its own scripts, styles and images, no inline scripts, no framing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** For files with a hash in their name, which never change. */
const FOR_EVER = 'public, max-age=31536000, immutable';
/** All other files are revalidated by their entity tag. */
const EACH_TIME = 'no-cache';

/** A refresh by `<meta>` would not load the page again: the setup link has a fragment, so it would only scroll. */
const RELOAD = 'setTimeout(() => location.reload(), 2000)';

const NOT_BUILT_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Parley</title><script>${RELOAD}</script>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}</style></head>
<body><h1>The dashboard is not built yet</h1><p>When started from source, Parley builds it, which takes a few seconds. This
page reloads automatically. If it does not change, check the log and run <code>npm run build</code>.</p></body></html>
`;

const NOT_BUILT_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  `script-src 'sha256-${hash('sha256', RELOAD, 'base64')}'`,
  "frame-ancestors 'none'",
].join('; ');

function sendNotBuilt(ctx: Context): void {
  ctx.status = 503;
  ctx.set({
    'Content-Security-Policy': NOT_BUILT_POLICY,
    'Cache-Control': 'no-store',
    'Retry-After': '3',
  });
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = NOT_BUILT_PAGE;
}

/** Selects the best encoding that the browser accepts. Each has a separate tag, since their bytes differ. */
function encode(ctx: Context, { etag, plain, br, gzip }: PageFile) {
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity');
  if (encoding === 'br') return { encoding, body: br, tag: etag.replace(/"$/, '-br"') };
  if (encoding === 'gzip') return { encoding, body: gzip, tag: etag.replace(/"$/, '-gz"') };
  return { body: plain, tag: etag };
}

function sendFile(ctx: Context, file: PageFile, caching: string): void {
  const { encoding, body, tag } = encode(ctx, file);
  ctx.set({
    'Content-Security-Policy': POLICY,
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Cache-Control': caching,
    Vary: 'Accept-Encoding',
    ETag: tag,
  });
  if (matchesNone(ctx.req.headers['if-none-match'], tag)) {
    ctx.status = 304;
    return;
  }
  if (encoding) ctx.set('Content-Encoding', encoding);
  ctx.status = 200;
  ctx.set('Content-Type', file.type);
  ctx.body = body;
}

function refuseOtherMethods(ctx: Context): void {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  ctx.set('Allow', 'GET, HEAD');
  throw new Problem('method-not-allowed', 'This path supports GET and HEAD.');
}

/** Whether a browser opens a mistyped address of a page: it asks for HTML, and the name is not that of a file. */
const isNavigation = (ctx: Context, name: string): boolean =>
  ctx.get('Accept').includes('text/html') && !name.startsWith('assets/') && !/\.[a-z]+$/.test(name);

/**
 * Adds the dashboard: its files, its single page under each of its paths, and the redirect from `/`.
 *
 * Other paths are 404, for a browser with the page, which offers the way back. Until the dashboard is built, its pages reply 503.
 */
export function addDashboard(router: Router, pages = createPages()): void {
  const serve = async (ctx: Context) => {
    ctx.state.route = `${BASE}/*`;
    const name = ctx.path.slice(BASE.length + 1);
    const built = await pages();
    const file = name === 'index.html' ? undefined : built?.files.get(name);
    const isPage = built?.hasPage(`/${name}`);
    if (built && !file && !isPage && !isNavigation(ctx, name)) throw notFound('page');
    refuseOtherMethods(ctx);
    if (!built) return sendNotBuilt(ctx);
    if (file) return sendFile(ctx, file, name.startsWith('assets/') ? FOR_EVER : EACH_TIME);
    sendFile(ctx, built.files.get('index.html') as PageFile, isPage ? EACH_TIME : 'no-store');
    if (!isPage) ctx.status = 404; // the page says so
  };
  const lead = (ctx: Context) => {
    ctx.state.route = '/';
    refuseOtherMethods(ctx);
    ctx.set('Cache-Control', 'no-cache');
    ctx.redirect(`${BASE}/`);
    ctx.body = null;
    ctx.status = 302;
  };
  router.all('/', lead);
  router.all(BASE, lead);
  router.all(`${BASE}/`, serve);
  router.all(`${BASE}/*path`, serve);
}
