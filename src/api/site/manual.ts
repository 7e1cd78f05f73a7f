import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type Router from '@koa/router';
import type { Context, Next } from 'koa';
import { Problem } from '../../domain/problem.ts';
import { etagOf, matchesNone } from '../http/etag.ts';
import { escapeHtml } from './html.ts';

const FOLDER = resolve(import.meta.dirname, '../../../docs');
const BASE = '/docs';

const STYLE = `body{font:16px/1.55 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
pre,code{font:14px/1.5 ui-monospace,monospace}pre,table{overflow-x:auto;display:block}
pre{padding:.75rem;border:1px solid #8886;border-radius:6px}:not(pre)>code{white-space:nowrap}
table{border-collapse:collapse}th,td{border:1px solid #8886;padding:.3rem .6rem;text-align:left;vertical-align:top}
h2{margin-top:2.5rem}:target{outline:2px solid #8888;outline-offset:.3rem}`;

/** The policy of these pages: the style above, no scripts, no images, nothing from other hosts. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The anchor of a heading, as in the links of the documents: lower case, hyphens for spaces, no punctuation. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/**
 * Returns the link's target if it leads to another host, a heading, or a document that is served; undefined otherwise, such
 * as for source files.
 */
function targetOf(href: string, page: string, pages: ReadonlySet<string>): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const { pathname, hash } = new URL(href, `http://docs/${page}`);
  const name = decodeURIComponent(pathname.slice(1)).replace(/\/$/, '/README.md');
  return pages.has(name) ? `${BASE}/${name}${hash}` : undefined;
}

/** Returns a document as an HTML page. The Markdown is Parley's own, so it is not sanitized. */
async function render(page: string, pages: ReadonlySet<string>): Promise<string> {
  const { Marked } = await import('marked');
  let title = 'Parley';
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens, this.parser.textRenderer);
        if (depth === 1) title = text;
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const target = targetOf(href, page, pages);
        const text = this.parser.parseInline(tokens);
        return target ? `<a href="${escapeHtml(target)}" rel="noreferrer">${text}</a>` : text;
      },
      image: ({ text }) => escapeHtml(text),
    },
  });
  const body = marked.parse(await readFile(join(FOLDER, page), 'utf8'), { async: false });
  return `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style></head><body>${body}</body></html>\n`;
}

/** Returns the documents below docs/, such as `runbooks/answers.md`. Decisions, for developers, are left out. */
async function listPages(): Promise<ReadonlySet<string>> {
  const names = await readdir(FOLDER, { recursive: true });
  return new Set(names.filter(name => name.endsWith('.md') && dirname(name) !== 'decisions'));
}

/**
 * Adds the documents for operators and developers of apps below `/docs/`, among them the runbooks to which alerts link.
 *
 * Each is rendered at its first request and kept: a few dozen files, which do not change while the process runs.
 */
export function addManual(router: Router): void {
  let names: Promise<ReadonlySet<string>> | undefined;
  const rendered = new Map<string, { html: string; etag: string }>();
  router.all(`${BASE}/*path`, async (ctx: Context, next: Next) => {
    names ??= listPages();
    const page = ctx.path.slice(BASE.length + 1);
    if (!(await names).has(page)) return next();
    ctx.state.route = `${BASE}/*`;
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new Problem('method-not-allowed', 'This path supports GET and HEAD.');
    }
    let found = rendered.get(page);
    if (!found) {
      const html = await render(page, await names);
      found = { html, etag: etagOf(html) };
      rendered.set(page, found);
    }
    ctx.set({
      'Content-Security-Policy': POLICY,
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'public, max-age=300',
      ETag: found.etag,
    });
    if (matchesNone(ctx.req.headers['if-none-match'], found.etag)) {
      ctx.status = 304;
      return;
    }
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = found.html;
  });
}
