import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOutbound, type OutboundSettings, RESPONSE_BYTES, type Resolve } from '../../src/platform/outbound.ts';
import { createAddressRule, parseNetwork } from '../../src/platform/outbound-rules.ts';
import { makeCertificate } from '../support/certificates.ts';

const CLOSED: OutboundSettings = { OUTBOUND_ALLOW: undefined, OUTBOUND_HTTP: 'off', OUTBOUND_PROXY: undefined };
const WITH_HTTP: OutboundSettings = { ...CLOSED, OUTBOUND_HTTP: 'on' };
const LOCAL: OutboundSettings = { ...WITH_HTTP, OUTBOUND_ALLOW: [{ address: '127.0.0.0', prefix: 8 }] };

const inside = { packets: 0, port: 0 };
const listener = createTcpServer(socket => {
  inside.packets++;
  socket.destroy();
});
beforeAll(async () => {
  await new Promise<void>(listening => listener.listen(0, '::', listening));
  inside.port = (listener.address() as AddressInfo).port;
});
afterAll(() => new Promise(closed => listener.close(closed)));

const post = { headers: {}, body: '{}' };

/** Hosts that lead inside, in the ways in which attackers have written them. */
const HOSTS = [
  '127.0.0.1',
  '127.1',
  '127.0.0.2',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0x7f.1',
  '017700000001',
  '0177.0.0.1',
  '127.0.0.1.',
  '127.000.000.001',
  '%31%32%37.0.0.1',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '0',
  '0.0.0.0',
  '00000000000',
  '10.0.0.1',
  '10.255.255.255',
  '167772161',
  '100.64.0.1',
  '100.127.255.254',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '169.254.170.2',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '192.168.255.255',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:169.254.169.254]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::169.254.169.254]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[2001:0:7f00:1::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fe80::1%25lo]',
  '[fe80::1%25eth0]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
];

const LOOPBACK: Record<string, string[]> = {
  localhost: ['127.0.0.1', '::1'],
  'localhost.': ['127.0.0.1'],
  'inside.test': ['10.0.0.1'],
  'half.test': ['93.184.215.14', '127.0.0.1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'zone.test': ['fe80::1%lo'],
  'nothing.test': [],
  'metadata.google.internal': ['169.254.169.254'],
};
const resolveInside: Resolve = async name => LOOPBACK[name] ?? [];

describe('a URL that leads inside', () => {
  const outbound = createOutbound(WITH_HTTP, { resolve: resolveInside });
  const targets = [...HOSTS, ...Object.keys(LOOPBACK)].flatMap(host =>
    ['http', 'https'].map(scheme => [`${scheme}://${host}`] as const),
  );

  test.each(targets)('%s is refused when saved and when sent, without a packet', async start => {
    const before = inside.packets;
    const url = `${start}:${inside.port}/hook`;
    await expect(outbound.check(url)).rejects.toThrow(/^Must /);
    await expect(outbound.post(url, post)).rejects.toThrow(/^Must /);
    expect(inside.packets).toBe(before);
  });

  test('is refused by the addresses of this machine, except public ones', () => {
    const isAllowed = createAddressRule([]);
    const own = Object.values(networkInterfaces()).flatMap(all => (all ?? []).filter(one => one.internal));
    expect(own.filter(({ address }) => isAllowed(address))).toEqual([]);
  });
});

describe('the form of a URL', () => {
  test.each([
    ['http://93.184.215.14/', 'https'],
    ['ftp://93.184.215.14/', 'https'],
    ['file:///etc/passwd', 'https'],
    ['gopher://93.184.215.14:70/', 'https'],
    ['javascript:alert(1)', 'https'],
    ['https://93.184.215.14/ ', 'spaces'],
    ['https://93.184.\n215.14/', 'line breaks'],
    ['https://user:pw@93.184.215.14/', 'credentials'],
    ['https://user@93.184.215.14/', 'credentials'],
    ['https://93.184.215.14:22/', 'port'],
    ['https://93.184.215.14:80/', 'port'],
    ['https://93.184.215.14:1023/', 'port'],
    ['https://93.184.215.14:0/', 'port'],
    ['https://93.184.215.14:65536/', 'URL'],
    ['https://', 'URL'],
    ['hook', 'URL'],
    ['', 'URL'],
    [`https://93.184.215.14/${'x'.repeat(2100)}`, 'URL'],
  ])('of %s is refused', async (url, word) => {
    await expect(createOutbound(CLOSED).check(url)).rejects.toThrow(new RegExp(word));
  });

  test.each(['https://93.184.215.14/', 'https://93.184.215.14:1024/x?y=1#z', 'https://[2606:2800:21f:cb07::1]:8443/'])(
    'of %s is accepted',
    url => createOutbound(CLOSED).check(url),
  );

  test('may be http, with port 80 or from 1024 up, only with OUTBOUND_HTTP', async () => {
    for (const url of ['http://93.184.215.14/', 'http://93.184.215.14:8080/', 'https://93.184.215.14:80/'])
      await createOutbound(WITH_HTTP).check(url);
    await expect(createOutbound(WITH_HTTP).check('http://93.184.215.14:81/')).rejects.toThrow(/port/);
  });

  test('with an unknown name is refused, and accepted while the name server fails', async () => {
    const failing = (code: string) =>
      createOutbound(CLOSED, { resolve: () => Promise.reject(Object.assign(new Error(), { code })) });
    await expect(failing('ENOTFOUND').check('https://typo.test/')).rejects.toThrow(/resolved/);
    await failing('ETIMEOUT').check('https://slow.test/');
  });
});

describe('networks', () => {
  test.each([
    ['10.0.0.0/8', { address: '10.0.0.0', prefix: 8 }],
    ['10.0.0.1', { address: '10.0.0.1', prefix: 32 }],
    ['fd00::/8', { address: 'fd00::', prefix: 8 }],
    ['10.0.0.0/33', undefined],
    ['10.0.0.0/', undefined],
    ['10.0.0.0/8/8', undefined],
    ['fe80::1%eth0', undefined],
    ['example.com', undefined],
    ['', undefined],
  ])('are parsed: %s', (text, network) => expect(parseNetwork(text)).toEqual(network));

  test('of OUTBOUND_ALLOW are reached although they are private, and no others', () => {
    const isAllowed = createAddressRule([{ address: '10.1.0.0', prefix: 16 }]);
    expect(['10.1.2.3', '10.2.0.1', '127.0.0.1', '8.8.8.8', '2606::1'].map(isAllowed)).toEqual([
      ...[true, false, false, true, true],
    ]);
  });
});

/** Runs a receiver on 127.0.0.1 for the time of `use`. */
async function withReceiver(receive: RequestListener, use: (port: number) => Promise<void>): Promise<void> {
  const server = createServer(receive);
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    await new Promise(closed => server.close(closed));
  }
}

const readAll = async (request: IncomingMessage) => Buffer.concat(await request.toArray()).toString();

describe('a request', () => {
  test('goes to the checked address, with the name in Host, even if the name server changes its answer', async () => {
    const seen: string[] = [];
    let answers = 0;
    const outbound = createOutbound(
      { ...WITH_HTTP, OUTBOUND_ALLOW: [{ address: '127.0.0.1', prefix: 32 }] },
      { resolve: async () => (answers++ === 0 ? ['127.0.0.1'] : ['127.0.0.9']) },
    );
    await withReceiver(
      async (request, response) => {
        seen.push(`${request.headers.host} ${await readAll(request)}`);
        response.setHeader('Connection', 'close').end('ok');
      },
      async port => {
        const url = `http://hooks.test:${port}/a`;
        expect(await outbound.post(url, { headers: {}, body: '{"a":1}' })).toEqual({
          ...{ status: 200, retryAfter: undefined, body: Buffer.from('ok') },
        });
        expect([answers, seen]).toEqual([1, [`hooks.test:${port} {"a":1}`]]);
        const before = inside.packets;
        await expect(outbound.post(`http://hooks.test:${inside.port}/`, post)).rejects.toThrow(/^Must not lead/);
        expect([answers, inside.packets]).toEqual([2, before]);
      },
    );
  });

  test('does not follow a redirect', async () => {
    const outbound = createOutbound(LOCAL);
    const before = inside.packets;
    await withReceiver(
      (_, response) => response.writeHead(302, { Location: `http://[::1]:${inside.port}/` }).end(),
      async port => expect((await outbound.post(`http://127.0.0.1:${port}/`, post)).status).toBe(302),
    );
    expect(inside.packets).toBe(before);
  });

  test('reads the first KB of an endless response, and closes the connection', async () => {
    let sent = 0;
    const closed = Promise.withResolvers<void>();
    await withReceiver(
      (_, response) => {
        response.on('close', closed.resolve);
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(16_384, 'x'))) sent += 16_384;
          response.once('drain', more);
        };
        more();
      },
      async port => {
        const { status, body } = await createOutbound(LOCAL).post(`http://127.0.0.1:${port}/`, post);
        expect([status, body.length]).toEqual([200, RESPONSE_BYTES]);
        await closed.promise;
      },
    );
    expect(sent).toBeLessThan(10_000_000);
  });

  test('gets a response after a few interim ones, and ends when a server sends nothing else', async () => {
    let count = 10;
    await withReceiver(
      ({ socket }) => {
        socket.on('error', () => undefined).write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(count));
        if (count === 10) socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      },
      async port => {
        const outbound = createOutbound(LOCAL);
        expect((await outbound.post(`http://127.0.0.1:${port}/`, post)).status).toBe(204);
        count = 11;
        await expect(outbound.post(`http://127.0.0.1:${port}/`, post)).rejects.toMatchObject({ code: 'EPROTO' });
      },
    );
  });

  test('ends when a server renegotiates TLS', async () => {
    await using certificate = await makeCertificate();
    const known = getCACertificates('default');
    setDefaultCACertificates([...known, certificate.cert.toString()]);
    const server = createTlsServer({ key: certificate.key, cert: certificate.cert, maxVersion: 'TLSv1.2' }, socket => {
      socket
        .on('error', () => undefined)
        .once('data', () => {
          socket.renegotiate({}, error => error ?? socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
        });
    });
    await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    await expect(createOutbound(LOCAL).post(`https://127.0.0.1:${port}/`, post)).rejects.toThrow(/handshake failure/i);
    await new Promise(closed => server.close(closed));
    setDefaultCACertificates(known);
  });

  test('counts by its status, although the body is cut off', async () => {
    await withReceiver(
      (_, response) => {
        response.writeHead(204 + 4, { 'Content-Length': '100', 'Retry-After': '7' });
        response.write('abc', () => response.destroy());
      },
      async port => {
        const reply = await createOutbound(LOCAL).post(`http://127.0.0.1:${port}/`, post);
        expect(reply).toEqual({ status: 208, retryAfter: '7', body: Buffer.from('abc') });
      },
    );
  });

  test('fails with the error of the connection', async () => {
    const outbound = createOutbound(LOCAL);
    await withReceiver(
      request => request.socket.destroy(),
      async port => {
        await expect(outbound.post(`http://127.0.0.1:${port}/`, post)).rejects.toMatchObject({ code: 'ECONNRESET' });
        await expect(outbound.post(`https://127.0.0.1:${port}/`, post)).rejects.toThrow(/SSL|EPROTO|wrong version/i);
      },
    );
    const garbage = createTcpServer((socket: Socket) => socket.resume().end('hello\r\n\r\n'));
    await new Promise<void>(listening => garbage.listen(0, '127.0.0.1', listening));
    const { port } = garbage.address() as AddressInfo;
    await expect(outbound.post(`http://127.0.0.1:${port}/`, post)).rejects.toThrow(/Parse Error/);
    await new Promise(closed => garbage.close(closed));
  });

  test('is sent again if the server has closed an idle connection, and keeps connections', async () => {
    const sockets = new Set<Socket>();
    const outbound = createOutbound(LOCAL);
    await withReceiver(
      async (request, response) => {
        await readAll(request);
        if (request.url === '/reset' && sockets.has(request.socket)) {
          request.socket.destroy();
          return;
        }
        sockets.add(request.socket);
        response.end();
      },
      async port => {
        const send = (path: string) => outbound.post(`http://127.0.0.1:${port}${path}`, post);
        await send('/');
        await send('/');
        expect(sockets.size).toBe(1);
        expect((await send('/reset')).status).toBe(200);
        expect(sockets.size).toBe(2);
      },
    );
    outbound.close();
  });

  test('connects to no private address if Node ignores OUTBOUND_PROXY', async () => {
    const { packets } = inside;
    const ignored = { ...WITH_HTTP, OUTBOUND_PROXY: `HTTP://127.0.0.1:${inside.port}` }; // it wants lower-case letters
    const outbound = createOutbound(ignored, { resolve: async () => ['127.0.0.1'] });
    for (const scheme of ['http', 'https'])
      await expect(outbound.post(`${scheme}://hooks.test:${inside.port}/`, post)).rejects.toThrow(/^Must not lead/);
    expect(inside.packets).toBe(packets);
    outbound.close();
  });

  test('goes through OUTBOUND_PROXY, which gets the name', async () => {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.end('by proxy');
    });
    proxy.on('connect', (request, socket) => {
      asked.push(`${request.method} ${request.url}`);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    await new Promise<void>(listening => proxy.listen(0, '127.0.0.1', listening));
    const { port } = proxy.address() as AddressInfo;
    const unused: Resolve = () => Promise.reject(new Error('resolved'));
    const outbound = createOutbound({ ...WITH_HTTP, OUTBOUND_PROXY: `http://127.0.0.1:${port}` }, { resolve: unused });
    expect((await outbound.post('http://hooks.test/a', post)).body.toString()).toBe('by proxy');
    await expect(outbound.post('https://hooks.test/b', post)).rejects.toThrow();
    await expect(outbound.post('https://127.0.0.1/b', post)).rejects.toThrow(/^Must not lead/);
    expect(asked).toEqual(['POST http://hooks.test/a', 'CONNECT hooks.test:443']);
    outbound.close();
    proxy.closeAllConnections();
    await new Promise(closed => proxy.close(closed));
  });
});
