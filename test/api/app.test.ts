import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { createApp } from '../../src/api/app.ts';
import type { ApiDeps } from '../../src/api/deps.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';

test('an error for which no problem document can be sent is logged and results in a plain 500', async () => {
  const bug = new Error('a bug after the reply was made');
  const log = createLog('silent', 'test');
  const logged = vi.spyOn(log, 'error');
  const deps = {
    config: { BASE_URL: 'https://parley.test' },
    log,
    metrics: createMetrics('serve'),
    isStopping() {
      throw bug;
    },
  } as unknown as ApiDeps;
  const server = createServer(createApp(deps)).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/v1/nothing`);
    expect([response.status, await response.text()]).toEqual([500, 'Internal Server Error']);
    expect(logged).toHaveBeenCalledExactlyOnceWith(
      { err: bug, request_id: expect.any(String), method: 'GET', route: 'unmatched' },
      'could not send a response',
    );
  } finally {
    server.close();
  }
});
