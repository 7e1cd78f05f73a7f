import { describe, expect, test } from 'vitest';
import { ParleyError, verifyWebhook } from '../../../clients/javascript/src/webhooks/index.ts';
import { contract } from '../contract.ts';

interface Case {
  name: string;
  secrets: string[];
  headers: Record<string, string>;
  body?: string;
  body_base64?: string;
  code: string;
  argument: string;
}

const { now, verify, refuse, invalid } = contract('webhooks') as {
  now: number;
  verify: Case[];
  refuse: Case[];
  invalid: Case[];
};

const bytesOf = ({ body, body_base64 }: Case) =>
  body_base64 === undefined ? Buffer.from(body ?? '') : Buffer.from(body_base64, 'base64');
const check = (each: Case) => verifyWebhook(bytesOf(each), each.headers, each.secrets, { now });
const failureOf = (promise: Promise<unknown>) => promise.catch(error => error);

describe('webhooks.json', () => {
  test('has the cases', () => {
    expect(verify.length + refuse.length + invalid.length).toBeGreaterThan(50);
  });

  test.each(verify)('$name is accepted', async each => {
    expect(await check(each)).toEqual(JSON.parse(each.body as string));
  });

  test.each(refuse)('$name is refused', async each => {
    const error = await failureOf(check(each));
    expect(error).toBeInstanceOf(ParleyError);
    expect(error).toMatchObject({ kind: 'invalid-webhook', code: each.code, retryable: false });
  });

  test.each(invalid)('$name is an invalid argument', async each => {
    const error = await failureOf(check(each));
    expect(error).toMatchObject({ kind: 'invalid-argument', code: each.argument });
    for (const secret of each.secrets.filter(Boolean)) expect(error.message).not.toContain(secret);
  });
});

describe('a request', () => {
  const good = verify[0] as Case;
  const [secret] = good.secrets as [string];
  const event = JSON.parse(good.body as string);

  test.each<[string, Parameters<typeof verifyWebhook>[0]]>([
    ['text', good.body as string],
    ['bytes', new TextEncoder().encode(good.body)],
    ['a buffer', new Uint8Array(bytesOf(good)).buffer],
  ])('has its body as %s', async (_, body) => {
    expect(await verifyWebhook(body, good.headers, secret, { now })).toEqual(event);
  });

  test('has its headers as those of fetch or of Node, once each', async () => {
    expect(await verifyWebhook(bytesOf(good), new Headers(good.headers), secret, { now })).toEqual(event);
    const lists = Object.fromEntries(Object.entries(good.headers).map(([name, value]) => [name, [value]]));
    expect(await verifyWebhook(bytesOf(good), lists, secret, { now })).toEqual(event);
    const twice = { ...good.headers, 'webhook-id': [event.id, event.id] };
    expect(await failureOf(verifyWebhook(bytesOf(good), twice, secret, { now }))).toMatchObject({
      code: 'missing-header',
    });
  });

  test('whose body was parsed already is an invalid argument', async () => {
    const error = await failureOf(verifyWebhook(event, good.headers, secret, { now }));
    expect(error).toMatchObject({ kind: 'invalid-argument', code: 'body' });
  });

  test('is compared with the clock', async () => {
    expect(await failureOf(verifyWebhook(bytesOf(good), good.headers, secret))).toMatchObject({
      kind: 'invalid-webhook',
    });
  });
});
