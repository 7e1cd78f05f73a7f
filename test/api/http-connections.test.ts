import type { Socket } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { createApi, waitFor } from '../support/api.ts';
import { createCaller, expectCommonHeaders } from '../support/http.ts';
import { makeTenant } from '../support/make.ts';
import { exchange, openSocket, type RawReply, readReply } from '../support/raw.ts';

const api = await createApi({ settings: { TRUSTED_PROXY_HOPS: '1' } });
afterAll(() => api[Symbol.asyncDispose]());

/**
 * Sends a request with endless headers. Resolves with the reply and the time until it arrived. Starts before the other
 * tests.
 */
async function sendSlowHeaders(socket: Socket): Promise<{ reply: RawReply; ms: number }> {
  const startedAt = performance.now();
  socket.write('GET /livez HTTP/1.1\r\nHost: parley.test\r\nX-Slow: ');
  const drip = setInterval(() => socket.write('a'), 500);
  const reply = await readReply(socket).finally(() => clearInterval(drip));
  return { reply, ms: performance.now() - startedAt };
}

/** Started before the other tests, because it takes seconds. */
const slow = sendSlowHeaders(await openSocket(api));
slow.catch(() => undefined); // reported by the test that awaits it
/** Sends the headers of a request and the first byte of its body. Resolves with the reply. */
async function stallBody(socket: Socket): Promise<RawReply> {
  socket.write('POST /v1/answers HTTP/1.1\r\nHost: parley.test\r\nContent-Type: application/json\r\n');
  socket.write(`Authorization: Bearer ${key}\r\nContent-Length: 20\r\n\r\n{`);
  return readReply(socket);
}

const { key, get, createQuestion } = await createCaller(api);
const stalled = stallBody(await openSocket(api));
stalled.catch(() => undefined); // see the test of a stalled body

describe('an unusual HTTP message', () => {
  const head = 'Host: parley.test\r\nConnection: close\r\n';
  test.each([
    ['two lengths', `POST /v1/answers HTTP/1.1\r\n${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`, 400],
    [
      'length and chunks',
      `POST /v1/answers HTTP/1.1\r\n${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'an unknown transfer coding',
      `POST /v1/answers HTTP/1.1\r\n${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'a coding after chunked',
      `POST /v1/answers HTTP/1.1\r\n${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['a space before a colon', `GET /livez HTTP/1.1\r\n${head}X-A : 1\r\n\r\n`, 400],
    ['a folded header', `GET /livez HTTP/1.1\r\n${head}X-A: 1\r\n 2\r\n\r\n`, 400],
    ['bare line feeds', 'GET /livez HTTP/1.1\nHost: parley.test\n\n', 400],
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['TLS', new Uint8Array([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]), 400],
    ['no host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['two hosts', `GET /livez HTTP/1.1\r\n${head}Host: evil.example\r\n\r\n`, 400],
    [
      'two Authorization headers',
      `GET /v1/me HTTP/1.1\r\n${head}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`,
      400,
    ],
    ['headers of 20 KB', `GET /livez HTTP/1.1\r\n${head}X-A: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['a method nobody knows', `BREW /livez HTTP/1.1\r\n${head}\r\n`, 400],
  ])('with %s is rejected with a problem document', async (_, message, status) => {
    const reply = await exchange(api, message);
    expect(reply.status).toBe(status);
    expect(reply.headers['content-type']).toBe('application/problem+json');
    expectCommonHeaders(reply.headers);
    expect(JSON.parse(reply.body)).toMatchObject({ status, request_id: reply.headers['x-request-id'] });
  });

  test.each([
    ['HTTP/1.0 without a host', 'GET /livez HTTP/1.0\r\n\r\n', 200],
    ['an expectation that is not known', `GET /livez HTTP/1.1\r\n${head}Expect: tea\r\n\r\n`, 200],
    ['an upgrade', `GET /livez HTTP/1.1\r\n${head}Upgrade: websocket\r\n\r\n`, 200],
    ['TRACE', `TRACE /livez HTTP/1.1\r\n${head}\r\n`, 405],
    ['QUERY', `QUERY /v1/questions HTTP/1.1\r\n${head}\r\n`, 405],
    ['PROPFIND', `PROPFIND /v1/questions HTTP/1.1\r\n${head}\r\n`, 501],
    ['an asterisk', `OPTIONS * HTTP/1.1\r\n${head}\r\n`, 404],
  ])('that is valid but odd (%s) is processed', async (_, message, status) => {
    const reply = await exchange(api, message);
    expect(reply.status).toBe(status);
    expectCommonHeaders(reply.headers);
  });

  test('does not determine the host of any URL that the service builds', async () => {
    const path = '/v1/questions?limit=1';
    await Promise.all([createQuestion(), createQuestion()]);
    for (const target of [path, `http://evil.example${path}`]) {
      const reply = await exchange(
        api,
        `GET ${target} HTTP/1.1\r\nHost: good@evil.example\r\nX-Forwarded-Host: evil.example\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      );
      expect(reply.status).toBe(200);
      expect(reply.headers.link).toMatch(
        /^<https:\/\/parley\.test\/v1\/questions\?limit=1&cursor=[\w-]+>; rel="next"$/,
      );
      expect(JSON.stringify(reply)).not.toContain('evil.example');
    }
  });

  test('is not changed by override headers or parameters', async () => {
    const { body } = await createQuestion();
    const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE', 'x-http-method': 'DELETE' };
    await api.request('POST', `/v1/questions/${body.id}/publish`, { as: key, headers });
    expect((await get(`/v1/questions/${body.id}`, { headers })).body.status).toBe('live');
  });
});

test('a request in progress when the process stops is answered, and its connection closes', async () => {
  await using stopping = await createApi();
  const { key: itsKey } = await makeTenant(stopping);
  const socket = await openSocket(stopping);
  const head = `POST /v1/answers HTTP/1.1\r\nHost: parley.test\r\nAuthorization: Bearer ${itsKey.apiKey}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n`;
  socket.write(`${head}\r\n`);
  await waitFor(async () => /http_requests_in_flight 1\n/.test(await stopping.metrics.render()));
  const closed = stopping.close();
  await waitFor(async () => (await stopping.request('GET', '/livez').catch(() => undefined)) === undefined);
  socket.write('{}');
  const reply = await readReply(socket);
  expect([reply.status, reply.headers.connection]).toEqual([422, 'close']);
  expect(await closed).toBe(true);
});

test('a client that sends headers too slowly gets a 408 after 15 seconds', async () => {
  const { reply, ms } = await slow;
  expect([reply.status, JSON.parse(reply.body).code]).toEqual([408, 'request-timed-out']);
  expectCommonHeaders(reply.headers);
  expect(ms).toBeLessThan(29_000); // with Node's interval of 30 s it would come after 30 s or 45 s
});

test('a client whose body stalls gets a 408, not only a closed connection', { timeout: 60_000 }, async () => {
  const reply = await stalled;
  expect([reply.status, JSON.parse(reply.body).code]).toEqual([408, 'request-timed-out']);
  expectCommonHeaders(reply.headers);
});

test('a client gets replies while another keeps all connections of the process idle or half open', async () => {
  await using full = await createApi({ maxConnections: 10 });
  const half =
    'POST /v1/session HTTP/1.1\r\nHost: parley.test\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{';
  const messages = ['', 'GET /livez HT', half, 'GET /livez HTTP/1.1\r\nHost: parley.test\r\n\r\n'];
  const sockets: Socket[] = [];
  for (let opened = 0; opened < 60; opened++) {
    const socket = await openSocket(full);
    sockets.push(socket);
    socket.write(messages[opened % messages.length] ?? '');
    if (opened < 20) continue;
    const reply = await exchange(full, 'GET /livez HTTP/1.1\r\nHost: parley.test\r\nConnection: close\r\n\r\n');
    expect(reply.status).toBe(200);
  }
  for (const socket of sockets) socket.destroy();
});
