import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  connect,
  getDefaultAutoSelectFamilyAttemptTimeout,
  type Socket,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createOutbound } from '../../src/platform/outbound.ts';
import { allowSlowConnections } from '../../src/platform/slow-connections.ts';

/** Accepts no connection for 0.7 s, while its queue of new ones is full: the kernel drops the first packet of others. */
const BUSY_SERVER = `
const server = require('node:http').createServer((request, response) => response.writeHead(204).end());
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  process.send(server.address().port);
  process.on('message', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700));
});`;
/** Of the networks for documentation: no route leads there. */
const WITHOUT_ROUTE = '2001:db8::1';

const before = getDefaultAutoSelectFamilyAttemptTimeout();
let server: ChildProcess | undefined;
afterEach(() => {
  setDefaultAutoSelectFamilyAttemptTimeout(before);
  server?.kill();
});

/** Returns the port of a server that answers the next connection after a second. */
async function startBusyServer(): Promise<number> {
  server = spawn(process.execPath, ['-e', BUSY_SERVER], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [port] = (await once(server, 'message')) as [number];
  server.send('be busy');
  await new Promise(resolve => setTimeout(resolve, 100));
  for (let count = 0; count < 4; count++) (connect(port, '127.0.0.1') as Socket).on('error', () => undefined);
  await new Promise(resolve => setTimeout(resolve, 50));
  return port;
}

test('a host that takes a second to connect is reached, although its other address has no route', async () => {
  allowSlowConnections();
  const port = await startBusyServer();
  const outbound = createOutbound(
    {
      ...{ OUTBOUND_HTTP: 'on', OUTBOUND_PROXY: undefined },
      OUTBOUND_ALLOW: [
        { address: '127.0.0.0', prefix: 8 },
        { address: '2001:db8::', prefix: 32 },
      ],
    },
    { resolve: async () => ['127.0.0.1', WITHOUT_ROUTE] },
  );
  const began = performance.now();
  const { status } = await outbound.post(`http://distant.example:${port}/`, { headers: {}, body: '{}' });
  outbound.close();
  expect(status).toBe(204);
  expect(performance.now() - began).toBeGreaterThan(before); // the server was as slow as meant
});
