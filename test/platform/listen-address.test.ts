import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { listenOptions } from '../../src/platform/listen-address.ts';

test.each([
  ['::', ['127.0.0.1', '[::1]']],
  ['127.0.0.1', ['127.0.0.1']],
])('a server on %s is reached by %s', async (host, addresses) => {
  const server = createServer((_, response) => response.end('reached')).listen(listenOptions(0, host));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const address of addresses) expect(await (await fetch(`http://${address}:${port}`)).text()).toBe('reached');
  server.close();
});
