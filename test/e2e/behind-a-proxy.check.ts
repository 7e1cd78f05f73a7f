import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createApi } from '../support/api.ts';
import { aQuestion, makeTenant } from '../support/make.ts';
import { makeMember } from '../support/person.ts';
import {
  blocksOf,
  hasWebProxy,
  type ProxiedReply,
  type RunningProxy,
  runWebProxy,
  WEB_PROXIES,
  type WebProxyName,
} from '../support/web-proxies.ts';

const BROWSER_ENCODINGS = { 'Accept-Encoding': 'gzip, deflate, br, zstd' };
const JSON_BODY = { 'Content-Type': 'application/json' };

const api = await createApi({ settings: { TRUSTED_PROXY_HOPS: '1' } });
afterAll(() => api[Symbol.asyncDispose]());
const tenant = await makeTenant(api);
const { headers: session } = await makeMember(api, tenant, 'owner');
await api.request('PATCH', '/v1/tenant', { headers: session, body: { ip_mode: 'full' } });
const asTeam = { Authorization: `Bearer ${tenant.key.apiKey}` };

const bodyOf = ({ text }: ProxiedReply) => JSON.parse(text);
const tagOf = ({ headers }: ProxiedReply) => headers.etag as string;

/** The effect of each proxy on the entity tag of a reply that it compresses. */
const CHANGED_TAG: Record<WebProxyName, RegExp> = {
  nginx: /^W\/"[\w-]{27}"$/,
  HAProxy: /^W\/"[\w-]{27}"$/,
  Apache: /^"[\w-]{27}-gzip"$/,
  Caddy: /^"[\w-]{27}"$/,
};

const installed = (Object.keys(WEB_PROXIES) as WebProxyName[]).filter(hasWebProxy);

describe.each(installed)('behind %s, with its block of the guide', name => {
  let proxy: RunningProxy;
  beforeAll(async () => {
    proxy = await runWebProxy(name, api.baseUrl);
  });
  afterAll(() => proxy?.[Symbol.asyncDispose]());

  const get = (path: string, headers = {}) => proxy.send('GET', path, { headers: { ...asTeam, ...headers } });
  const send = (method: string, path: string, body: unknown, headers = {}) =>
    proxy.send(method, path, { headers: { ...asTeam, ...JSON_BODY, ...headers }, body: JSON.stringify(body) });
  /** A question that is long enough to be compressed. */
  const createQuestion = async () => {
    const options = Array.from({ length: 30 }, (_, index) => ({ id: `option-${index}`, label: `Option ${index}` }));
    const reply = await send('POST', '/v1/questions', aQuestion({ type: 'single_choice', config: { options } }));
    expect(reply.status).toBe(201);
    return `/v1/questions/${bodyOf(reply).id}`;
  };

  test('a compressed reply is 304 with its own entity tag, and changes the version that it names', async () => {
    const path = await createQuestion();
    const read = await get(path, BROWSER_ENCODINGS);
    expect(read.status).toBe(200);
    expect(read.headers['content-encoding']).toMatch(/^(gzip|br|zstd)$/);
    expect(tagOf(read)).toMatch(CHANGED_TAG[name]);
    const again = await get(path, { ...BROWSER_ENCODINGS, 'If-None-Match': tagOf(read) });
    expect([again.status, again.text]).toEqual([304, '']);
    const change = (title: string, tag: string) =>
      send('PATCH', path, { title }, { ...BROWSER_ENCODINGS, 'If-Match': tag });
    const changed = await change('One', tagOf(read));
    expect(changed.status).toBe(200);
    expect((await change('Lost update', tagOf(read))).status).toBe(412);
    expect((await change('Two', tagOf(changed))).status).toBe(200);
    expect((await get(path, { ...BROWSER_ENCODINGS, 'If-None-Match': tagOf(read) })).status).toBe(200);
  });

  test('a problem document, its headers and a preflight are passed on', async () => {
    const refused = await proxy.send('GET', '/v1/questions', { headers: BROWSER_ENCODINGS });
    expect(refused.status).toBe(401);
    expect(refused.headers['content-type']).toBe('application/problem+json');
    expect(refused.headers['www-authenticate']).toBe('Bearer');
    expect(bodyOf(refused).request_id).toBe(refused.headers['x-request-id']);
    const preflight = await proxy.send('OPTIONS', '/v1/cards', {
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'GET' },
    });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*']);
  });

  test('the client has its own address, whatever X-Forwarded-For it sends', async () => {
    const headers = { ...asTeam, ...JSON_BODY, 'X-Forwarded-For': '203.0.113.9' };
    const body = JSON.stringify(aQuestion());
    const { id } = bodyOf(await proxy.send('POST', '/v1/questions', { headers, body, from: '127.0.0.2' }));
    const log = await api.request('GET', '/v1/audit-log?limit=1', { headers: session });
    expect(log.body.data).toMatchObject([{ target: { id }, ip: '127.0.0.2' }]);
  });

  test('a path arrives unchanged', async () => {
    const identity = 'a/b|c%;d?é';
    const { status, text } = await send('PUT', `/v1/identities/${encodeURIComponent(identity)}?verified=false`, {});
    expect([status, JSON.parse(text).identity]).toEqual([expect.toBeOneOf([200, 201]), identity]);
  });

  test('a body of the maximum size arrives, and a larger one is refused by the server', async () => {
    const padded = (bytes: number) => {
      const body = JSON.stringify({ answers: [{ comment: '' }] });
      return body.replace('""', JSON.stringify('x'.repeat(bytes - body.length)));
    };
    const sendBytes = (bytes: number) =>
      proxy.send('POST', '/v1/answers', { headers: { ...asTeam, ...JSON_BODY }, body: padded(bytes) });
    expect((await sendBytes(256 * 1024)).status).toBe(202); // the item is rejected
    const refused = await sendBytes(256 * 1024 + 1);
    expect([refused.status, bodyOf(refused).code]).toEqual([413, 'body-too-large']);
  });

  test('a header of 15 KB arrives', async () => {
    expect((await get('/v1/ingestion', { Cookie: `other=${'x'.repeat(15.25 * 1024)}` })).status).toBe(200);
  });

  test('response headers of more than 4 KB arrive', async () => {
    const [identity, q] = ['名'.repeat(256), Array(6).fill('名'.repeat(20)).join(' ')];
    for (const message of [q, q]) await send('POST', '/v1/conversations', { identity, message });
    const page = await get(`/v1/conversations?${new URLSearchParams({ limit: '1', identity, q })}`);
    expect(page.status).toBe(200);
    expect(page.headers.link).toContain('rel="next"');
    expect(JSON.stringify(page.headers).length).toBeGreaterThan(4096);
  });

  test('fifty clients, one after the other, use the same few connections to the server', async () => {
    const before = proxy.connections();
    for (let client = 0; client < 50; client++) expect((await get('/v1/ingestion')).status).toBe(200);
    expect(proxy.connections() - before).toBeLessThan(5);
  });
});

describe('the blocks that no test runs', () => {
  const blocks = blocksOf('yaml').map(text => parse(text));
  const seconds = (text: string) => Number(/^(\d+)s?$/.exec(text)?.[1]);

  test('are YAML, and keep the limits of the guide', () => {
    const [entryPoints, dynamic, chart, controller, ...others] = blocks;
    expect(others).toEqual([]);
    expect(entryPoints.entryPoints.websecure.address).toBe(':443');
    const { forwardingTimeouts } = dynamic.http.serversTransports.parley;
    expect(seconds(forwardingTimeouts.responseHeaderTimeout)).toBeGreaterThan(30);
    expect(seconds(forwardingTimeouts.idleConnTimeout)).toBeLessThan(72);
    expect(dynamic.http.middlewares['parley-buffering'].buffering.maxRequestBodyBytes).toBeGreaterThan(256 * 1024);
    const { annotations } = chart.ingress;
    expect(seconds(annotations['nginx.ingress.kubernetes.io/proxy-read-timeout'])).toBeGreaterThan(30);
    expect(seconds(controller.controller.config['upstream-keepalive-timeout'])).toBeLessThan(72);
  });
});
