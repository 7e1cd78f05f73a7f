import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createApi } from '../support/api.ts';

test('a request on an idle connection is still answered shortly after the API began to stop', async () => {
  await using api = await createApi();
  const { port } = new URL(api.baseUrl);
  const [used, idle] = [connect(Number(port), '127.0.0.1'), connect(Number(port), '127.0.0.1')];
  const ended = [used, idle].map(socket => once(socket, 'close'));
  const ask = async () => {
    used.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const [reply] = await Promise.race([once(used, 'data'), once(used, 'close')]);
    return String(reply);
  };
  idle.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(idle, 'data');
  expect(await ask()).toContain('Connection: keep-alive');
  const closed = api.close();
  await sleep(300); // less than the second for which idle connections stay open
  expect(await ask()).toContain('Connection: close');
  await Promise.all(ended); // long before connections are cut
  expect(await closed).toBe(true);
});
