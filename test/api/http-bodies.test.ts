import { afterAll, describe, expect, test } from 'vitest';
import { createApi } from '../support/api.ts';
import { createCaller, expectCommonHeaders, JSON_TYPE, outcome } from '../support/http.ts';
import { aQuestion } from '../support/make.ts';
import { openSocket, readReply } from '../support/raw.ts';

const api = await createApi({ settings: { TRUSTED_PROXY_HOPS: '1' } });
afterAll(() => api[Symbol.asyncDispose]());
const { key, createQuestion } = await createCaller(api);

const nested = (depth: number): string => `${'['.repeat(depth)}1${']'.repeat(depth)}`;

describe('a body', () => {
  const post = (raw: string | Uint8Array, headers: Record<string, string> = JSON_TYPE) =>
    api.request('POST', '/v1/questions', { as: key, raw, headers });

  test.each([
    ['cut JSON', '{"type":', 400],
    ['two documents', '{}{}', 400],
    ['a number with leading zeros', '{"type":01}', 400],
    ['a comment', '/**/{}', 400],
    ['JSON nested too deep', nested(21), 400],
    ['JSON nested much too deep', nested(100_000), 400],
    ['JSON nested as deep as allowed', nested(20), 422],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400],
    ['UTF-16', Buffer.from('{}', 'utf16le'), 400],
    ['an overlong NUL', new Uint8Array([0x22, 0xc0, 0x80, 0x22]), 400],
    ['null', 'null', 422],
    ['a list', '[]', 422],
    ['a prototype', '{"type":"nps","title":"a","__proto__":{"polluted":1}}', 422],
    ['a constructor', '{"type":"nps","title":"a","constructor":{"prototype":{"polluted":1}}}', 422],
    ['a number beyond all numbers', '{"type":"nps","title":"a","priority":1e999}', 422],
    ['a lone surrogate', '{"type":"nps","title":"\\ud800"}', 422],
    ['a NUL', '{"type":"nps","title":"\\u0000"}', 422],
    ['an array of a hundred thousand', `[${'1,'.repeat(100_000)}1]`, 422],
  ])('of %s is rejected', async (_, raw, status) => {
    expect((await post(raw)).status).toBe(status);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test.each(['priority', 'sampling_percent'])('with a number beyond all numbers in %s is out of range', async name => {
    const { body } = await post(`{"type":"nps","title":"a","${name}":1e400}`);
    expect(body.errors).toEqual([
      { pointer: `/${name}`, code: 'out-of-range', detail: expect.stringContaining('9007199254740991') },
    ]);
  });

  test.each([
    ['application/json', 201],
    ['application/json; charset=utf-8', 201],
    ['Application/JSON;charset="UTF-8"', 201],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset=utf-7', 415],
    ['application/JSON_TYPE, text/plain', 415],
    ['application/problem+json', 415],
    ['application/merge-patch+json', 415],
    ['text/json', 415],
    ['text/plain', 415],
    ['multipart/form-data; boundary=x', 415],
    ['', 415],
  ])('of type %j is %i', async (type, status) => {
    expect((await post(new TextEncoder().encode(JSON.stringify(aQuestion())), { 'content-type': type })).status).toBe(
      status,
    );
  });

  test.each(['gzip', 'br', 'deflate', 'x-unknown', 'identity, gzip'])('in encoding %s is 415', async encoding => {
    const reply = await post(JSON.stringify(aQuestion()), { ...JSON_TYPE, 'content-encoding': encoding });
    expect(outcome(reply)).toEqual([415, 'unsupported-media-type']);
  });

  test('needs no type if there is none', async () => {
    const { body } = await createQuestion();
    expect((await api.request('POST', `/v1/questions/${body.id}/publish`, { as: key })).status).toBe(200);
    const again = await api.request('POST', `/v1/questions/${body.id}/pause`, { as: key, body: {} });
    expect(again.status).toBe(200);
    const odd = await api.request('POST', `/v1/questions/${body.id}/resume`, { as: key, body: { now: true } });
    expect(outcome(odd)).toEqual([422, 'validation-failed']);
  });

  test('of exactly 256 KB is accepted', async () => {
    const envelope = JSON.stringify(aQuestion({ description: '' }));
    const raw = `${envelope}${' '.repeat(262_144 - envelope.length)}`;
    expect((await post(raw)).status).toBe(201);
    expect((await post(`${raw} `)).status).toBe(413);
  });

  test.each([
    ['with its length', (length: number) => `Content-Length: ${length}\r\n`, (part: string) => part],
    [
      'in chunks',
      () => 'Transfer-Encoding: chunked\r\n',
      (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`,
    ],
  ])('that is far too large, sent %s, gets its reply before the connection closes', async (_, framing, frame) => {
    const parts = 100;
    const part = 'x'.repeat(65_536);
    const socket = await openSocket(api);
    const reply = readReply(socket);
    let broken: Error | undefined;
    socket.on('error', error => {
      broken = error;
    });
    socket.write(
      `POST /v1/questions HTTP/1.1\r\nHost: parley.test\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${framing(parts * part.length)}\r\n`,
    );
    for (let sent = 0; sent < parts && !broken; sent++)
      await new Promise<void>(resolve => socket.write(frame(part), () => resolve()));
    if (framing(0).startsWith('Transfer')) socket.write('0\r\n\r\n');
    const { status, headers, body } = await reply;
    expect(broken).toBeUndefined();
    expect([status, JSON.parse(body).code]).toEqual([413, 'body-too-large']);
    expectCommonHeaders(headers);
  });
});
