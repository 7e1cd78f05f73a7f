import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SERVED_PATHS } from '../../dashboard/paths.ts';
import { PAGES_DIR } from '../../src/platform/pages-build.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { buildDashboard } from '../support/pages.ts';

/** The maximum compressed size of the first load of any page (contract: ecosystem c). */
const ENTRY_BYTES = 200 * 1024;

let api: TestApi;
beforeAll(async () => {
  await buildDashboard();
  api = await createApi();
}, 300_000);
afterAll(() => api[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${api.baseUrl}${path}`, { redirect: 'manual', headers });

const assets = (): string[] =>
  readdirSync(join(PAGES_DIR, 'assets'), { encoding: 'utf8' }).filter(name => /\.(js|css)$/.test(name));

/** Returns the raw bytes of a reply, which `fetch` would decompress. */
const getRaw = (path: string, encoding: string): Promise<{ encoding?: string; body: Buffer }> =>
  new Promise((done, failed) => {
    const sent = request(`${api.baseUrl}${path}`, { headers: { 'Accept-Encoding': encoding } }, async reply => {
      const chunks = await reply.toArray();
      done({ encoding: reply.headers['content-encoding'], body: Buffer.concat(chunks) });
    });
    sent.on('error', failed).end();
  });

describe('addresses', () => {
  test.each(['/', '/dashboard'])('%s redirects to the dashboard', async path => {
    const reply = await get(path);
    expect(reply.status).toBe(302);
    expect(reply.headers.get('location')).toBe('/dashboard/');
  });

  test.each(SERVED_PATHS.map(path => path.replaceAll(/:\w+\??/g, 'x_1')))('/dashboard%s is the page', async path => {
    const reply = await get(`/dashboard${path}`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await reply.text()).toContain('<div id="root">');
  });

  test.each([
    '/dashboard/index.html',
    '/dashboard/nowhere',
    '/dashboard/questions/',
    '/dashboard/questions/a/b/c',
    '/dashboard/assets/',
    '/dashboard/assets/none.js',
    '/dashboard/assets/../index.html',
    '/dashboard/..%2f..%2fpackage.json',
    '/dashboard/paths.json',
    '/dashboard/sources.sha256',
    '/dashboard/icon.svg.br',
    '/Dashboard/',
    '/dashboards',
    '/index.html',
  ])('%s is 404', async path => {
    const reply = await new Promise<{ status?: number; type?: string }>((done, failed) => {
      request(`${api.baseUrl}`, { path }, reply => {
        reply.resume();
        done({ status: reply.statusCode, type: reply.headers['content-type'] });
      })
        .on('error', failed)
        .end(); // `fetch` would resolve the dots
    });
    expect(reply).toEqual({ status: 404, type: 'application/problem+json' });
  });

  test.each(['/', '/dashboard/', '/dashboard/questions'])('%s supports only GET and HEAD', async path => {
    const head = await fetch(`${api.baseUrl}${path}`, { method: 'HEAD', redirect: 'manual' });
    expect(head.status).toBe(path === '/' ? 302 : 200);
    const post = await fetch(`${api.baseUrl}${path}`, { method: 'POST', redirect: 'manual' });
    expect(post.status).toBe(405);
    expect(post.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('headers', () => {
  test('the page may only load its own files, is not framed, and runs no inline scripts', async () => {
    const { headers } = await get('/dashboard/');
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  });

  test.each([
    ['GET', '/', 302],
    ['GET', '/dashboard/', 200],
    ['GET', '/dashboard/nowhere/at/all', 404],
    ['POST', '/dashboard/', 405],
    ['GET', '/v1/me', 401],
    ['GET', '/docs', 200],
    ['GET', '/livez', 200],
  ])('%s %s cannot be framed, and its type is not guessed (%i)', async (method, path, status) => {
    const reply = await fetch(`${api.baseUrl}${path}`, { method, redirect: 'manual' });
    expect(reply.status).toBe(status);
    await reply.arrayBuffer();
    expect(reply.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(reply.headers.get('x-frame-options')).toBe('DENY');
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('the page has no inline script or style', async () => {
    const html = await (await get('/dashboard/')).text();
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
    expect([...html.matchAll(/<script[^>]*>([^<]*)</g)].map(([, inside]) => inside)).toEqual(['', '']);
    const sources = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source as string);
    expect(sources.length).toBeGreaterThan(2);
    expect(sources.filter(source => !source.startsWith('/dashboard/'))).toEqual([]);
  });

  test('the page is revalidated each time, with a 304 if unchanged', async () => {
    const first = await get('/dashboard/');
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const again = await get('/dashboard/inbox', { 'If-None-Match': first.headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
    expect(again.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  test('an asset is cached forever', async () => {
    for (const name of assets()) {
      const reply = await get(`/dashboard/assets/${name}`);
      expect(reply.status).toBe(200);
      expect(reply.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(reply.headers.get('content-type')).toMatch(name.endsWith('.js') ? /^text\/javascript/ : /^text\/css/);
      expect(name).toMatch(/-[\w-]{8}\.(js|css)$/);
      await reply.arrayBuffer();
    }
  });

  test('files are compressed for clients that accept it, with a separate ETag', async () => {
    const [name] = assets();
    const path = `/dashboard/assets/${name}`;
    const plain = await getRaw(path, 'identity');
    const gzip = await getRaw(path, 'gzip');
    const brotli = await getRaw(path, 'br, gzip');
    expect([plain.encoding, gzip.encoding, brotli.encoding]).toEqual([undefined, 'gzip', 'br']);
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    expect(brotli.body.length).toBeLessThan(plain.body.length);
    const tags = await Promise.all(
      ['identity', 'gzip', 'br'].map(async encoding =>
        (await get(path, { 'Accept-Encoding': encoding })).headers.get('etag'),
      ),
    );
    expect(new Set(tags).size).toBe(3);
  });
});

test('the initial scripts and styles have at most 200 KB', async () => {
  const html = readFileSync(join(PAGES_DIR, 'index.html'), 'utf8');
  const named = [...html.matchAll(/(?:src|href)="\/dashboard\/(assets\/[^"]+)"/g)].map(([, name]) => name as string);
  const sizes = named.map(name => gzipSync(readFileSync(join(PAGES_DIR, name)), { level: 9 }).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeGreaterThan(50 * 1024);
  expect(total).toBeLessThanOrEqual(ENTRY_BYTES);
  const charts = assets().filter(name => name.startsWith('chart-canvas'));
  expect(charts).toHaveLength(1);
  expect(html).not.toContain('chart-canvas');
});
