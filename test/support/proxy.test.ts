import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createProxy } from './proxy.ts';
import { waitFor } from './wait.ts';

/** A server that echoes all data and records it. */
async function startEcho(name = '') {
  const chunks: string[] = [];
  const clients: Socket[] = [];
  let ended = 0;
  const server = createServer({ allowHalfOpen: true }, socket => {
    clients.push(socket);
    socket.on('data', piece => {
      chunks.push(String(piece));
      socket.write(`${name}${piece}`);
    });
    socket.on('end', () => ended++);
    socket.on('error', () => undefined); // resets are part of these tests
  });
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  return {
    url: `tcp://127.0.0.1:${port}`,
    chunks,
    ended: () => ended,
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.destroy();
      await new Promise(done => server.close(done));
    },
  };
}

/** A connection through a proxy that collects the received data. */
async function dial(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const failures: string[] = [];
  let received = '';
  socket.on('data', piece => (received += piece));
  socket.on('error', error => failures.push((error as NodeJS.ErrnoException).code ?? ''));
  await new Promise<void>(done => socket.once('connect', done).once('error', () => done()));
  return { socket, failures, received: () => received, [Symbol.dispose]: () => void socket.destroy() };
}

test('a proxy forwards, freezes without closing, and continues', async () => {
  await using echo = await startEcho();
  await using proxy = await createProxy(echo.url);
  using line = await dial(proxy.through(echo.url));
  line.socket.write('a');
  await waitFor(() => line.received() === 'a');
  proxy.freeze();
  line.socket.write('b');
  await new Promise(done => setTimeout(done, 100)); // the expectation is that no data arrives
  expect([line.received(), echo.chunks.join(''), line.failures]).toEqual(['a', 'a', []]);
  proxy.thaw();
  await waitFor(() => line.received() === 'ab');
});

test('a proxy drops the reply to a request that the store has handled', async () => {
  await using echo = await startEcho();
  await using proxy = await createProxy(echo.url);
  using line = await dial(proxy.through(echo.url));
  proxy.dropReplies(true);
  line.socket.write('commit');
  await waitFor(() => echo.chunks.join('') === 'commit');
  proxy.dropReplies(false);
  line.socket.write('!');
  await waitFor(() => line.received() === '!');
});

test('a proxy delays both directions and keeps the order when the delay ends', async () => {
  await using echo = await startEcho();
  await using proxy = await createProxy(echo.url);
  using line = await dial(proxy.through(echo.url));
  proxy.delay(100);
  const startedAt = performance.now();
  line.socket.write('a');
  await new Promise(done => setTimeout(done, 20)); // so that it is sent separately
  proxy.delay(0);
  line.socket.write('b');
  await waitFor(() => line.received().length === 2);
  expect(line.received()).toBe('ab');
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(99);
});

test('a proxy resets connections, rejects new ones while it is cut, and half-closes a connection', async () => {
  await using echo = await startEcho();
  await using proxy = await createProxy(echo.url);
  using first = await dial(proxy.through(echo.url));
  first.socket.write('a');
  await waitFor(() => first.received() === 'a');
  proxy.reset();
  await waitFor(() => first.failures.includes('ECONNRESET'));
  proxy.cut();
  using refused = await dial(proxy.through(echo.url));
  await waitFor(() => refused.failures.includes('ECONNRESET'));
  proxy.mend();
  using second = await dial(proxy.through(echo.url));
  second.socket.write('b');
  await waitFor(() => second.received() === 'b');
  const before = echo.ended();
  proxy.halfClose();
  await waitFor(() => echo.ended() === before + 1);
  expect(second.failures).toEqual([]);
});

test('a proxy forwards new connections elsewhere and keeps existing ones', async () => {
  await using one = await startEcho('1');
  await using two = await startEcho('2');
  await using proxy = await createProxy(one.url);
  using before = await dial(proxy.through(one.url));
  before.socket.write('a');
  await waitFor(() => before.received() === '1a');
  proxy.retarget(two.url);
  using after = await dial(proxy.through(one.url));
  after.socket.write('b');
  before.socket.write('c');
  await waitFor(() => after.received() === '2b' && before.received() === '1a1c');
});
