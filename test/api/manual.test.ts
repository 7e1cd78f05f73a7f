import { globSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readRules } from '../alerts/rules.ts';
import { createApi } from '../support/api.ts';
import { ROOT } from '../support/documents.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());

const found = (html: string, attribute: string): string[] =>
  [...html.matchAll(new RegExp(` ${attribute}="([^"]*)"`, 'g'))].map(([, value]) => value as string);
const pages = globSync('{*,guides/*,runbooks/*}.md', { cwd: join(ROOT, 'docs') }).map(name => `/docs/${name}`);

describe('the documents below /docs', () => {
  test.each(pages)('%s is a page without scripts, images and resources of other hosts', async path => {
    const { status, headers, body } = await api.request('GET', path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(body).toMatch(/^<!doctype html>\n<html lang="en">.*<title>[^<]+<\/title>/);
    expect(body).not.toMatch(/<(script|img|link|iframe)|<[^>]*\s(on\w+|src|style)=/);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  test('link only to documents and headings that exist', async () => {
    expect(pages.length).toBeGreaterThan(15);
    const bodies = new Map<string, string>();
    for (const path of pages) bodies.set(path, (await api.request('GET', path)).body);
    const broken: string[] = [];
    let count = 0;
    for (const [path, body] of bodies)
      for (const href of found(body, 'href').filter(each => !/^https?:/.test(each))) {
        count++;
        const [to = '', anchor] = href.split('#');
        const target = bodies.get(to || path);
        if (!target || (anchor && !found(target, 'id').includes(anchor))) broken.push(`${path} → ${href}`);
      }
    expect(broken).toEqual([]);
    expect(count).toBeGreaterThan(100);
  });

  test('have the section to which each alert links', async () => {
    for (const { runbook_url } of readRules().map(rule => rule.annotations)) {
      const [path, anchor] = runbook_url.split('#');
      const { status, body } = await api.request('GET', `/${path}`);
      expect([runbook_url, status, found(body, 'id').includes(anchor ?? '')]).toEqual([runbook_url, 200, true]);
    }
  });

  test('are revalidated by their entity tag', async () => {
    const { headers } = await api.request('GET', '/docs/runbooks/README.md');
    const again = await api.request('GET', '/docs/runbooks/README.md', {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    });
    expect([again.status, again.body]).toEqual([304, '']);
  });

  test.each([
    '/docs/decisions/0001-one-executable-run-from-source.md',
    '/docs/openapi.json',
    '/docs/demo.ts',
    '/docs/runbooks/',
    '/docs/runbooks/..%2f..%2fpackage.json',
    '/docs/../package.json',
    '/docs/unknown.md',
  ])('%s is not one of them', async path => {
    expect((await api.request('GET', path)).status).toBe(404);
  });

  test('accept only GET and HEAD', async () => {
    const { status, headers } = await api.request('POST', '/docs/operating.md');
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await api.request('HEAD', '/docs/operating.md')).status).toBe(200);
  });
});
