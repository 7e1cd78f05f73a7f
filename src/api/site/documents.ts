import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { FIELD_CODES } from '../../domain/field-errors.ts';
import { Problem } from '../../domain/problem.ts';
import { PROBLEMS, type ProblemCode } from '../../domain/problem-catalog.ts';
import { STATUS_OF } from '../http/problem.ts';
import { escapeHtml } from './html.ts';

/** The viewer's files, served from here: Parley's pages load nothing from other hosts. */
const VIEWER_FILES: Record<string, string> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
};

const viewerFolder = (): string =>
  (createRequire(import.meta.url)('swagger-ui-dist/absolute-path.js') as () => string)();

/** The viewer uses inline styles. Scripts are only allowed from files. */
const VIEWER_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Names an empty icon, without which browsers request `/favicon.ico`. */
const page = (title: string, head: string, body: string): string =>
  `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><title>${title}</title>${head}</head><body>${body}</body></html>\n`;

const VIEWER_PAGE = page(
  'Parley API',
  '<link rel="stylesheet" href="/docs/swagger-ui.css">',
  '<div id="viewer"></div><script src="/docs/swagger-ui-bundle.js"></script><script src="/docs/start.js"></script>',
);
const VIEWER_START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#viewer', deepLinking: true, validatorUrl: null });\n`;

const STYLE =
  '<style>body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}code{font-size:.95em}</style>';
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";

const withCode = (text: string): string => escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

const problemPage = (code: ProblemCode): string => {
  const { kind, title, meaning } = PROBLEMS[code];
  const facts = `<p>Code <code>${code}</code>, status ${STATUS_OF[kind]}.</p>`;
  const fields = code === 'validation-failed' ? '<p><a href="/problems#fields">Field codes</a></p>' : '';
  return page(title, STYLE, `<h1>${escapeHtml(title)}</h1>${facts}<p>${withCode(meaning)}</p>${fields}`);
};

const codeList = (codes: Record<string, string>): string =>
  `<dl>${Object.entries(codes)
    .map(([code, text]) => `<dt>${code}</dt><dd>${withCode(text)}</dd>`)
    .join('')}</dl>`;

/** The page with every problem and every field code. */
const PROBLEM_LIST = page(
  'Problems',
  STYLE,
  `<h1>Problems</h1><p>Every error is a problem document (RFC 9457). Its <code>code</code> is one of these:</p>${codeList(
    Object.fromEntries(
      Object.entries(PROBLEMS).map(([code, { kind, title }]) => [
        `<a href="/problems/${code}">${code}</a>`,
        `${STATUS_OF[kind]}: ${title}`,
      ]),
    ),
  )}<h2 id="fields">Field codes</h2><p>The <code>code</code> of each entry in <code>errors</code>:</p>${codeList(
    Object.fromEntries(
      Object.entries(FIELD_CODES).map(([code, { meaning, example }]) => [
        `<code>${code}</code>`,
        `${meaning} Valid: ${example}`,
      ]),
    ),
  )}`,
);

function sendPage(ctx: Context, route: string, type: string, body: string | Buffer, policy: string): void {
  ctx.state.route = route;
  ctx.set('Content-Security-Policy', policy);
  ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
  ctx.set('Cache-Control', 'public, max-age=300');
  ctx.type = `${type}; charset=utf-8`;
  ctx.body = body;
}

/** Adds the pages for people, the API viewer and what each problem means, and gives their paths. */
export function addDocuments(router: Router): string[] {
  const pages: Record<string, (ctx: Context, route: string) => unknown> = {
    '/docs': (ctx, route) => sendPage(ctx, route, 'text/html', VIEWER_PAGE, VIEWER_POLICY),
    '/docs/': (ctx, route) => {
      ctx.state.route = route;
      ctx.redirect('/docs');
    },
    '/docs/start.js': (ctx, route) => sendPage(ctx, route, 'text/javascript', VIEWER_START, VIEWER_POLICY),
    '/problems': (ctx, route) => sendPage(ctx, route, 'text/html', PROBLEM_LIST, PAGE_POLICY),
    '/problems/{code}': (ctx, route) => {
      const code = ctx.params.code as ProblemCode;
      if (!Object.hasOwn(PROBLEMS, code)) throw new Problem('resource-not-found', 'No problem has this code.');
      sendPage(ctx, route, 'text/html', problemPage(code), PAGE_POLICY);
    },
  };
  for (const [name, type] of Object.entries(VIEWER_FILES))
    pages[`/docs/${name}`] = async (ctx, route) =>
      sendPage(ctx, route, type, await readFile(join(viewerFolder(), name)), VIEWER_POLICY);
  for (const [route, send] of Object.entries(pages))
    router.get(route.replace('{code}', ':code'), ctx => send(ctx, route));
  return Object.keys(pages);
}
