import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { boundConnections, type ConnectionOptions, maxConnectionsFor } from '../../src/platform/connections.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { waitFor } from '../support/wait.ts';

const MOST = 20;
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const OK = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** A server with bounded connections, and the state that the tests check. */
async function openDoor(
  options: Partial<ConnectionOptions> = {},
  answer: Answer = (_, response) => response.end('ok'),
) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const metrics = createMetrics('serve');
  const server: Server = createServer((request, response) => {
    connections.serve(request, response);
    answer(request, response);
  });
  const connections = boundConnections(server, {
    door: 'api',
    most: MOST,
    log,
    metrics,
    ...options,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  ends.push(() => {
    connections.close();
    server.closeAllConnections();
    server.close();
  });
  const open = async (localAddress = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    ends.push(() => socket.destroy());
    socket.on('error', () => undefined); // some tests expect a reset
    await once(socket, 'connect');
    return socket;
  };
  return {
    server,
    connections,
    lines,
    open,
    /** Opens connections in sequence; the server has accepted each before the next. */
    async openMany(count: number, localAddress?: string): Promise<Socket[]> {
      const sockets: Socket[] = [];
      for (let opened = 0; opened < count; opened++) {
        const accepted = once(server, 'connection');
        sockets.push(await open(localAddress));
        await accepted;
      }
      return sockets;
    },
    closed: async (labels: Record<string, string>) =>
      (await metrics.connectionsClosed.get()).values
        .filter(({ labels: found }) => Object.entries(labels).every(([name, value]) => found[name as 'door'] === value))
        .reduce((sum, { value }) => sum + value, 0),
  };
}

const isOpen = (socket: Socket) => !socket.closed && !socket.readableEnded;
const areClosed = (sockets: Socket[]) => {
  for (const socket of sockets) socket.resume();
  return waitFor(() => sockets.every(socket => !isOpen(socket)));
};

async function ask(socket: Socket, message = OK): Promise<string> {
  socket.write(message);
  const [chunk] = await once(socket, 'data');
  return String(chunk);
}

describe('a server whose connections run out', () => {
  test('closes the connections that were idle longest, and serves new ones', async () => {
    const door = await openDoor();
    const sockets = await door.openMany(MOST);
    const [first, second, third] = sockets as [Socket, Socket, Socket];
    expect(await ask(first)).toContain('200 OK'); // now it is the most recently used one
    const newcomers = await door.openMany(2);
    await areClosed([second, third]);
    expect(isOpen(first)).toBe(true);
    for (const newcomer of newcomers) expect(await ask(newcomer)).toContain('200 OK');
    expect(door.connections.count()).toBe(MOST);
    expect(await door.closed({ reason: 'full', closed: 'idle' })).toBe(2);
  });

  test('does not close requests in progress, and rejects the new one if there is no other', async () => {
    const responses: ServerResponse[] = [];
    const door = await openDoor({}, (_, response) => void responses.push(response));
    const sockets = await door.openMany(MOST);
    for (const socket of sockets) socket.write(OK);
    await waitFor(() => responses.length === MOST);
    const refused = await door.open();
    await areClosed([refused]);
    expect(await door.closed({ reason: 'full', closed: 'new' })).toBe(1);
    const replies = sockets.map(socket => once(socket, 'data'));
    for (const response of responses) response.end('ok');
    for (const [chunk] of await Promise.all(replies)) expect(String(chunk)).toContain('200 OK');
  });

  test('closes those without a complete request in the order of their beginning, also if they send bytes', async () => {
    const door = await openDoor({}, request => request.resume());
    const [body, header, ...silent] = (await door.openMany(MOST)) as [Socket, Socket, ...Socket[]];
    const begun = once(door.server, 'request');
    body.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\na');
    await begun;
    const drip = setInterval(() => header.write('X'), 10);
    ends.push(() => clearInterval(drip));
    const newcomers = await door.openMany(1);
    await areClosed([header]);
    newcomers.push(...(await door.openMany(MOST - 2)));
    await areClosed(silent);
    expect([body, ...newcomers].every(isOpen)).toBe(true);
    await door.openMany(1);
    await areClosed([body]);
    expect(newcomers.every(isOpen)).toBe(true);
    expect(await door.closed({ closed: 'idle' })).toBe(MOST - 1);
    expect(await door.closed({ closed: 'slow' })).toBe(1);
  });

  test.each([
    ['idle', 'ok', 'idle'],
    ['replies that are not read', 'x'.repeat(8 * 1024 * 1024), 'slow'],
  ])('closes %s before new ones, up to half of all', async (_, reply, closed) => {
    const door = await openDoor({ maxBufferedBytes: Number.MAX_SAFE_INTEGER }, (_, response) => response.end(reply));
    for (const socket of await door.openMany(MOST)) {
      socket.write(OK);
      await once(socket, 'readable');
    }
    const newcomers = await door.openMany(MOST / 2);
    expect(await door.closed({ reason: 'full', closed })).toBe(MOST / 2);
    for (const newcomer of newcomers) expect(await ask(newcomer)).toContain('200 OK');
  });

  test('does not close a request whose body has just become complete', async () => {
    const responses: ServerResponse[] = [];
    const door = await openDoor({ most: 2 }, (request, response) => {
      request.resume().once('end', () => responses.push(response));
    });
    const [sender] = (await door.openMany(2)) as [Socket];
    const begun = once(door.server, 'request');
    sender.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na');
    await begun;
    await door.openMany(1); // closes the one without a byte
    sender.write('b');
    await waitFor(() => responses.length === 1);
    await door.openMany(3);
    const reply = once(sender, 'data');
    responses[0]?.end('ok');
    expect(String((await reply)[0])).toContain('200 OK');
  });

  test('counts what it closes, and logs it at most once a second', async () => {
    const door = await openDoor();
    await door.openMany(3 * MOST);
    const logged = (name: string) => door.lines.reduce((sum, line) => sum + Number(line[name]), 0);
    await waitFor(() => logged('idle') === 2 * MOST);
    expect(door.lines.length).toBeLessThanOrEqual(2);
    expect(door.lines[0]).toMatchObject({
      msg: 'out of connections: some were closed or refused',
      door: 'api',
      reasons: ['full'],
      most: MOST,
      refused: 0,
    });
    expect(await door.closed({ door: 'api' })).toBe(2 * MOST);
  });
});

test('unread replies use bounded memory', async () => {
  const long = 'x'.repeat(32 * 1024 * 1024);
  const door = await openDoor({ maxBufferedBytes: 64 * 1024 * 1024 }, (_, response) => void response.end(long));
  const readers = await door.openMany(8);
  for (const reader of readers) reader.pause().write(OK);
  await waitFor(async () => (await door.closed({ reason: 'memory', closed: 'slow' })) >= 5);
  expect(await door.closed({ reason: 'memory' })).toBeLessThanOrEqual(7);
});

test('a pipelined connection is not idle while a later request is in progress', async () => {
  const responses: ServerResponse[] = [];
  const door = await openDoor({ most: 2 }, (_, response) => void responses.push(response));
  const [pipelining] = (await door.openMany(2)) as [Socket];
  pipelining.write(OK + OK);
  await waitFor(() => responses.length === 2);
  const first = once(pipelining, 'data');
  responses[0]?.end('first');
  await first;
  await door.openMany(2);
  const second = once(pipelining, 'data');
  responses[1]?.end('second');
  expect(String((await second)[0])).toContain('second');
});

test.each([
  { files: undefined, connections: 10_000 },
  { files: 1_048_576, connections: 10_000 },
  { files: 1024, connections: 758 },
  { files: 64, connections: 32 },
])('$files files leave room for $connections connections', ({ files, connections }) => {
  expect(maxConnectionsFor(files, 10)).toBe(connections);
});
